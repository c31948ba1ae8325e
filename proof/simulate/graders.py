"""What five test runners print when they run the checks of a task: whole logs, and the message of each failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Runner = Literal["pytest", "unittest", "jest", "go", "cargo"]
RUNNERS: tuple[Runner, ...] = ("pytest", "unittest", "jest", "go", "cargo")


@dataclass(frozen=True, kw_only=True)
class Bad:
    """A check that does not hold: two values that differ, or words of something that was raised."""

    check: str
    got: str = ""
    wanted: str = ""
    raised: str = ""
    """An exception with its text, in the words of the runner's language; empty where values differ."""
    frame: str = ""
    """The file in which it was raised; the test's own where it is empty."""
    line: int = 31


def test_file(runner: Runner) -> str:
    """Where the checks of a runner stand."""
    return {
        "pytest": "/tests/test_outputs.py",
        "unittest": "/tests/test_outputs.py",
        "jest": "/tests/outputs.test.js",
        "go": "/tests/outputs_test.go",
        "cargo": "/tests/outputs.rs",
    }[runner]


def missing_file(runner: Runner, path: str) -> str:
    """What is raised when a check opens a file that is not there."""
    return {
        "pytest": f"FileNotFoundError: [Errno 2] No such file or directory: '{path}'",
        "unittest": f"FileNotFoundError: [Errno 2] No such file or directory: '{path}'",
        "jest": f"ENOENT: no such file or directory, open '{path}'",
        "go": f"open {path}: no such file or directory",
        "cargo": f'called `Result::unwrap()` on an `Err` value: Os {{ code: 2, kind: NotFound, message: "No such file or directory" }} ({path})',
    }[runner]


def missing_key(runner: Runner, key: str) -> str:
    """What is raised when a check looks up a key that is not there."""
    return {
        "pytest": f"KeyError: '{key}'",
        "unittest": f"KeyError: '{key}'",
        "jest": f"TypeError: Cannot read properties of undefined (reading '{key}')",
        "go": f'key "{key}" not found in output',
        "cargo": f'called `Option::unwrap()` on a `None` value: get("{key}")',
    }[runner]


def unreadable(runner: Runner) -> str:
    """What is raised when a check parses a file as JSON that is none."""
    return {
        "pytest": "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "unittest": "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "jest": "SyntaxError: Unexpected token 'r', \"region,tot\"... is not valid JSON",
        "go": "invalid character 'r' looking for beginning of value",
        "cargo": 'called `Result::unwrap()` on an `Err` value: Error("expected value", line: 1, column: 1)',
    }[runner]


def refused(runner: Runner, port: int) -> str:
    """What is raised when nothing listens on a port."""
    return {
        "pytest": f"requests.exceptions.ConnectionError: HTTPConnectionPool(host='localhost', port={port}): Max retries exceeded (Connection refused)",
        "unittest": f"ConnectionRefusedError: [Errno 111] Connection refused: localhost:{port}",
        "jest": f"connect ECONNREFUSED 127.0.0.1:{port}",
        "go": f"dial tcp 127.0.0.1:{port}: connect: connection refused",
        "cargo": f'called `Result::unwrap()` on an `Err` value: ConnectionRefused("127.0.0.1:{port}")',
    }[runner]


def own_mistake(runner: Runner) -> str:
    """What is raised by a mistake in the check itself."""
    return {
        "pytest": "NameError: name 'expcted_rows' is not defined",
        "unittest": "AttributeError: 'OutputsTest' object has no attribute 'baseline'",
        "jest": "ReferenceError: loadBaseline is not defined",
        "go": "runtime error: index out of range [3] with length 3",
        "cargo": "index out of bounds: the len is 3 but the index is 3",
    }[runner]


def message(runner: Runner, bad: Bad) -> str:
    """One line for a failure, as a harness copies it from the log."""
    if bad.raised:
        return bad.raised
    return {
        "pytest": f"assert {bad.got} == {bad.wanted}",
        "unittest": f"AssertionError: {bad.got} != {bad.wanted}",
        "jest": f"expect(received).toEqual(expected) Expected: {bad.wanted} Received: {bad.got}",
        "go": f"got {bad.got}, want {bad.wanted}",
        "cargo": f"assertion `left == right` failed: left: {bad.got}, right: {bad.wanted}",
    }[runner]


def log(runner: Runner, checks: Sequence[str], bad: Sequence[Bad], skipped: Sequence[str] = ()) -> str:
    """The whole log of a run of the checks."""
    return _LOGS[runner](checks, {one.check: one for one in bad}, skipped)


def _pytest(checks: Sequence[str], bad: Mapping[str, Bad], skipped: Sequence[str]) -> str:
    marks = "".join("F" if one in bad else "s" if one in skipped else "." for one in checks)
    out = [
        "=" * 27 + " test session starts " + "=" * 27,
        "platform linux -- Python 3.12.3, pytest-8.4.1, pluggy-1.6.0",
        "rootdir: /tests",
        f"collected {len(checks)} items",
        "",
        f"../tests/test_outputs.py {marks}    [100%]",
        "",
    ]
    if bad:
        out.append("=" * 33 + " FAILURES " + "=" * 33)
    for one in bad.values():
        kind = "AssertionError" if not one.raised else one.raised.split(":")[0]
        source = "    assert found == wanted" if not one.raised else "    rows = load()"
        out += [f"{'_' * 20} {one.check} {'_' * 20}", "", f">   {source.strip()}", f"E   {message('pytest', one)}", ""]
        out += [f"{one.frame or test_file('pytest')}:{one.line}: {kind}"]
    if bad or skipped:
        out.append("=" * 25 + " short test summary info " + "=" * 25)
    out += [f"SKIPPED [1] ../tests/test_outputs.py:12: {one} needs a tool that is not there" for one in skipped]
    out += [f"FAILED ../tests/test_outputs.py::{one.check} - {message('pytest', one)}" for one in bad.values()]
    counts = ((len(bad), "failed"), (len(checks) - len(bad) - len(skipped), "passed"), (len(skipped), "skipped"))
    said = ", ".join(f"{n} {what}" for n, what in counts if n)
    return "\n".join([*out, f"{'=' * 24} {said} in 0.42s {'=' * 24}", ""])


