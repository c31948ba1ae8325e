"""A pass in which tests were skipped: `skipped-as-passed` says how many of how many, and quotes the closing line.

Tests are skipped for good reasons too, such as another platform; a pass with known good work tells.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence.signs.view import View, line_of, sign
from blade.model.account import LogText
from blade.model.finding import Sign


def skipped(view: View) -> Iterator[Sign]:
    """The first log of the grader with skipped tests, of a pass."""
    if not view.passed:
        return
    for log in view.grader_logs:
        if ("skip" in log.text or "SKIP" in log.text) and (log.parsed.skipped or 0) > 0:
            yield _skipped(log)
            return


def _skipped(log: LogText) -> Sign:
    parsed = log.parsed
    asked = sum(count or 0 for count in (parsed.passed, parsed.failed, parsed.errors, parsed.skipped))
    events = [event for event in parsed.events if event.kind == "test-skipped"]
    summary = [event for event in parsed.events if event.kind == "summary"]
    shown = next(iter([*reversed(summary), *events]), None)
    quote = line_of(log, shown) if shown is not None else ""
    return sign("skipped-as-passed", f"{parsed.skipped} of {asked}", quote, log.field)
