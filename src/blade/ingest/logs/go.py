"""go test, as text and as JSON lines, and panics of Go programs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec

from blade.ingest.logs.compared import compared
from blade.ingest.logs.frame import frame_at
from blade.ingest.logs.reading import Draft, Gathered, PrintedText
from blade.model.log import EventKind, LogFrame
from blade.model.pattern import pattern_of

NAME = "go"
MARKS = (
    r"(?m)^ *--- (?:PASS|FAIL|SKIP): ",
    r"(?m)^FAIL\t\S",
    r"(?m)^ok  \t\S",
    r'"Action":"',
    r"(?m)^panic: ",
    r"(?m)^fatal error: .*",
)

_RESULT = pattern_of(r"( *)--- (PASS|FAIL|SKIP): (\S+) \(\d")
_SAID = pattern_of(r"\s+(\S+\.go):(\d+): (.*)")
_PACKAGE = pattern_of(r"(?:FAIL\t(\S+) \[(build|setup) failed\]|(ok|FAIL) *\t(\S+)\t)")
_BUILD = pattern_of(r"(\S+\.go):(\d+)(?::\d+)?: (.+)")
_STACK = pattern_of(r"\t(\S+\.go):(\d+)")
_KINDS: dict[str, EventKind] = {"PASS": "test-passed", "FAIL": "test-failed", "SKIP": "test-skipped"}
_STREAM: dict[str, EventKind] = {"pass": "test-passed", "fail": "test-failed", "skip": "test-skipped"}
_MOST_LINES_OF_A_STACK = 60


def parse(text: PrintedText, found: Gathered) -> None:
    """The text form; JSON lines are read by their own fields."""
    if '"Action":"' in text.plain and _stream(text, found):
        return
    said: list[tuple[int, str, str, str]] = []
    current: Draft | None = None
    for place, line in enumerate(text.lines, start=1):
        if "--- " in line and (match := _RESULT.match(line)):
            if current is not None:
                found.add_test(NAME, current)
            current = Draft(subject=match[3], kind=_KINDS[match[2]], line=place, message=line)
            if said:
                _explain(current, said)
                said = []
        elif line.startswith("=== RUN"):
            _flush(found, current)
            current, said = None, []
            found.start(NAME)
        elif line[:1] in " \t" and ".go:" in line and (match := _SAID.match(line)):
            if current is not None:
                _explain(current, [(place, match[1], match[2], match[3])])
            else:
                said.append((place, match[1], match[2], match[3]))
        elif line[:2] in ("ok", "FA") and (match := _PACKAGE.match(line)):
            _flush(found, current)
            current, said = None, []
            _package(found, text, place, match[1])
        elif line.startswith(("panic: ", "fatal error: ")):
            _panic(found, text, place)
    _flush(found, current)


def _flush(found: Gathered, current: Draft | None) -> None:
    if current is not None:
        found.add_test(NAME, current)


def _explain(draft: Draft, said: list[tuple[int, str, str, str]]) -> None:
    """The first thing that a test said is its reason."""
    if draft.frame is None and draft.kind != "test-passed":
        place, file, line, message = said[0]
        draft.line, draft.message, draft.frame = place, message, frame_at(file, line)
        draft.expected, draft.actual = compared(message)


def _package(found: Gathered, text: PrintedText, place: int, broken: str | None) -> None:
    found.start(NAME)
    found.end(NAME)
    if broken is None:
        return
    for above in range(max(1, place - _MOST_LINES_OF_A_STACK), place):
        if match := _BUILD.match(text.lines[above - 1]):
            found.add(NAME, "collection-error", above, match[3], broken, frame=frame_at(match[1], match[2]))
            return
    found.add(NAME, "collection-error", place, text.lines[place - 1], broken)


def _panic(found: Gathered, text: PrintedText, place: int) -> None:
    """A panic is one only with the stack of a goroutine below it."""
    below = text.lines[place : place + _MOST_LINES_OF_A_STACK]
    if not any(line.startswith(("goroutine ", "runtime: ", "[signal ")) for line in below):
        return
    frame: LogFrame | None = None
    for function, line in pairwise(below):
        if (match := _STACK.match(line)) and not function.startswith(("panic(", "runtime.", "testing.", "created by")):
            frame = frame_at(match[1], match[2], function.rpartition("(")[0])
            break
    line = text.lines[place - 1]
    found.add(NAME, "exception", place, line, line.partition(":")[0], frame=frame)


def _stream(text: PrintedText, found: Gathered) -> bool:
    """Lines of `go test -json`; whether there were any."""
    said: dict[str, list[tuple[int, str, str, str]]] = {}
    seen = False
    for place, line in enumerate(text.lines, start=1):
        if not line.startswith("{") or (event := _decoded(line)) is None:
            continue
        action, test, package = event.get("Action"), event.get("Test"), event.get("Package")
        if not isinstance(action, str) or not isinstance(package, str):
            continue
        seen = True
        if isinstance(test, str):
            _streamed(found, place, action, test, event.get("Output"), said)
        elif action in _STREAM:
            found.end(NAME)
    return seen


def _streamed(
    found: Gathered,
    place: int,
    action: str,
    test: str,
    output: object,
    said: dict[str, list[tuple[int, str, str, str]]],
) -> None:
    if action == "output" and isinstance(output, str) and (match := _SAID.match(output)):
        said.setdefault(test, []).append((place, match[1], match[2], match[3]))
    elif action in _STREAM:
        draft = Draft(subject=test, kind=_STREAM[action], line=place, message=test)
        if test in said:
            _explain(draft, said[test])
        found.add_test(NAME, draft)


def _decoded(line: str) -> dict[str, Any] | None:
    try:
        return _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


_DECODER = msgspec.json.Decoder(dict[str, Any])
