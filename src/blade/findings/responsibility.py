"""Whose the failures of a run are, counted from its attributions."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from msgspec import structs

from blade.model.diagnosis import Doubt, PartyCount, Responsibility
from blade.stats.infrastructure import NOT_AGENTS, OTHERS


def responsibility(attributed: pl.DataFrame) -> Responsibility:
    """Every rollout that did not pass, by who has to act and how surely."""
    failed = attributed.filter(pl.col("outcome") != "passed")
    counted = failed.filter(NOT_AGENTS).group_by("party").agg(rollouts=pl.len(), proven=_proven())
    others = [
        PartyCount(party=party, proven=proven, likely=rollouts - proven)
        for party, rollouts, proven in counted.iter_rows()
    ]
    suspected = failed.filter(pl.col("party").is_in(OTHERS) & ~NOT_AGENTS).height
    agent, limit = (int((failed["party"] == party).sum()) for party in ("agent", "limit"))
    return Responsibility(
        failures=failed.height,
        agent=agent,
        others=tuple(sorted(others, key=lambda one: (-one.proven - one.likely, one.party))),
        limit=limit,
        suspected=suspected,
        unknown=failed.height - agent - limit - suspected - sum(one.proven + one.likely for one in others),
    )


PARTY_OF_DOUBT = {"key": "task", "task": "task", "verifier": "verifier", "tool": "tool", "user": "user_simulator"}


def decided(doubts: Sequence[Doubt], attributed: pl.DataFrame) -> tuple[Doubt, ...]:
    """The doubts, marked where a failure of their tasks is put down to whom they are about; limits are always shown."""
    settled = attributed.filter(NOT_AGENTS).group_by("party").agg(pl.col("task_id").unique())
    tasks = {party: frozenset(names) for party, names in settled.iter_rows()}
    return tuple(
        structs.replace(
            one,
            decided=one.about == "limit"
            or not tasks.get(PARTY_OF_DOUBT.get(one.about, ""), frozenset()).isdisjoint(one.tasks),
        )
        for one in doubts
    )


def _proven() -> pl.Expr:
    return (pl.col("confidence") == "proven").sum()
