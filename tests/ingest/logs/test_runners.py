"""What each parser says of a log in the shape of its tool."""

from __future__ import annotations

import pytest

from blade.ingest.logs.frame import where_is
from blade.ingest.logs.parse import parse_log
from blade.model.log import Log, LogEvent
from ingest.logs import samples

P, F, E, S = "test-passed", "test-failed", "test-error", "test-skipped"


def verdicts(log: Log) -> dict[str, str]:
    return {event.subject: event.kind for event in log.events if event.kind.startswith("test-")}


def only(log: Log, kind: str) -> LogEvent:
    found = [event for event in log.events if event.kind == kind]
    assert len(found) == 1, found
    return found[0]


def numbers(log: Log) -> tuple[int | None, ...]:
    return log.passed, log.failed, log.errors, log.skipped


@pytest.mark.parametrize(
    ("text", "named", "counted"),
    [
        (
            samples.PYTEST,
            {
                "../tests/test_outputs.py::test_exists": P,
                "../tests/test_outputs.py::test_value[a - b]": F,
                "../tests/test_outputs.py::TestMore::test_file": E,
                "../tests/test_outputs.py::test_gpu": S,
            },
            (1, 1, 1, 1),
        ),
        (samples.PYTEST_COLLECTION, {}, (0, 0, 1, 0)),
        (samples.PYTEST_XDIST, {"tests/test_a.py::test_one": P, "tests/test_a.py::test_two": F}, (1, 1, 0, 0)),
        (samples.PYTEST_COLORS, {"tests/test_py.py::test_one": P}, (1, 0, 0, 0)),
        (
            samples.UNITTEST,
            {
                "test_add (calc.tests.AddTests)": P,
                "test_sub (calc.tests.AddTests)": F,
                "test_gpu (calc.tests.AddTests)": S,
                "test_io (calc.tests.AddTests)": E,
            },
            (1, 1, 1, 1),
        ),
        (
            samples.SYMPY,
            {
                "sympy/core/tests/test_x.py:test_one": P,
                "sympy/core/tests/test_x.py:test_two": F,
                "sympy/core/tests/test_x.py:test_three": E,
            },
            (1, 1, 1, 0),
        ),
        (samples.GO, {"TestAdd": P, "TestSub": F, "TestSlow": S}, (1, 1, 0, 1)),
        (samples.GO_JSON, {"TestAdd": P, "TestSub": F}, (1, 1, 0, 0)),
        (samples.CARGO, {"tests::adds": P, "tests::subtracts": F, "tests::slow": S}, (1, 1, 0, 1)),
        (samples.JEST, {"sum › adds": P, "sum › subtracts": F, "sum › divides": S}, (1, 1, 0, 1)),  # noqa: RUF001
        (samples.VITEST, {"sum > subtracts": F}, (1, 1, 0, 0)),
        (samples.MOCHA, {"sum › adds": P, "sum › subtracts": F}, (1, 1, 0, 0)),  # noqa: RUF001
        (samples.TAP, {"adds": P, "subtracts": F, "divides": S}, (1, 1, 0, 1)),
        (samples.CTEST, {"adds": P, "subtracts": F, "hangs": E}, (1, 2, 0, None)),
        (samples.GTEST, {"Sum.Adds": P, "Sum.Subtracts": F}, (1, 1, 0, 0)),
        (samples.JUNIT_XML, {"calc.Sum.adds": P, "calc.Sum.subtracts": F, "calc.Sum.slow": S}, (1, 1, 0, 1)),
        (samples.CTRF, {"test_a.py::test_adds": P, "test_a.py::test_subs": F}, (1, 1, 0, 0)),
        (samples.SUREFIRE, {"com.example.SumTest.subtracts": F}, (1, 1, 0, 0)),
        (samples.GRADLE, {"SumTest.adds()": P, "SumTest.subtracts()": F}, (1, 1, 0, 0)),
        (samples.RSPEC, {"Sum subtracts": F}, (1, 1, 0, 0)),
        (samples.MINITEST, {"SumTest#test_subtracts": F}, (1, 1, 0, 0)),
    ],
    ids=lambda value: value.strip().split("\n")[0][:30] if isinstance(value, str) else "",
)
def test_tests_and_numbers(text: str, named: dict[str, str], counted: tuple[int | None, ...]) -> None:
    log = parse_log(text)
    assert verdicts(log) == named
    assert numbers(log) == counted
    assert log.session_started


@pytest.mark.parametrize(
    ("text", "expected", "actual"),
    [
        (samples.PYTEST, "42", "41"),
        (samples.UNITTEST, "-2", "2"),
        (samples.GO, "4", "3"),
        (samples.GO_JSON, "4", "3"),
        (samples.CARGO, "4", "3"),
        (samples.JEST, "4", "3"),
        (samples.VITEST, "4", "3"),
        (samples.TAP, "4", "3"),
        (samples.GTEST, "4", "3"),
        (samples.JUNIT_XML, "4", "3"),
        (samples.CTRF, "4", "3"),
        (samples.SUREFIRE, "<4>", "<3>"),
        (samples.RSPEC, "4", "3"),
        (samples.MINITEST, "4", "3"),
    ],
)
def test_both_sides_of_an_assertion(text: str, expected: str, actual: str) -> None:
    failed = only(parse_log(text), "test-failed")
    assert (failed.expected, failed.actual) == (expected, actual)


