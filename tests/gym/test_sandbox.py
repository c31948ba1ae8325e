"""Children that run what a model wrote: they answer, end, come back, and outlive nobody for long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from blade.gym.environment import NoVerdict
from blade.gym.sandbox import process
from blade.gym.sandbox.worker import OutOfBounds, Worker
from blade.gym.verifiers import unit_tests

MODULE = "blade.gym.verifiers.sql_result"
TABLE = "CREATE TABLE t (a); INSERT INTO t VALUES (1);"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def compared(worker: Worker, right: str, query: str) -> Any:
    return worker.ask("compare", TABLE, None, right, query, 5.0, True)


@pytest.fixture
def without_namespaces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PATH", "")
    process.namespaces.cache_clear()
    yield
    monkeypatch.undo()
    process.namespaces.cache_clear()


def test_a_worker_answers_several_threads() -> None:
    worker = Worker(MODULE)
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda n: compared(worker, "SELECT a FROM t", f"SELECT {n} FROM t"), range(8)))
    worker.close()
    assert [one["failure_reason"] is None for one in told] == [n == 1 for n in range(8)]


def test_what_a_question_raises_is_its_answer() -> None:
    worker = Worker(MODULE)
    with pytest.raises(ValueError, match="OperationalError"):
        compared(worker, "SELECT nothing", "SELECT 1")
    assert compared(worker, "SELECT a FROM t", "SELECT 1")["failure_reason"] is None
    worker.close()


@pytest.mark.slow
def test_a_question_out_of_time_ends_the_child_and_the_next_one_has_another() -> None:
    worker = Worker(MODULE, seconds=1.0)
    begun = time.monotonic()
    with pytest.raises(OutOfBounds):
        compared(worker, "SELECT a FROM t", ENDLESS)
    assert time.monotonic() - begun < 10
    assert compared(worker, "SELECT a FROM t", "SELECT 1")["failure_reason"] is None
    worker.close()


def test_a_worker_that_cannot_start_gives_no_verdict() -> None:
    with pytest.raises(NoVerdict):
        Worker("no.such.module").ask("anything")


def test_children_have_no_network_and_no_programs_without_namespaces_too(without_namespaces: None) -> None:
    assert process.isolation() == "audit hook"
    row = {"test_list": ["f()"]}
    for code, told in (
        ("import socket\n    socket.socket()", "may not use socket"),
        ("import os\n    os.fork()", "may not use os.fork"),
        ("open('/etc/passwd')", "may not reach files outside"),
    ):
        found = unit_tests.verify(row, f"```python\ndef f():\n    {code}\n```", {})
        assert told in found.fields["test_results"][0]["message"]


@pytest.mark.slow
def test_a_child_whose_parent_was_killed_ends_by_itself() -> None:
    bomb = json.dumps(["equivalent", "7", "9^{9^{9^{9^9}}}"]) + "\n"
    code = (
        "from blade.gym.sandbox.worker import Worker\n"
        "w = Worker('blade.gym.verifiers.math_equivalence', seconds=2.0)\n"
        "w.ask('equivalent', '1', '2')\n"
        f"w._child._write({bomb.encode()!r}, 1e6)\n"
        "print(w._child.process.pid, flush=True)\n"
        "import time; time.sleep(60)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    below = [child, *child.children(recursive=True)]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    gone, alive = psutil.wait_procs(below, timeout=60)
    assert not alive
    assert gone


def test_an_address_of_a_database_is_read_as_sqlite_reads_it(tmp_path: Path) -> None:
    secret = tmp_path / "secret.sqlite"
    secret.write_bytes(b"")
    coded = str(secret).replace("/", "%2F")
    code = f"import sqlite3\n\n\ndef f():\n    sqlite3.connect('file:{coded}?mode=ro', uri=True).execute('SELECT 1')\n"
    row = {"test_list": ["f()"], "canonical_solution": code}
    found = unit_tests.verify(row, f"```python\n{code}\n```", {})
    assert "may not reach files outside its folder" in str(found.fields["failure_reason"])
