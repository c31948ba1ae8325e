"""Whether the keys of a run belong to its rows, told from the run's tables: passes that violate their key, users who are others.

A key that was joined to the wrong row blames everybody: the agent for calls that nobody asked for, the simulated user for
facts that it never had. So it is looked for before anything else, and where it is found the keys serve for nothing else.
"""

from __future__ import annotations

import polars as pl
from msgspec import Struct

from blade.model.finding import Differs, Evidence
from blade.model.rollout import Outcome, RolloutKey
from blade.model.run import Run

FEWEST = 5
"""Passes, or rollouts with another user, below which nothing is said: one task may have an odd key."""
MOSTLY = 0.5
"""The share above which the join is broken, and not a few keys: a key that passes is met by nearly all of them
(on two runs of tau2 retail by 66 of 68, on tau-bench airline by 83 of 84)."""
MOST_EXAMPLES = 3
_VIOLATES = (Differs.NOT_MADE, Differs.UNWANTED, Differs.MISSING, Differs.EXTRA, Differs.ARGUMENT)
FOREIGN = "key:foreign"


class KeysOfRows(Struct, frozen=True, kw_only=True):
    """How the keys of a run fit its rows; all counts are of judged rollouts whose key is a list of calls."""

    rollouts: int = 0
    passes: int = 0
    violating: int = 0
    """Passes whose calls are not those of their key."""
    foreign: int = 0
    """Rollouts whose user gives another identity than their key."""
    foreign_tasks: int = 0
    examples: tuple[Evidence, ...] = ()
    """Where the user gives the other identity."""

    @property
    def by_identity(self) -> bool:
        """Whether the users of most rows are others than their keys say."""
        return self.foreign >= FEWEST and self.foreign > MOSTLY * self.rollouts

    @property
    def by_passes(self) -> bool:
        """Whether most passes violate their key: then it is not what they were judged by."""
        return self.passes >= FEWEST and self.violating > MOSTLY * self.passes

    @property
    def broken(self) -> bool:
        """Whether the keys must serve for nothing else."""
        return self.by_identity or self.by_passes


def keys_of_rows(run: Run) -> KeysOfRows:
    """Reads no rollout again."""
    keyed = run.tasks.filter(pl.col("key_expects").is_not_null()).select("task_id")
    rows = run.rollouts.join(keyed, on="task_id", how="semi", maintain_order="left").filter(
        pl.col("outcome").is_in([Outcome.PASSED, Outcome.FAILED])
    )
    if rows.is_empty():
        return KeysOfRows()
    passes = rows.filter(pl.col("outcome") == Outcome.PASSED)
    kinds = (
        pl.col("differs")
        .list.eval(pl.element().struct.field("kind").is_in([str(kind) for kind in _VIOLATES]))
        .list.any()
    )
    foreign = _foreign(rows)
    return KeysOfRows(
        rollouts=rows.height,
        passes=passes.height,
        violating=passes.filter(kinds.fill_null(False)).height,
        foreign=foreign.height,
        foreign_tasks=foreign["task_id"].n_unique(),
        examples=tuple(_example(run.name, row) for row in foreign.head(MOST_EXAMPLES).iter_rows(named=True)),
    )


def _foreign(rows: pl.DataFrame) -> pl.DataFrame:
    """The sign of each rollout that has one, in the order of the rows."""
    seen = rows.select("task_id", "repeat", "signs").explode("signs").unnest("signs")
    return seen.filter(pl.col("kind") == FOREIGN).unique(["task_id", "repeat"], keep="first", maintain_order=True)


def _example(name: str, row: dict[str, object]) -> Evidence:
    key = RolloutKey(run=name, task_id=str(row["task_id"]), repeat=int(str(row["repeat"])))
    step = row["step"]
    return Evidence(
        key=key, step=step if isinstance(step, int) else None, field=str(row["field"]), quote=str(row["quote"])
    )
