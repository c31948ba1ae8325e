"""What the grader's log and the agent's terminal report: events, where exceptions were raised, sessions that did not finish.

`log:<event>` and `agentlog:<event>` have the test, exception, command, host or path as their subject. `frame:test`,
`frame:library` and `frame:solution` say whose code raised a failing exception; a failed assertion in a test is none.
`test:raised` is a test that broke in its own code, with the test and what was raised as its subject: the same in all
rollouts of a task it says more. Its subject begins with `own: ` where the exception needs nothing of what the agent left.
`grader:own-error` is one such error, or one of the program around the tests, in every test that was run.
`log:test-passed` and `log:none-passed` have the number of tests that passed, or that failed where none did.
`log:not-built` is code under test that its compiler or interpreter refuses, so that no test of it ran; its subject is the
file and what was said. `log:not-started` (its subject is the command that was not there), `log:not-finished` and `log:collected-none` are about the grader's test session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from blade.evidence.signs.missing import is_named
from blade.evidence.signs.view import FAILING, RolloutView, line_of, sign
from blade.model.account import LogText
from blade.model.finding import Sign
from blade.model.log import LogEvent

MOST_EVENTS = 6
"""Events of the grader's logs: enough for which tests failed and for what stood in their way."""
MOST_AGENT_EVENTS = 4
MOST_FRAMES = 3
_ORDINARY = ("test-passed", "test-skipped", "summary")
_OF_TESTS = frozenset((*_ORDINARY, *FAILING))
_STOPPING = (
    "collection-error",
    "install-failed",
    "disk-full",
    "out-of-memory",
    "killed",
    "timeout",
    "network",
    "usage-error",
)
"""Events that may stand in the way of the tests; those of a failing test are told with it."""
_class = re.compile(r"(?:\w+\.)*(\w*(?:Error|Exception|Exit|Interrupt|Warning|Panic))\b")
_absent = re.compile(r"not found$|No such file or directory$")
"""How a shell says that a command is not there."""
_runner = re.compile(
    r"\b(?:pytest|py\.test|unittest|tox|nose2?|jest|mocha|vitest|ctest|go test|cargo (?:test|nextest)|(?:npm|yarn|pnpm) (?:run )?test"
    r"|mvn|gradlew?|rspec|phpunit|bats|run[-_]tests?(?:\.\w+)?)\b"
)


def log_events(view: RolloutView) -> Iterator[Sign]:
    """The events of the logs of a rollout that did not pass, failing tests first."""
    if view.passed:
        return
    if view.account.logs:
        yield from _kept("log", [*view.failures, *_others(view.grader_logs)], MOST_EVENTS)
        yield from _kept("agentlog", list(reversed(_others(view.agent_logs))), MOST_AGENT_EVENTS)
    yield from _frames(view)
    yield from _raised_in_tests(view)
    yield from _counts(view)
    yield from _broken_grader(view)
    built = list(_not_built(view))
    if view.account.logs:
        yield from built or _session(view)


def _counts(view: RolloutView) -> Iterator[Sign]:
    """How many tests passed by the totals of the runners; of none, only where a session told of all and ended."""
    logs = [log.parsed for log in view.grader_logs]
    if passed := sum(log.passed or 0 for log in logs):
        yield sign("log:test-passed", str(passed))
        return
    told = [
        log for log in logs if log.session_ended and log.passed == 0 and not log.truncated_start and not log.dropped
    ]
    if failed := sum((log.failed or 0) + (log.errors or 0) for log in told):
        yield sign("log:none-passed", str(failed))


def _not_built(view: RolloutView) -> Iterator[Sign]:
    """The first error in a file under test on account of which tests were not even collected, where no test ran."""
    if any(log.parsed.passed or log.parsed.failed for log in view.grader_logs):
        return
    for log, event in view.failures:
        if event.kind != "collection-error" or event.frame is None or _of_the_output.search(event.message):
            continue
        if event.frame.where == "solution":
            name = event.frame.file.rpartition("/")[2]
            yield sign("log:not-built", f"{name}: {event.message}", line_of(log, event), log.field)
            return


def _others(logs: Iterable[LogText]) -> list[tuple[LogText, LogEvent]]:
    found = [(log, event) for log in logs for event in log.parsed.events if event.kind not in _OF_TESTS]
    return sorted(found, key=lambda pair: pair[1].kind not in _STOPPING)


