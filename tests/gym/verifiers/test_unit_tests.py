"""Programs meet their tests in a child that they cannot leave."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import pytest

from blade.gym.sandbox.process import isolation
from blade.gym.verifiers import unit_tests as verifier

ADDS = {"unit_tests": {"inputs": ["1 2\n", "5 5\n"], "outputs": ["3\n", "10\n"]}}
LIMITS = {"timeout": 1, "total_timeout": 4}


def _fenced(code: str) -> str:
    return f"Here it is:\n```python\n{code}\n```\n"


def _messages(code: str, row: dict[str, Any] | None = None) -> list[str]:
    found = verifier.verify(row or ADDS, _fenced(code), LIMITS)
    return [one["message"] for one in found.fields["test_results"]]


def test_each_test_has_a_verdict() -> None:
    right = verifier.verify(ADDS, _fenced("a, b = map(int, input().split())\nprint(a + b)"), {})
    assert (right.reward, right.fields["tests_passed"], right.fields["tests_total"]) == (1.0, 2, 2)
    half = verifier.verify(ADDS, _fenced("print(3)"), {})
    assert (half.reward, half.fields["tests_passed"]) == (0.0, 1)
    assert half.fields["failure_reason"] == "wrong output: expected '10\\n', got '3\\n'"
    assert half.fields["extracted_model_code"] == "print(3)"


def test_functions_asserts_and_checks_are_tests_too() -> None:
    called = {"verifier_metadata": {"unit_tests": {"fn_name": "f", "inputs": ["[1, 2]\n3"], "outputs": ["[1, 2, 3]"]}}}
    assert verifier.verify(called, _fenced("def f(a, b):\n    return a + [b]"), {}).reward == 1.0
    method = _fenced("class Solution:\n    def f(self, a, b):\n        return a + [b]")
    assert verifier.verify(called, method, {}).reward == 1.0
    assert _messages("def g():\n    return 1", called) == ["there is no function f"]
    listed = {"test_list": ["assert f(1) == 1", "assert f(2) == 3"]}
    assert _messages("def f(x):\n    return x", listed)[1] == "AssertionError at `assert f(2) == 3`"
    checked = {
        "prompt": "import math\n\ndef f(x):\n",
        "entry_point": "f",
        "test": "def check(candidate):\n    assert candidate(4) == 2\n",
        "canonical_solution": "    return math.isqrt(x)\n",
    }
    assert verifier.verify(checked, str(verifier.gold(checked)), {}).reward == 1.0
    assert verifier.verify(checked, _fenced("return math.isqrt(x)"), {}).reward == 1.0
    assert verifier.verify(checked, _fenced("def f(x):\n    return math.isqrt(x)"), {}).reward == 1.0
    assert _messages("def f(x):\n    return x", checked) == ["AssertionError at `assert candidate(4) == 2`"]


def test_a_message_without_a_program_fails() -> None:
    found = verifier.verify(ADDS, "I would add them.", {})
    assert found.fields["failure_reason"] == "no program was found in the last message"
    assert verifier.verify(ADDS, _fenced("x = (" * 1000), LIMITS).reward == 0.0


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import os\nos.fork()", "may not use os.fork"),
        ("import subprocess\nsubprocess.run(['true'])", "may not use subprocess.Popen"),
        ("import _posixsubprocess\n_posixsubprocess.fork_exec()", "may not start a program"),
        ("import os\nos.system('true')", "may not use os.system"),
        ("import os\nos.execv('/bin/true', ['true'])", "may not use os.exec"),
        ("import os\nos.kill(1, 9)", "may not use os.kill"),
        ("print(open('/etc/passwd').read())", "may not reach files outside"),
        ("import os\nprint(os.listdir('/'))", "may not reach files outside"),
        ("import os\nprint(os.open('/etc/hosts', 0))", "may not reach files outside"),
        ("open('../escaped', 'w')", "may not reach files outside"),
        ("import os\nos.symlink('/etc', 'here')\nprint(open('here/passwd').read())", "may not reach files outside"),
        ("import ctypes\nctypes.CDLL(None).fork()", "may not use ctypes"),
        ("import ctypes\nctypes.pythonapi.Py_Exit(0)", "may not use ctypes"),
        ("x = 'a' * 10 ** 10", "out of memory"),
        ("import os\nos._exit(0)", "ended the process"),
        ("import sys\nsys.exit(3)", "ended with code 3"),
        ("while True:\n    print('x' * 1000)", "prints too much"),
        ("def f():\n    f()\nf()", "RecursionError"),
        ("import json, sys\nprint('token', json.dumps([0, None]))", "wrong output"),
    ],
)
def test_what_a_program_may_not_do(code: str, told: str) -> None:
    begun = time.monotonic()
    assert told in _messages(code)[0]
    assert time.monotonic() - begun < 10


def test_there_is_no_network(tmp_path: Path) -> None:
    assert isolation() in ("namespaces", "audit hook")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        told = _messages(f"import socket\nsocket.create_connection(('127.0.0.1', {port}))")[0]
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()
    assert "may not use socket" in told


def test_keys_of_the_environment_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not to be seen")
    told = _messages("import os\nprint(sorted(os.environ.values()))")[0]
    assert "wrong output" in told
    assert "not to be seen" not in told


def test_a_program_may_write_in_its_folder_and_use_the_library() -> None:
    code = "import numpy, asyncio, math\nopen('note', 'w').write('3')\ninput()\nprint(open('note').read())"
    found = verifier.verify(ADDS, _fenced(code), {})
    assert [one["passed"] for one in found.fields["test_results"]] == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    pass",
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(100,)).start()",
        "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n    pass",
        "sum(10 ** 9 ** 3 for _ in range(9))",
    ],
)
def test_a_program_without_end_ends(code: str) -> None:
    begun = time.monotonic()
    assert verifier.verify(ADDS, _fenced(code), LIMITS).reward == 0.0
    assert time.monotonic() - begun < 4 + 10