def _unittest(checks: Sequence[str], bad: Mapping[str, Bad], skipped: Sequence[str]) -> str:
    def word(one: str) -> str:
        return "skipped 'no such tool'" if one in skipped else "ok" if one not in bad else _kind(bad[one])

    out = [f"{one} (test_outputs.OutputsTest.{one}) ... {word(one)}" for one in checks]
    for one in bad.values():
        out += ["", "=" * 70, f"{_kind(one)}: {one.check} (test_outputs.OutputsTest.{one.check})", "-" * 70]
        out += ["Traceback (most recent call last):"]
        out += [f'  File "{one.frame or test_file("unittest")}", line {one.line}, in {one.check}']
        out += ["    self.assertEqual(found, wanted)" if not one.raised else "    rows = self.load()"]
        out += [message("unittest", one)]
    out += ["", "-" * 70, f"Ran {len(checks)} tests in 0.311s", ""]
    failures = sum(not one.raised for one in bad.values())
    parts = ((failures, "failures"), (len(bad) - failures, "errors"), (len(skipped), "skipped"))
    said = ", ".join(f"{what}={n}" for n, what in parts if n)
    return "\n".join([*out, f"FAILED ({said})" if bad else f"OK ({said})" if said else "OK", ""])


def _kind(bad: Bad) -> str:
    return "ERROR" if bad.raised else "FAIL"


def _jest(checks: Sequence[str], bad: Mapping[str, Bad], skipped: Sequence[str]) -> str:
    out = ["FAIL tests/outputs.test.js" if bad else "PASS tests/outputs.test.js", "  outputs"]
    for number, one in enumerate(checks):
        mark = "✕" if one in bad else "○ skipped" if one in skipped else "✓"
        out.append(f"    {mark} {one}" + ("" if one in skipped else f" ({number * 3 + 2} ms)"))
    for seen in bad.values():
        out += ["", f"  ● outputs \u203a {seen.check}", ""]
        if seen.raised:
            out += [f"    {seen.raised}"]
        else:
            out += [
                "    expect(received).toEqual(expected)",
                "",
                f"    Expected: {seen.wanted}",
                f"    Received: {seen.got}",
            ]
        out += ["", f"      at Object.<anonymous> ({seen.frame or 'tests/outputs.test.js'}:{seen.line}:20)"]
    counts = ((len(bad), "failed"), (len(skipped), "skipped"), (len(checks) - len(bad) - len(skipped), "passed"))
    said = ", ".join(f"{n} {what}" for n, what in counts if n)
    suites = "1 failed, 1 total" if bad else "1 passed, 1 total"
    out += ["", f"Test Suites: {suites}", f"Tests:       {said}, {len(checks)} total", "Time:        1.208 s", ""]
    return "\n".join(out)


def _go(checks: Sequence[str], bad: Mapping[str, Bad], skipped: Sequence[str]) -> str:
    out: list[str] = []
    for one in checks:
        out.append(f"=== RUN   {one}")
        if one in bad:
            out.append(f"    {(bad[one].frame or 'outputs_test.go')}:{bad[one].line}: {message('go', bad[one])}")
        if one in skipped:
            out.append("    outputs_test.go:12: needs a tool that is not there")
        out.append(f"--- {'FAIL' if one in bad else 'SKIP' if one in skipped else 'PASS'}: {one} (0.01s)")
    end = ["FAIL", "FAIL\tbench/tests\t0.214s", "FAIL"] if bad else ["PASS", "ok  \tbench/tests\t0.198s"]
    return "\n".join([*out, *end, ""])


def _cargo(checks: Sequence[str], bad: Mapping[str, Bad], skipped: Sequence[str]) -> str:
    out = ["   Compiling checks v0.1.0 (/tests)", "     Running tests/outputs.rs", "", f"running {len(checks)} tests"]
    out += [f"test {one} ... {'FAILED' if one in bad else 'ignored' if one in skipped else 'ok'}" for one in checks]
    if bad:
        out += ["", "failures:"]
    for one in bad.values():
        where = f"{one.frame or 'tests/outputs.rs'}:{one.line}:5"
        out += ["", f"---- {one.check} stdout ----", f"thread '{one.check}' panicked at {where}:"]
        values = ["assertion `left == right` failed", f"  left: {one.got}", f" right: {one.wanted}"]
        out += [one.raised] if one.raised else values
    word = "FAILED" if bad else "ok"
    good = len(checks) - len(bad) - len(skipped)
    return "\n".join(
        [*out, "", f"test result: {word}. {good} passed; {len(bad)} failed; {len(skipped)} ignored; 0 measured", ""]
    )


_LOGS: Mapping[Runner, Callable[[Sequence[str], Mapping[str, Bad], Sequence[str]], str]] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "jest": _jest,
    "go": _go,
    "cargo": _cargo,
}
