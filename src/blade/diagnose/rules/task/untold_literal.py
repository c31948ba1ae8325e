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
from blade.core.finding import Cause
from blade.diagnose import provenance, quotes
from blade.diagnose.context import Context
from blade.diagnose.rules._rule import run_rule
from blade.diagnose.walks import Walk

_NOT_FOUND = re.compile(r"AssertionError: '([^']{4,80})' not found in")


@run_rule("TSK007", suggests=Cause.TASK, status="stable")
def untold_literal(context: Context) -> Iterator[Doubt]:
    for walk in _failing(context):
        for one in walk.due.checks:
            match = _NOT_FOUND.search(one.words) if not one.passed and walk.rollout.prompt else None
            if match is not None and not provenance.in_prompt(walk.rollout, match[1]):
                evidence = quotes.of_row(walk.rollout, one.words_field, match[0]) if one.words_field else None
                yield Doubt(
                    about="verifier",
                    tasks=(walk.rollout.key.task_id,),
                    message=f"{walk.place}: `{quotes.shown(one.name, 60)}` looks for '{match[1]}', which the prompt nowhere asks for",
                    rollouts=1,
                    evidence=(evidence,) if evidence else (),
                )
                return


def _failing(context: Context) -> list[Walk]:
    return [walk for walk in context.reading.walks.values() if not walk.passed]
