"""Quotes of the table of attributions as evidence."""

from __future__ import annotations

from blade.model.finding import Evidence
from blade.model.rollout import RolloutKey


def evidence_of(run: str, task: str, repeat: int, quote: dict[str, object]) -> Evidence:
    """A quote of the table of attributions, with its location."""
    step = quote["step"]
    return Evidence(
        key=RolloutKey(run=run, task_id=task, repeat=repeat),
        step=step if isinstance(step, int) else None,
        field=str(quote["field"]),
        quote=str(quote["quote"]),
    )
