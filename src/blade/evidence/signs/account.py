"""Statuses: the short values with which the harness or the grader names how a rollout ended, and what it says that broke.

`status` has the value as its subject. Passes have it too: a value that passes have says that nothing unusual happened.
`judge:reason` is the last sentence in which a judge that rejected the result says why. `broke:grader` and `broke:harness` quote a field that names breakdowns in the rows of the run; what is recorded after a
single answer was given is the grader's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from blade.evidence.differences import is_beside_the_verdict, is_breakdown
from blade.evidence.quotes import SENTENCE
from blade.evidence.signs.view import RolloutView, sign
from blade.ingest.fields import is_judge
from blade.ingest.roles.breakdowns import what_was_raised
from blade.model.finding import Sign
from blade.model.pattern import pattern_of


def statuses(view: RolloutView) -> Iterator[Sign]:
    """Every status of the row."""
    for status in view.account.statuses:
        yield sign("status", status.value, status.value, status.field)


def breakdowns(view: RolloutView) -> Iterator[Sign]:
    """What the row says that broke."""
    for said in view.rollout.due.said:
        whose = is_breakdown(said) if said.recorded else None
        if whose is not None and not is_beside_the_verdict(said, view.rollout):
            who = "grader" if view.rollout.answered_at_once else whose
            words = what_was_raised(said.text.strip()).partition("\n")[0]
            yield sign(f"broke:{who}", words, words, said.field)


TAIL = 2_500
"""Characters at the end of a judgment in which its conclusion stands."""
_SAYS_WHY = pattern_of(
    r"\b(?:because|since|while|whereas|however|although|instead|missing|omit\w*|fail\w*|lack\w*|incorrect\w*|wrong|not|differ\w*|only)\b",
    re.IGNORECASE,
)
FEWEST_WORDS = 8
"""Words of a sentence that gives a reason; shorter ones give a grade."""


def judgments(view: RolloutView) -> Iterator[Sign]:
    """Why a judge rejects the result, in its own words."""
    said = next((one for one in view.rollout.due.said if is_judge(one.field)), None)
    if said is None:
        return
    sentences = (match[0].strip() for match in SENTENCE.finditer(said.text[-TAIL:]))
    reasons = [one for one in sentences if len(one.split()) >= FEWEST_WORDS and _SAYS_WHY.search(one)]
    if reasons:
        yield sign("judge:reason", "", reasons[-1], said.field)
