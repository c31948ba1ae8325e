"""A test looks for a text that the prompt nowhere asks for.

Why it matters
    No solution can know the very words that the test wants.

What to do
    Name the text in the prompt, or test the behavior instead.

Limits
    Knows how some test runners of Python and JavaScript name the text; it may follow from a library's documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from blade.evidence import provenance, quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.model.pattern import pattern_of
from blade.rules.declaration import rule

_NOT_FOUND = pattern_of(
    r"""AssertionError:\ '(?P<a>[^'\n]{4,80})'\ not\ found\ in | assert\ (?P<q>['"])(?P<b>[^'"\n]{4,80})(?P=q)\ in\b
    | Regex(?:\ pattern)?:\ r?(?P<r>['"])(?P<c>[^'"\n]{4,80})(?P=r)
    | (?:to\ (?:contain|match|include|throw)|does\ not\ (?:contain|match|include)|missing\ text)\W{1,3}(?P<s>['"])(?P<d>[^'"\n]{4,80})(?P=s)
    """,
    re.VERBOSE,
)
"""Words of test runners that name a text which a test looked for and did not find."""
_LOG = pattern_of(r"(?:test|run|eval)_(?:log|output)$")


@rule("TSK007", scope="run", suggests=Cause.TASK, status="stable")
def untold_literal(context: RunContext) -> Iterator[Doubt]:
    found: dict[str, list[tuple[AlignedTrajectory, _Sought]]] = {}
    for walk in _failing(context):
        seen = _looked_for(walk)
        if seen is not None:
            found.setdefault(walk.rollout.key.task_id, []).append((walk, seen))
    for task, hits in found.items():
        walk, sought = hits[0]
        yield Doubt(
            about="verifier",
            tasks=(task,),
            message=f"{walk.place}: {sought.test} looks for '{sought.text}', which the prompt nowhere asks for",
            rollouts=len(hits),
            places=tuple((task, one.repeat) for one, _ in hits),
            evidence=(evidence,) if (evidence := quotes.of_row(walk.rollout, sought.field, sought.quote)) else (),
        )


class _Sought(NamedTuple):
    """A text that a test looked for: the test, the text, and where that is told."""

    test: str
    text: str
    field: str
    quote: str


def _looked_for(walk: AlignedTrajectory) -> _Sought | None:
    """A text that a failed test did not find, and that neither the prompt nor anything the agent wrote holds."""
    if not walk.rollout.prompt:
        return None
    failed = [check for check in walk.due.checks if not check.passed]
    told = [(f"`{quotes.shown(c.name, 60)}`", c.words, c.words_field or "") for c in failed if c.words]
    told = told or [("a test", said.text, said.field) for said in walk.due.said if failed and _LOG.search(said.field)]
    for test, words, field in told:
        for match in _NOT_FOUND.finditer(words):
            text = next(match[name] for name in "abcd" if match[name])
            if not provenance.in_prompt(walk.rollout, text):
                return _Sought(test, text, field, match[0].strip())
    return None


def _failing(context: RunContext) -> list[AlignedTrajectory]:
    return [walk for walk in context.reading.walks.values() if not walk.passed]
