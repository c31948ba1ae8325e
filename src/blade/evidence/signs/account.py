"""Statuses: the short values with which the harness or the grader names how a rollout ended, and what it says that broke.

`status` has the value as its subject. Passes have it too: a value that passes have says that nothing unusual happened.
`broke:grader` and `broke:harness` quote a field that names breakdowns in the rows of the run; what is recorded after a
single answer was given is the grader's.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence.differences import is_breakdown
from blade.evidence.signs.view import RolloutView, sign
from blade.ingest.roles.breakdowns import what_was_raised
from blade.model.finding import Sign


def statuses(view: RolloutView) -> Iterator[Sign]:
    """Every status of the row."""
    for status in view.account.statuses:
        yield sign("status", status.value, status.value, status.field)


def breakdowns(view: RolloutView) -> Iterator[Sign]:
    """What the row says that broke."""
    for said in view.rollout.due.said:
        whose = is_breakdown(said) if said.recorded else None
        if whose is not None:
            who = "grader" if view.rollout.answered_at_once else whose
            words = what_was_raised(said.text.strip()).partition("\n")[0]
            yield sign(f"broke:{who}", words, words, said.field)