def test_both_sides_of_a_difference_of_mocha() -> None:
    failed = only(parse_log(samples.MOCHA), "test-failed")
    assert (failed.expected, failed.actual) == ("4", "3")  # mocha marks what was expected with a plus


@pytest.mark.parametrize(
    ("text", "kind", "file", "line", "where"),
    [
        (samples.PYTEST, "test-failed", "/tests/test_outputs.py", 17, "test"),
        (samples.PYTEST, "test-error", "/tests/test_outputs.py", 9, "test"),
        (samples.PYTEST_COLLECTION, "collection-error", "tests/test_outputs.py", 3, "test"),
        (samples.UNITTEST, "test-error", "/testbed/calc/io.py", 4, "solution"),
        (samples.SYMPY, "test-error", "/testbed/sympy/core/x.py", 62, "solution"),
        (samples.GO, "test-failed", "calc_test.go", 14, "test"),
        (samples.GO_BUILD, "collection-error", "./calc.go", 3, "solution"),
        (samples.GO_PANIC, "exception", "/app/main.go", 9, "solution"),
        (samples.CARGO, "test-failed", "src/lib.rs", 19, "solution"),
        (samples.CARGO_BUILD, "collection-error", "src/main.rs", 3, "solution"),
        (samples.JEST, "test-failed", "src/sum.test.js", 9, "test"),
        (samples.GTEST, "test-failed", "/app/tests/sum_test.cc", 9, "test"),
        (samples.SUREFIRE, "test-failed", "SumTest.java", 17, "test"),
        (samples.RSPEC, "test-failed", "./spec/sum_spec.rb", 9, "test"),
        (samples.SYNTAX, "exception", "/app/tool.py", 7, "solution"),
        (samples.SYNTAX.strip(), "exception", "/app/tool.py", 7, "solution"),
        ('File "/grader/run.py", line 7\n    x = a[1]\nKeyError: 1', "exception", "/grader/run.py", 7, "harness"),
        (samples.NODE, "exception", "/app/server.js", 3, "solution"),
        (samples.JAVA, "exception", "Main.java", 12, "solution"),
        (samples.RUST_PANIC, "exception", "src/main.rs", 4, "solution"),
    ],
)
def test_the_raising_frame(text: str, kind: str, file: str, line: int, where: str) -> None:
    frame = only(parse_log(text), kind).frame
    assert frame is not None
    assert (frame.file, frame.line, frame.where) == (file, line, where)


def test_both_exceptions_of_a_chain() -> None:
    first, last = parse_log(samples.TRACEBACK).events
    assert (first.subject, last.subject) == ("json.decoder.JSONDecodeError", "ValueError")
    assert first.frame is not None
    assert last.frame is not None
    assert (first.frame.where, first.frame.function) == ("library", "raw_decode")
    assert (last.frame.where, last.line, last.message) == ("solution", 14, "ValueError: no configuration")


def test_a_collection_that_never_ends() -> None:
    log = parse_log("=== test session starts ===\nplatform linux\ncollecting ... ")
    assert (log.session_started, log.session_ended, log.collected, log.events) == (True, False, None, ())


def test_a_session_without_tests() -> None:
    log = parse_log("=== test session starts ===\ncollected 0 items\n\n==== no tests ran in 0.01s ====\n")
    assert (log.session_ended, log.passed, log.failed, log.collected) == (True, 0, 0, 0)


def test_a_log_whose_start_is_cut() -> None:
    assert parse_log(samples.PYTEST[700:]).truncated_start
    assert not parse_log(samples.PYTEST).truncated_start
    assert not parse_log("1 passed in 0.01s\n").truncated_start


def test_the_last_of_several_sessions_counts() -> None:
    log = parse_log(
        "=== test session starts ===\n=== 2 failed in 0.1s ===\n=== test session starts ===\n=== 2 passed in 0.1s ===\n"
    )
    assert numbers(log) == (2, 0, 0, 0)


def test_beyond_the_limit_passing_tests_are_dropped_first() -> None:
    log = parse_log(samples.PYTEST, limit=3)
    assert [event.kind for event in log.events] == [E, F, "summary"]
    assert (log.dropped, log.passed, log.skipped) == (2, 1, 1)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("FileNotFoundError: [Errno 2] No such file: 'x'\n", "FileNotFoundError"),
        ("asyncio.TimeoutError", "asyncio.TimeoutError"),
    ],
)
def test_a_field_that_holds_an_exception_alone(text: str, subject: str) -> None:
    event = only(parse_log(text), "exception")
    assert (event.subject, event.message, event.line) == (subject, text.strip(), 1)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/tests/test_outputs.py", "test"),
        ("src/sum.spec.ts", "test"),
        ("pkg/sum_test.go", "test"),
        ("/app/main.py", "solution"),
        ("/testbed/contest/main.py", "solution"),
        ("/venv/lib/python3.12/site-packages/requests/tests/test_x.py", "library"),
        ("/usr/lib/python3.12/json/decoder.py", "library"),
        ("/app/node_modules/express/index.js", "library"),
        ("<frozen importlib._bootstrap>", "library"),
        ("/venv/lib/python3.12/site-packages/_pytest/python.py", "harness"),
        ("/tests/test.sh", "harness"),
    ],
)
def test_whose_code_a_path_is(path: str, where: str) -> None:
    assert where_is(path) == where
