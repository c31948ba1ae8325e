"""A test looks for a text that the prompt nowhere asks for.

Why it matters
    No solution can know the very words that the test wants.

What to do
    Name the text in the prompt, or test the behavior instead.

Limits
    Knows the message of Python's assertIn only; the text may follow from a library's documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from blade.core.diagnosis import Doubt
from blade.core.due import Check
from blade.core.finding import Cause
from blade.diagnose import provenance, quotes
from blade.diagnose.context import Context
from blade.diagnose.rules._rule import run_rule
from blade.diagnose.walks import Walk

_NOT_FOUND = re.compile(r"AssertionError: '([^']{4,80})' not found in")


@run_rule("TSK007", suggests=Cause.TASK, status="stable")
def untold_literal(context: Context) -> Iterator[Doubt]:
    found: dict[str, list[tuple[Walk, Check, re.Match[str]]]] = {}
    for walk in _failing(context):
        seen = _looked_for(walk)
        if seen is not None:
            found.setdefault(walk.rollout.key.task_id, []).append((walk, *seen))
    for task, hits in found.items():
        walk, check, match = hits[0]
        evidence = quotes.of_row(walk.rollout, check.words_field, match[0]) if check.words_field else None
        yield Doubt(
            about="verifier",
            tasks=(task,),
            message=f"{walk.place}: `{quotes.shown(check.name, 60)}` looks for '{match[1]}', which the prompt nowhere asks for",
            rollouts=len(hits),
            places=tuple((task, one.repeat) for one, _, _ in hits),
            evidence=(evidence,) if evidence else (),
        )


def _looked_for(walk: Walk) -> tuple[Check, re.Match[str]] | None:
    """A failed test, and the text that it did not find and that the prompt does not hold."""
    for check in walk.due.checks if walk.rollout.prompt else ():
        match = _NOT_FOUND.search(check.words) if not check.passed else None
        if match is not None and not provenance.in_prompt(walk.rollout, match[1]):
            return check, match
    return None


def _failing(context: Context) -> list[Walk]:
    return [walk for walk in context.reading.walks.values() if not walk.passed]
