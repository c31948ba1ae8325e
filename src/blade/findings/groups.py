"""Rollouts that share a failure mode and what it is about: the groups from which findings are made."""

from __future__ import annotations

import numpy as np
import polars as pl
from msgspec import Struct

from blade.evidence.context import Refs, none
from blade.model.attribution import UNATTRIBUTED, Confidence
from blade.model.diagnosis import Partition
from blade.modes.catalog import all_modes, by_code
from blade.stats.rollout_index import RolloutIndex

MOST = 40
"""Groups that are looked at, the largest."""
FEW_FAILURES = 10
"""Up to this many failures a single rollout makes a finding; beyond it takes two."""
CALLS = ("malformed-arguments", "action-extra", "no-action", "partial-actions", "wrong-argument", "action-missing")
"""Modes whose subject is a tool, or a tool and its argument."""


class FailureGroup(Struct, frozen=True, kw_only=True):
    """Rollouts that share a mode and its subject."""

    mode: str
    """Code of the catalog; for a finding that rests on no mode, a name of its own."""
    subject: str = ""
    failing: Refs
    passing: Refs
    alone: Refs
    """Failing rollouts to which no other mode applies."""
    confidence: Confidence = Confidence.LIKELY
    """Of the weakest half: what most of them have at least."""

    @property
    def id(self) -> str:
        """`wrong-argument:book_seat.row`: what the rollouts of a group share."""
        return f"{self.mode}:{self.subject}" if self.subject else self.mode

    @property
    def name(self) -> str:
        """The tool, where the subject is a call; else the subject."""
        return self.subject.partition(".")[0] if self.mode in CALLS else self.subject

    @property
    def detail(self) -> str:
        """The argument, where the subject is one."""
        return self.subject.partition(".")[2] if self.mode in CALLS else ""

    @property
    def repeats_the_verdict(self) -> bool:
        """Whether all it says is that the result was rejected: no check, argument or value that rollouts share."""
        return not self.subject and self.mode in by_code() and by_code()[self.mode].result

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.failing.tasks


def groups(partition: Partition, rollouts: RolloutIndex) -> list[FailureGroup]:
    """Every group of two rollouts or more (one, where few failed), largest first; what nothing decides is in none."""
    lost = np.flatnonzero(~rollouts.passed)
    table = partition.table.with_columns(row=pl.Series(lost), modes=_other_modes())
    known = table.filter(pl.col("mode") != UNATTRIBUTED)
    merged = known.with_columns(subject=_subject(known))
    fewest = 2 if table.height > FEW_FAILURES else 1
    found = [
        _group(str(mode), str(subject), rows, rollouts)
        for (mode, subject), rows in merged.group_by("mode", "subject", maintain_order=True)
        if rows.height >= fewest
    ]
    return sorted(found, key=lambda group: (-len(group.failing), -len(group.tasks), group.id))[:MOST]


def _other_modes() -> pl.Expr:
    """How many other modes apply that say more than the verdict; what comes after a failure of the machinery follows from
    it.
    """
    telling = [mode.code for mode in all_modes() if not mode.result]
    others = pl.col("also").list.eval(pl.element().is_in(telling)).list.sum().fill_null(0)
    return pl.when(pl.col("valid")).then(others).otherwise(0)


def _subject(table: pl.DataFrame) -> pl.Expr:
    """The subject where two rollouts share it; the others of a mode make one group together."""
    shared = pl.len().over("mode", "subject") > 1
    return pl.when(shared | pl.lit(table.height <= FEW_FAILURES)).then("subject").otherwise(pl.lit(""))


def _group(mode: str, subject: str, rows: pl.DataFrame, rollouts: RolloutIndex) -> FailureGroup:
    failing = Refs(of=rollouts, rows=rows["row"].to_numpy().astype(np.int64))
    alone = rows.filter(pl.col("modes") == 0)["row"].to_numpy().astype(np.int64)
    order = list(Confidence)
    sure = sorted(order.index(Confidence(one)) for one in rows["confidence"].drop_nulls())
    return FailureGroup(
        mode=mode,
        subject=subject,
        failing=failing,
        passing=none(rollouts),
        alone=Refs(of=rollouts, rows=alone),
        confidence=order[sure[len(sure) // 2]] if sure else Confidence.SUSPECTED,
    )
