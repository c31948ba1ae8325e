"""JUnit XML as a run: a test case is a rollout of the task that it names, as suites of evaluations report them.

A case that failed is a failure; one that ended in an error of the test itself has no verdict, and neither has a skipped one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from blade.ingest import cells
from blade.ingest.decode import encode
from blade.ingest.formats import FileHead, Format, RunFacts
from blade.ingest.jsonl import Record, whole_bytes
from blade.ingest.logs.junit_xml import TestCase, cases
from blade.ingest.terminal import plain_text
from blade.model.log import EventKind
from blade.model.pattern import pattern_of

_ROWS = 1_000
_OPENS = pattern_of(r"^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:[^-]|-[^-])*-->\s*)*<testsuites?\b")
_SUITE = pattern_of(r"<testsuites?\b[^>]*\bname=\"([^\"<]{1,200})\"")
_REWARDS: dict[EventKind, float] = {"test-passed": 1.0, "test-failed": 0.0}


def recognizes(head: FileHead) -> bool:
    """A document that opens with a suite of tests."""
    return not head.rows and _OPENS.search(head.start.decode("utf-8", "replace").removeprefix("\ufeff")) is not None


def _text(path: Path) -> str:
    return whole_bytes(path).decode("utf-8", "replace")


def _row(case: TestCase) -> dict[str, Any]:
    """What a case says, under the names that rows have."""
    told = plain_text(case.told)
    row: dict[str, Any] = {
        "task_id": case.title or "test",
        "reward": _REWARDS.get(case.kind),
        "seconds": cells.finite(_number(case.fields.get("time", ""))),
        "file": case.fields.get("file"),
    }
    if case.kind == "test-error":
        row["error"] = told or "error"
    elif case.kind == "test-skipped":
        row["skipped"] = told or "skipped"
    elif told:
        row["test_log"] = told
    return {name: value for name, value in row.items() if value is not None or name == "reward"}


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def records(path: Path, start: int, end: int | None) -> Iterator[Sequence[Record]]:
    """The cases in their order, some at a time; where the document is cut, the last one says so."""
    text = _text(path)
    numbered = (Record(encode(_row(case)), None, None, str(place)) for place, case in enumerate(cases(text)))
    while some := list(islice(numbered, _ROWS)):
        yield some
    if "</testsuite" not in text[-1000:] and "<testsuite" in text:
        yield (Record(b"", None, None, "end", "the document ends before its suite does"),)


def fetch(path: Path, members: Sequence[str]) -> Iterator[bytes]:
    """Some cases, by their numbers from 0."""
    found = list(cases(_text(path)))
    for member in members:
        place = int(member) if member.isdecimal() else len(found)
        yield encode(_row(found[place])) if place < len(found) else b""


def facts(path: Path) -> RunFacts:
    """The name of the suite."""
    named = next(islice(_SUITE.finditer(_text(path)[:10_000]), 1), None)
    return RunFacts(benchmark=named[1] if named is not None else None, source="name")


FORMAT = Format(
    name="junit",
    order=60,
    recognizes=recognizes,
    records=records,
    fetch=fetch,
    facts=facts,
    yields=True,
)
