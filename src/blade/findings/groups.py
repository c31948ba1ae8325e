"""Rollouts that share a failure mode and what it is about: the groups from which findings are made."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from msgspec import Struct, field

from blade.evidence.context import Refs, none
from blade.model.attribution import UNATTRIBUTED, Confidence
from blade.model.diagnosis import Partition
from blade.modes.catalog import all_modes, by_code
from blade.stats.rollout_index import RolloutIndex

MOST = 40
"""Groups that are looked at, the largest."""
FEW_FAILURES = 10
"""Up to this many failures a single rollout makes a finding; beyond it takes two."""
FEWEST_SHARE = 0.05
"""Share of a result mode's rollouts that a subject must have to be told apart: below it, it describes a few of many."""
CALLS = ("malformed-arguments", "action-extra", "no-action", "partial-actions", "wrong-argument", "action-missing")
"""Modes whose subject is a tool, or a tool and its argument."""
LEFT_OUT = ("no-action", "partial-actions", "action-missing")
"""Modes that say how much else was done beside one call that was not: of one tool they make one finding."""


class FailureGroup(Struct, frozen=True, kw_only=True):
    """Rollouts that share a mode and its subject."""

    mode: str
    """Code of the catalog; for a finding that rests on no mode, a name of its own."""
    subject: str = ""
    failing: Refs
    passing: Refs
    alone: Refs
    """Failing rollouts, proven or likely, to which no other mode applies."""
    confidence: Confidence = Confidence.LIKELY
    """Of the weakest half: what most of them have at least."""
    sure: Refs | None = None
    """Failing rollouts that are proven or likely; None for all."""
    confidences: Mapping[Confidence, int] = field(default_factory=dict)
    """How many rollouts have each."""

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


def how_often(group: FailureGroup, failures: int) -> str:
    """`13 of 43 failures (13 tasks; 12 likely, 1 suspected)`."""
    tasks, sure = len(group.tasks), group.confidences
    mixed = f"; {', '.join(f'{times:,} {one}' for one, times in sure.items())}" if len(sure) > 1 else ""
    of = f"{len(group.failing):,} of {failures:,} failure{'s' if failures != 1 else ''}"
    return f"{of} ({tasks:,} task{'s' if tasks != 1 else ''}{mixed})"


def groups(partition: Partition, rollouts: RolloutIndex) -> list[FailureGroup]:
    """Every group of two rollouts or more (one, where few failed), largest first; what nothing decides is in none."""
    lost = np.flatnonzero(~rollouts.passed)
    table = partition.table.with_columns(row=pl.Series(lost), modes=_other_modes())
    known = table.filter(pl.col("mode") != UNATTRIBUTED)
    merged = known.with_columns(subject=_subject(known)).with_columns(mode=_mode())
    fewest = 2 if table.height > FEW_FAILURES else 1
    found = [
        _group(str(mode), str(subject), rows, rollouts)
        for (mode, subject), rows in merged.group_by("mode", "subject", maintain_order=True)
        if rows.height >= fewest
    ]
    return sorted(found, key=lambda group: (-len(group.failing), -len(group.tasks), group.id))[:MOST]


def _other_modes() -> pl.Expr:
    """How many other modes apply that say more than the verdict; what comes after a failure that is not the agent's follows
    from it.
    """
    telling = [mode.code for mode in all_modes() if not mode.result]
    others = pl.col("also").list.eval(pl.element().is_in(telling)).list.sum().fill_null(0)
    return pl.when(pl.col("valid") & (pl.col("party") == "agent")).then(others).otherwise(0)


def _subject(table: pl.DataFrame) -> pl.Expr:
    """The subject by which the rollouts of a mode are told apart; empty where they make one group together.

    What fixes the machinery or a limit is the same for all: those are one group a mode, by the subject that all share.
    """
    size, of_mode = pl.len().over("mode", "subject"), pl.len().over("mode")
    whole = pl.col("mode").is_in([mode.code for mode in all_modes() if mode.group in ("machinery", "limit")])
    enough = ~pl.col("mode").is_in([mode.code for mode in all_modes() if mode.result]) | pl.col("mode").is_in(CALLS)
    shared = (size > 1) & (enough | (size >= FEWEST_SHARE * of_mode)) | pl.lit(table.height <= FEW_FAILURES)
    return pl.when(pl.when(whole).then(size == of_mode).otherwise(shared)).then("subject").otherwise(pl.lit(""))


def _mode() -> pl.Expr:
    """The mode of a group: of those that tell of one call that was left out, the one that most of its rollouts have."""
    told = pl.col("mode").filter(pl.col("mode").is_in(LEFT_OUT)).mode(maintain_order=True).first().over("subject")
    return pl.when(pl.col("mode").is_in(LEFT_OUT) & (pl.col("subject") != "")).then(told).otherwise("mode")


def _group(mode: str, subject: str, rows: pl.DataFrame, rollouts: RolloutIndex) -> FailureGroup:
    failing = Refs(of=rollouts, rows=rows["row"].to_numpy().astype(np.int64))
    settled = rows["confidence"].fill_null("suspected") != Confidence.SUSPECTED
    alone = rows.filter((pl.col("modes") == 0) & settled)["row"].to_numpy().astype(np.int64)
    counted = {one: int((rows["confidence"] == one).sum()) for one in Confidence}
    order = list(Confidence)
    sure = [place for place, one in enumerate(order) for _ in range(counted[one])]
    return FailureGroup(
        mode=mode,
        subject=subject,
        failing=failing,
        passing=none(rollouts),
        alone=Refs(of=rollouts, rows=alone),
        sure=failing.only(rollouts.marked(rows.filter(settled)["row"].to_numpy())),
        confidence=order[sure[len(sure) // 2]] if sure else Confidence.SUSPECTED,
        confidences={one: times for one, times in counted.items() if times},
    )