def _kept(prefix: str, events: Iterable[tuple[LogText, LogEvent]], most: int) -> Iterator[Sign]:
    """The first events, each kind and subject once, and no more than two thirds of them of one kind."""
    seen: set[tuple[str, str]] = set()
    counts: dict[str, int] = {}
    for log, event in events:
        key = event.kind, event.subject
        if key in seen or counts.get(event.kind, 0) * 3 >= most * 2:
            continue
        seen.add(key)
        counts[event.kind] = counts.get(event.kind, 0) + 1
        yield sign(f"{prefix}:{event.kind}", event.subject, line_of(log, event), log.field)
        if len(seen) >= most:
            return


_panics = re.compile(
    r"runtime error: |panic: |index out of bounds: |called `(?:Option|Result)::unwrap\(\)`|attempt to \w+ with overflow|range (?:start|end) index "
)
"""How Go and Rust say that the code itself broke, where other languages name a class."""
_own = ("NameError", "UnboundLocalError", "ReferenceError", "SyntaxError", "IndentationError")
_of_the_source = ("SyntaxError", "IndentationError")
_quoted = re.compile(r"'([^'\n]{1,80})'")
_mark = re.compile(r"^(?:E  |>)")
SOURCE_LINES, SHORTEST_LINE = 3, 3
"""Lines before an error of the source that show where it is, and the characters of one that tell whose it is."""
_of_itself = re.compile(r"AttributeError: (?:type object )?'(\w+)' (?:object )?has no attribute")
_undefined = re.compile(r"NameError: name '(\w+)'|ReferenceError: (\w+) is not defined")
_of_the_runner = re.compile(r"INTERNALERROR> |(?:E +)?fixture ['\"][^'\"\n]+['\"] not found\b")
"""What pytest says of its own plugins and of the tests' own fixtures."""
_of_the_output = re.compile(
    r"No such file|ENOENT|NotFound|KeyError|refused|resolv|Timeout|timed out|JSON|CalledProcess|No module named|cannot import|Permission"
    r"|`Result::unwrap\(\)` on an `Err` value",
    re.IGNORECASE,
)
"""What a test raises because of what is, or is not, there: other signs tell it."""
MOST_RAISED = 4


def _raised_in_tests(view: RolloutView) -> Iterator[Sign]:
    """Tests that broke in their own file, each test once."""
    seen: set[str] = set()
    for log, event in view.failures:
        at = event.frame
        if at is None or at.where != "test" or not _breaks(event) or _of_the_output.search(event.message):
            continue
        own = "own: " if _is_own(view, log, event) else ""
        subject = f"{own}{event.subject.rpartition('/')[2][-60:]}: {event.message}"
        if event.subject not in seen and len(seen) < MOST_RAISED:
            seen.add(event.subject)
            yield sign("test:raised", subject, line_of(log, event), log.field)


def _breaks(event: LogEvent) -> bool:
    """Whether the code itself broke, rather than compared and disagreed."""
    raised = _class.match(event.message)
    return _panics.match(event.message) is not None if raised is None else raised[1] != "AssertionError"


def _is_own(view: RolloutView, log: LogText, event: LogEvent) -> bool:
    """Whether an exception needs nothing of what the agent left. A name that the prompt or the agent gives is the agent's
    to define, and a line that the agent wrote may stand in the file of the tests.
    """
    raised = _class.match(event.message)
    if raised is not None and raised[1] in _own:
        name = _undefined.search(event.message)
        if name is not None:
            called = name[1] or name[2]
            return not is_named(called, view.prompt) and not any(called in text for text in _of_agent(view))
        return raised[1] not in _of_the_source or not _is_agents_line(view, log, event)
    mine = _of_itself.match(event.message)
    return mine is not None and mine[1] in event.subject


def _names(text: str, name: str) -> bool:
    """Whether a text names something; a number stands in any text, so it must stand in quotation marks."""
    if any(letter.isalpha() for letter in name):
        return name in text
    return any(f"{mark}{name}{mark}" in text for mark in "'\"`")


def _of_agent(view: RolloutView) -> Iterator[str]:
    """What the agent wrote: its answer, its last message and its calls."""
    yield view.rollout.answer or ""
    yield view.last.text if view.last is not None else ""
    yield from (call.arguments or "" for call in view.calls)


