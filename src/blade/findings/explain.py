"""One task, all its repeats: what was due, what each did, where failing ones leave the way of passing ones."""

from __future__ import annotations

import polars as pl

from blade.attribution.modes import partition
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RereadRollouts, RunContext
from blade.evidence.contrast import contrast
from blade.evidence.simulated_user import withheld
from blade.findings.deep_dives import dive_into
from blade.model.diagnosis import Contrast, DeepDive
from blade.model.errors import RequestError
from blade.model.run import Run
from blade.stats.rollout_index import index_rollouts

MOST_EACH = 8
"""Passing, and failing, repeats that are read."""


def explain(run: Run, task_id: str) -> tuple[DeepDive, Contrast | None]:
    """The task looked at closely; the contrast where some repeats pass and some fail. Raises for an unknown task."""
    rollouts = index_rollouts(run)
    parts = partition(rollouts)
    rows = run.rollouts.filter((pl.col("task_id") == task_id) & pl.col("artifact").is_not_null())
    if rows.is_empty() or run.read is None:
        known = ", ".join(run.tasks["task_id"].head(6))
        raise RequestError(f"run {run.name} has no rollout of task {task_id!r}", hint=f"tasks are called {known}, ...")
    judged = rows.filter(pl.col("outcome").is_in(["passed", "failed"]))
    chosen = judged.group_by("outcome", maintain_order=True).head(MOST_EACH).sort("repeat")
    if chosen.is_empty():
        raise RequestError(f"no rollout of task {task_id} was judged", hint="`blade show` reads one as it is")
    places = list(chosen.select("task_id", "repeat").iter_rows())
    walks = {
        place: AlignedTrajectory(rollout=rollout, set_aside=parts.set_aside)
        for place, rollout in zip(places, run.read(run, places), strict=True)
    }
    both = chosen["outcome"].n_unique() == 2
    reading = RereadRollouts(
        walks=walks,
        rows=rollouts.at(places),
        sometimes=(task_id,) if both else (),
        never=() if both else (task_id,),
        cut=_cut(judged, chosen),
    )
    found = contrast(task_id, list(walks.values())) if both else None
    context = RunContext(
        rollouts=rollouts,
        partition=parts,
        reading=reading,
        contrasts={task_id: found} if found else {},
        withheld=withheld(list(walks.values())),
    )
    return dive_into(task_id, context), found


def _cut(judged: pl.DataFrame, chosen: pl.DataFrame) -> tuple[str, ...]:
    if judged.height == chosen.height:
        return ()
    return (f"of {judged.height} judged repeats {chosen.height} were read: the first {MOST_EACH} of each outcome",)
