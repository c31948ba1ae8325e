"""JUnit XML, whole or cut, read by its tags: no entity is ever resolved beyond the five that XML has."""

from __future__ import annotations

import html

from blade.ingest.logs.compared import compared
from blade.ingest.logs.reading import Draft, Gathered, PrintedText, added
from blade.model.log import Counts, EventKind
from blade.model.pattern import pattern_of

NAME = "junit-xml"
MARKS = (r"<testcase\b",)

_ATTRIBUTE = pattern_of(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_INNER: tuple[tuple[str, EventKind], ...] = (
    ("<failure", "test-failed"),
    ("<error", "test-error"),
    ("<skipped", "test-skipped"),
)
_LONGEST_TAG = 20_000
"""Characters that are read of one tag; a failure's message is an attribute of its tag."""


def parse(text: PrintedText, found: Gathered) -> None:
    """Every test case; a suite's own numbers are not needed, as its cases are named."""
    plain, total = text.plain, Counts(passed=0, failed=0, errors=0, skipped=0, collected=0)
    for piece_at, piece in _pieces(plain):
        end = _end_of_tag(piece, 0)
        if end == -1:
            continue  # cut inside of the tag
        fields = _attributes(piece[:end])
        name, group = html.unescape(fields.get("name", "")), html.unescape(fields.get("classname", ""))
        draft = Draft(subject=f"{group}.{name}" if group else name, kind="test-passed", line=text.number_at(piece_at))
        if piece[end - 1 : end] != "/":
            if "</testcase" not in piece:
                continue  # cut before its verdict is known
            _verdict(draft, piece[end:], text.number_at(piece_at))
        draft.message = draft.message or fields.get("name", "")
        total = added(total, _one(draft.kind))
        found.add_test(NAME, draft)
    if total.collected:
        found.start(NAME)
        found.totals[NAME] = total
        if "</testsuite" in plain:
            found.end(NAME)


def _pieces(plain: str) -> list[tuple[int, str]]:
    """From the attributes of each test case to the next one."""
    places: list[int] = []
    at = plain.find("<testcase")
    while at != -1:
        places.append(at + len("<testcase"))
        at = plain.find("<testcase", at + 1)
    ends = [*(place - len("<testcase") for place in places[1:]), len(plain)]
    return [
        (place, plain[place : min(end, place + 10 * _LONGEST_TAG)]) for place, end in zip(places, ends, strict=True)
    ]


def _end_of_tag(piece: str, start: int) -> int:
    """Where a tag closes; `>` may stand in the value of an attribute."""
    quote = ""
    for at in range(start, min(len(piece), start + _LONGEST_TAG)):
        char = piece[at]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == ">":
            return at
    return -1


def _attributes(tag: str) -> dict[str, str]:
    return {match[1]: match[2] or match[3] or "" for match in _ATTRIBUTE.finditer(tag)}


def _verdict(draft: Draft, inside: str, line: int) -> None:
    for tag, kind in _INNER:
        at = inside.find(tag)
        if at != -1:
            end = _end_of_tag(inside, at)
            draft.kind = kind
            said = _attributes(inside[at : end if end != -1 else len(inside)])
            draft.message = said.get("message", "") or said.get("type", "")
            draft.expected, draft.actual = compared(draft.message.split("\n")[0])
            draft.line = line + inside.count("\n", 0, at)
            return


def _one(kind: EventKind) -> Counts:
    return Counts(
        passed=int(kind == "test-passed"),
        failed=int(kind == "test-failed"),
        errors=int(kind == "test-error"),
        skipped=int(kind == "test-skipped"),
        collected=1,
    )