def _is_agents_line(view: RolloutView, log: LogText, event: LogEvent) -> bool:
    """Whether a line that is printed with an error of the source is one that the agent wrote."""
    printed = log.text.split("\n")[max(0, event.line - 1 - SOURCE_LINES) : event.line - 1]
    lines = [_mark.sub("", line).strip() for line in printed]
    return any(len(line) >= SHORTEST_LINE and line in text for text in _of_agent(view) for line in lines)


def _broken_grader(view: RolloutView) -> Iterator[Sign]:
    """The one error with which every test that was run breaks in the grader's own code, so that none says anything."""
    failures = view.failures
    words = {event.message for _, event in failures}
    if len(words) != 1 or any(check.passed for check in view.rollout.due.checks):
        return
    log, event = failures[0]
    held = any(one.kind == "test-passed" for each in view.grader_logs for one in each.parsed.events)
    if not held and all(_is_of_grader(view, log, event) for log, event in failures):
        yield sign("grader:own-error", event.message, line_of(log, event), log.field)


def _is_of_grader(view: RolloutView, log: LogText, event: LogEvent) -> bool:
    lines = log.text.split("\n")
    printed = lines[event.line - 1] if 0 < event.line <= len(lines) else ""
    if _of_the_runner.match(event.message) or _of_the_runner.match(printed):
        return True
    where = event.frame.where if event.frame is not None else ""
    if where == "harness" and (named := _quoted.findall(event.message)):
        # The program around the tests may read what was handed in: then it looks for what the prompt or the agent names.
        return _breaks(event) and not any(
            _names(text, one) for one in named for text in (view.prompt, *_of_agent(view))
        )
    return where in ("test", "harness") and _is_own(view, log, event)


def _frames(view: RolloutView) -> Iterator[Sign]:
    seen: set[tuple[str, str]] = set()
    for log, event in view.failures:
        frame = event.frame
        raised = _class.match(event.message)
        name = raised[1] if raised else ""
        if frame is None or frame.where == "harness" or name in ("", "AssertionError") or (frame.where, name) in seen:
            continue
        seen.add((frame.where, name))
        yield sign(f"frame:{frame.where}", name, line_of(log, event), log.field)
        if len(seen) >= MOST_FRAMES:
            return


def _session(view: RolloutView) -> Iterator[Sign]:
    """Whether the grader's tests started and finished; a log cut at the start or without a runner's name says nothing."""
    logs = view.grader_logs
    started = [log for log in logs if log.parsed.session_started]
    if not started:
        yield from _not_started(view)
        return
    if _stopped_before_tests(started):
        yield from _not_started(view)
        return
    for log in started:
        collected = log.parsed.collected
        tests = any(event.kind in (*FAILING, *_ORDINARY[:2]) for event in log.parsed.events)
        if collected == 0 and not tests and not log.parsed.truncated_start:
            yield sign("log:collected-none")
        elif not log.parsed.session_ended and not any(one.parsed.session_ended for one in logs):
            yield sign("log:not-finished", quote=_last_line(log.text), field=log.field)


def _stopped_before_tests(logs: Iterable[LogText]) -> bool:
    """Whether a package or a download that the tests need failed, and no test has a verdict."""
    kinds = {event.kind for log in logs for event in log.parsed.events}
    ran = not kinds.isdisjoint(("test-passed", "test-failed", "test-error", "test-skipped"))
    return not ran and "collection-error" in kinds and not kinds.isdisjoint(("network", "install-failed", "disk-full"))


def _not_started(view: RolloutView) -> Iterator[Sign]:
    if view.rollout.due.checks:
        return
    for log in view.grader_logs:
        broken = next((event for event in log.parsed.events if event.kind not in _ORDINARY), None)
        says_so = broken is not None or _runner.search(log.text)
        if says_so and not log.parsed.truncated_start:
            lacking = [
                event for event in log.parsed.events if event.kind == "shell-error" and _absent.search(event.message)
            ]
            shown = lacking[-1] if lacking else broken
            words = line_of(log, shown) if shown is not None else _last_line(log.text)
            yield sign("log:not-started", lacking[-1].subject if lacking else "", words, log.field)
            return


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2].strip()
