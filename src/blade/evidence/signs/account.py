"""Statuses: the short values with which the harness or the grader names how a rollout ended.

`status` has the value as its subject. Passes have it too: a value that passes have says that nothing unusual happened.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence.signs.view import RolloutView, sign
from blade.model.finding import Sign


def statuses(view: RolloutView) -> Iterator[Sign]:
    """Every status of the row."""
    for status in view.account.statuses:
        yield sign("status", status.value, status.value, status.field)
