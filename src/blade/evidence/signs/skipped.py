"""A pass in which tests were skipped: `skipped-as-passed` says how many of how many, and quotes the closing line.

Tests are skipped for good reasons too, such as another platform; a pass with known good work tells.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence.presence import may_hold
from blade.evidence.signs.view import RolloutView, line_of, sign
from blade.model.account import LogText
from blade.model.finding import Sign


def skipped(view: RolloutView) -> Iterator[Sign]:
    """The logs of the grader in which many tests of a pass were skipped."""
    if not view.passed:
        return
    for log in view.grader_logs:
        if _may_skip(log.text):
            yield from _skipped(log)


_may_skip = may_hold(r"skip|[1-9] (?:ignored|pending|disabled)|\.\.\. ignored")
"""How runners name tests that they leave out: Rust ignores them, mocha has them pending."""
SHARE = 1 / 3
"""Of the tests, skipped: in 37 passes of SWE-bench ordinary suites skip at most a fifth."""


def _skipped(log: LogText) -> Iterator[Sign]:
    parsed = log.parsed
    asked = sum(count or 0 for count in (parsed.passed, parsed.failed, parsed.errors, parsed.skipped))
    if not parsed.skipped or parsed.skipped < SHARE * asked:
        return
    events = [event for event in parsed.events if event.kind == "test-skipped"]
    summary = [event for event in parsed.events if event.kind == "summary"]
    shown = next(iter([*reversed(summary), *events]), None)
    quote = line_of(log, shown) if shown is not None else ""
    yield sign("skipped-as-passed", f"{parsed.skipped} of {asked}", quote, log.field)
