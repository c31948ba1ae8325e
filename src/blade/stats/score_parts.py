"""What a verifier looks at in every rollout, part by part: a reward that passes may hide a part that never holds."""

from __future__ import annotations

import polars as pl

from blade.model.analysis import ScorePart
from blade.model.run import Run
from blade.stats.counts import JUDGED, PASSED

MOST = 8
"""More parts than these are a list of tests, which differ from task to task."""
SHARED = 0.9
"""The share of judged rollouts that must have a part before it is one of the whole run."""


def parts(run: Run) -> tuple[ScorePart, ...]:
    """Parts of the verdict, those that hold least often first; none where rollouts are not judged alike."""
    if run.checks.is_empty() or run.checks["name"].n_unique() > MOST:
        return ()
    rows = run.rollouts.select("task_id", "repeat", "outcome").filter(JUDGED)
    judged = rows.select("task_id", "repeat", passed_whole=PASSED)
    found = run.checks.join(judged, on=["task_id", "repeat"], how="inner").group_by("name")
    lacking = ~pl.col("passed") & pl.col("passed_whole")
    counted = found.agg(held=pl.col("passed").sum(), rollouts=pl.len(), passed_without=lacking.sum())
    whole = counted.filter(pl.col("rollouts") >= SHARED * judged.height)
    return tuple(
        ScorePart(**row) for row in whole.sort(pl.col("held") / pl.col("rollouts"), "name").iter_rows(named=True)
    )
