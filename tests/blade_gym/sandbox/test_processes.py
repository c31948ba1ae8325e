"""Workers answer questions, end, come back, and never outlive their parent; nothing of one answer reaches the next."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest

from blade.model.errors import RequestError
from blade_gym.environment import NoVerdict
from blade_gym.sandbox import walls
from blade_gym.sandbox.programs import ProgramLimits, run_tests
from blade_gym.sandbox.walls import Child
from blade_gym.sandbox.worker import OutOfBounds, Worker

SQL = "blade_gym.verifiers.sql_result"
TABLE = "CREATE TABLE t (a); INSERT INTO t VALUES (1);"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def compared(worker: Worker, right: str, query: str) -> Any:
    return worker.ask("compare", TABLE, None, query, 5.0, right, True)


@pytest.fixture
def worker(kind: str) -> Iterator[Worker]:
    worker = Worker(SQL, seconds=1.0)
    yield worker
    worker.close()


def test_a_worker_answers_several_threads(worker: Worker) -> None:
    with ThreadPoolExecutor(4) as pool:
        accounts = list(pool.map(lambda n: compared(worker, "SELECT a FROM t", f"SELECT {n} FROM t"), range(8)))
    assert [account["failure_reason"] is None for account in accounts] == [n == 1 for n in range(8)]


def test_an_error_of_the_question_is_raised_here(worker: Worker) -> None:
    with pytest.raises(ValueError, match="OperationalError"):
        compared(worker, "SELECT nothing", "SELECT 1")
    assert compared(worker, "SELECT a FROM t", "SELECT 1")["failure_reason"] is None


def test_a_question_out_of_time_has_no_verdict_and_the_next_one_has(worker: Worker) -> None:
    with pytest.raises(OutOfBounds) as raised:
        worker.ask("compare", TABLE, None, "SELECT 1", 60.0, ENDLESS, True)
    assert raised.value.terminal
    assert compared(worker, "SELECT a FROM t", "SELECT 1")["failure_reason"] is None


def test_a_worker_that_cannot_start_has_no_verdict(kind: str) -> None:
    with pytest.raises(NoVerdict, match="could not get ready"):
        Worker("no.such.module").ask("anything")


@pytest.mark.parametrize(
    "answer",
    [
        "__import__('os').system('true')",
        "(lambda: __import__('reasoning_gym'))()",
        "[x for x in ().__class__.__base__.__subclasses__()]",
        "exec('import reasoning_gym')",
        "open('/etc/passwd').read()",
        "breakpoint()",
        "globals()",
    ],
)
def test_an_answer_is_never_run(kind: str, answer: str) -> None:
    """This family of puzzles reads an answer with sympy's parser, which evaluates it."""
    worker = Worker("blade_gym.verifiers.reasoning_gym", packages=["reasoning-gym"])
    try:
        entry = {
            "question": "Use 3, 4 and 5 to make 17.",
            "answer": "3*4+5",
            "metadata": {"numbers": [3, 4, 5], "target": 17},
        }
        assert worker.ask("score", "countdown", "3*4+5", entry) == 1.0
        assert worker.ask("score", "countdown", answer, entry) < 0.1
        assert worker.ask("score", "countdown", "3*4+5", entry) == 1.0
    finally:
        worker.close()


def test_a_question_leaves_nothing_for_the_next(kind: str) -> None:
    """`umask` stands for whatever an answer could change in a process: it returns what was set before."""
    job = {"job": "ask", "function": "umask", "arguments": [0o007], "cpu": 5, "wall": 40}
    with Child(walls.start(kind, walls.view_for("os", (), ()), module="os")) as child:
        (_, [first]), (_, [second]) = child.run(job), child.run(job)
    assert first == second != {"value": 0o007}


@pytest.mark.slow
@pytest.mark.parametrize("kind", walls.KINDS)
def test_nothing_survives_a_killed_parent(kind: str) -> None:
    if not walls.works(kind):
        pytest.skip(f"this machine has no {kind}")
    code = (
        "from blade_gym.sandbox import walls\n"
        "from blade_gym.sandbox.walls import Child\n"
        f"child = Child(walls.start({kind!r}, walls.view_for(None, (), ())))\n"
        "child.begin({'job': 'script', 'code': 'while True: pass', 'cpu': 300, 'wall': 300})\n"
        "print(child._started.process.pid, flush=True)\n"
        "import time; time.sleep(60)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        deadline = time.monotonic() + 30
        while len(child.children(recursive=True)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        below = [child, *child.children(recursive=True)]
        parent.kill()
    assert len(below) > 2
    assert psutil.wait_procs(below, timeout=30)[1] == []


@pytest.fixture
def no_isolation(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine without bubblewrap and unshare."""
    monkeypatch.setenv("PATH", "")
    walls.works.cache_clear()
    yield
    monkeypatch.undo()
    walls.works.cache_clear()
    walls.allow_unsafe(False)


LIMITS = ProgramLimits(seconds=2.0, megabytes=1024)
TEST = {"name": "t", "kind": "prints", "input": "", "output": "42"}


def test_programs_are_refused_where_nothing_can_hold_them(no_isolation: None) -> None:
    assert walls.available() == walls.NONE
    with pytest.raises(RequestError, match="no sandbox") as raised:
        run_tests("print(42)", [TEST], LIMITS)
    assert "--unsafe-sandbox" in (raised.value.hint or "")


def test_programs_run_without_isolation_only_where_the_user_allows_it(no_isolation: None) -> None:
    walls.allow_unsafe()
    assert run_tests("print(42)", [TEST], LIMITS)[0]["passed"]
    careless = [
        "import socket; socket.socket()",
        "import os; os.fork()",
        "import subprocess; subprocess.run(['true'])",
        "open('/etc/hostname', 'a')",
        "import os; os.rename('/etc/hostname', '/etc/hostname.moved')",
        "import os; os.kill(os.getppid(), 9)",
    ]
    for code in careless:
        assert "may not" in run_tests(code, [TEST], LIMITS)[0]["message"]


def test_texts_are_parsed_without_isolation_too(no_isolation: None) -> None:
    worker = Worker(SQL)
    assert compared(worker, "SELECT a FROM t", "SELECT 1")["failure_reason"] is None
    worker.close()


ODD_PARENTS = """
import os, resource, sys
from blade_gym.sandbox.programs import ProgramLimits, run_tests
TEST = [{"name": "t", "kind": "asserts", "code": "assert f(1) == 7", "names": ["f"]}]
def passed():
    return run_tests("def f(x):\\n    return 7", TEST, ProgramLimits(seconds=2.0, megabytes=512))[0]["passed"]
"""


def parent(code: str) -> str:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", ODD_PARENTS + code], env=env, capture_output=True, timeout=120, check=True
    )
    return done.stdout.decode()


def test_a_parent_with_many_open_files_can_judge(kind: str) -> None:
    limit = "resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))"
    assert parent(f"{limit}\nkept = [os.open('/dev/null', 0) for _ in range(1500)]\nprint(passed())") == "True\n"


def test_a_forked_parent_can_judge(kind: str) -> None:
    forks = "print(passed(), flush=True)\nif os.fork() == 0:\n    print(passed(), flush=True)\n    os._exit(0)\nos.wait()\nprint(passed())"
    assert parent(forks) == "True\nTrue\nTrue\n"
