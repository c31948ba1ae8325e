"""Everything said about why the rollouts of a run failed."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from blade.core.diagnosis import Diagnosis, Mode, Partition
from blade.core.finding import Evidence
from blade.core.run import Run
from blade.diagnose.context import Context
from blade.diagnose.contrast import contrast, unlike
from blade.diagnose.dives import dives
from blade.diagnose.exhibits import shown_by
from blade.diagnose.findings import findings
from blade.diagnose.habits import habits
from blade.diagnose.modes import partition
from blade.diagnose.reading import Reading, read
from blade.diagnose.rules import doubts
from blade.diagnose.withheld import withheld


def diagnose(run: Run) -> Diagnosis:
    """Modes that partition the failures, contrasts, findings, doubts and deep dives; the artifacts are read once more."""
    parts = partition(run)
    reading = read(run, parts)
    odd = {task: why for task in reading.sometimes if (why := unlike(reading.of(task)))}
    contrasts = {task: contrast(task, reading.of(task)) for task in reading.sometimes if task not in odd}
    kept = [one for task in (*reading.sometimes, *reading.never) for one in withheld(reading.of(task))]
    context = Context(run=run, partition=parts, reading=reading, contrasts=contrasts, withheld=kept, unlike=odd)
    return Diagnosis(
        partition=_with_evidence(parts, reading),
        findings=findings(context),
        contrasts=tuple(contrasts.values()),
        habits=habits(run),
        doubts=doubts(context),
        dives=dives(context),
        cut=reading.cut,
        files={
            place: _file(walk.rollout.source.artifact, walk.rollout.source.line)
            for place, walk in reading.walks.items()
        },
    )


def _file(artifact: str, line: int | None) -> tuple[str, int | None]:
    return artifact, line


def _with_evidence(parts: Partition, reading: Reading) -> Partition:
    return replace(parts, modes=tuple(replace(mode, evidence=_evidence(mode, parts, reading)) for mode in parts.modes))


def _evidence(mode: Mode, parts: Partition, reading: Reading) -> Evidence | None:
    """A quote of one rollout of the mode: near misses and tasks that sometimes pass first."""
    mine = parts.table.filter(pl.col("mode") == mode.id).sort("near", descending=True, maintain_order=True)
    places = list(mine.select("task_id", "repeat").iter_rows())
    taught = [place for place in places if place[0] in reading.sometimes]
    return next(
        (found for walk in reading.at([*taught, *places]) if (found := shown_by(walk, mode.id)) is not None), None
    )
