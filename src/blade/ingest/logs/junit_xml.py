"""JUnit XML, whole or cut, read by its tags: no entity is ever resolved beyond the five that XML has."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping

from msgspec import Struct

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
    for case in cases(plain):
        line = text.number_at(case.at)
        draft = Draft(subject=case.title, kind="test-passed", line=line)
        _verdict(draft, case.inside, line)
        draft.message = draft.message or case.fields.get("name", "")
        total = added(total, _one(draft.kind))
        found.add_test(NAME, draft)
    if total.collected:
        found.start(NAME)
        found.totals[NAME] = total
        if "</testsuite" in plain:
            found.end(NAME)


class TestCase(Struct, frozen=True, kw_only=True):
    """A test case that is whole: its attributes as they are written, and what stands in it."""

    at: int
    fields: Mapping[str, str]
    inside: str

    @property
    def title(self) -> str:
        """The name, after the class or the file that it is in."""
        name, group = html.unescape(self.fields.get("name", "")), html.unescape(self.fields.get("classname", ""))
        return f"{group}.{name}" if group else name

    @property
    def kind(self) -> EventKind:
        """How it ended."""
        return next((kind for tag, kind in _INNER if tag in self.inside), "test-passed")

    @property
    def told(self) -> str:
        """What was written about how it ended: the message, then the text inside of the tag."""
        at = next((at for tag, _ in _INNER if (at := self.inside.find(tag)) != -1), -1)
        end = _end_of_tag(self.inside, at) if at != -1 else -1
        if end == -1:
            return ""
        message = html.unescape(_attributes(self.inside[at:end]).get("message", ""))
        body = "" if self.inside[end - 1] == "/" else self.inside[end + 1 :].partition("</")[0]
        body = html.unescape(body.replace("<![CDATA[", "").replace("]]>", "")).strip()
        return body if message in body else f"{message}\n{body}".strip()


def cases(plain: str) -> Iterator[TestCase]:
    """The test cases in order; those that are cut before their verdict is known are left out."""
    for at, piece in _pieces(plain):
        end = _end_of_tag(piece, 0)
        closed = end != -1 and piece[end - 1 : end] == "/"
        if closed or (end != -1 and "</testcase" in piece):
            inside = "" if closed else piece[end:].partition("</testcase")[0]
            yield TestCase(at=at, fields=_attributes(piece[:end]), inside=inside)


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
