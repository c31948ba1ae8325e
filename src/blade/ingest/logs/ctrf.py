"""CTRF, the Common Test Report Format: one JSON document."""

from __future__ import annotations

from typing import Any

import msgspec

from blade.ingest.logs.compared import compared
from blade.ingest.logs.reading import Draft, Gathered, PrintedText
from blade.model.log import Counts, EventKind

NAME = "ctrf"
MARKS = (r'"raw_?[sS]tatus"', r'"tests"\s*:\s*\[')

_KINDS: dict[str, EventKind] = {
    "passed": "test-passed",
    "failed": "test-failed",
    "skipped": "test-skipped",
    "pending": "test-skipped",
    "other": "test-error",
}


def parse(text: PrintedText, found: Gathered) -> None:
    """The document, if the whole text is one."""
    plain = text.plain.strip()
    if not plain.startswith("{"):
        return
    try:
        document = msgspec.json.decode(plain)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return
    results = document.get("results") if isinstance(document, dict) else None
    tests = results.get("tests") if isinstance(results, dict) else None
    if not isinstance(tests, list):
        return
    at = 0
    for test in tests:
        if isinstance(test, dict) and isinstance(name := test.get("name"), str) and test.get("status") in _KINDS:
            at = max(at, text.plain.find(f'"{name}"', at))
            found.add_test(NAME, _draft(name, test, text.number_at(at)))
    _summary(found, results)


def _draft(name: str, test: dict[str, Any], line: int) -> Draft:
    message = test.get("message")
    draft = Draft(
        subject=name, kind=_KINDS[test["status"]], line=line, message=message if isinstance(message, str) else ""
    )
    draft.expected, draft.actual = compared(draft.message.split("\n")[0])
    return draft


def _summary(found: Gathered, results: Any) -> None:
    said = results.get("summary")
    if isinstance(said, dict):
        counts = {name: count for name, count in said.items() if isinstance(count, int) and count >= 0}
        skipped = counts.get("skipped", 0) + counts.get("pending", 0)
        found.totals[NAME] = Counts(
            passed=counts.get("passed"),
            failed=counts.get("failed"),
            errors=counts.get("other"),
            skipped=skipped,
            collected=counts.get("tests"),
        )
        found.end(NAME)
