"""What `blade analyze` knows about runs; reports turn these values into text and compute nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from blade.model.diagnosis import Between, Diagnosis, TaskCause
from blade.model.errors import RequestError
from blade.model.measure import Bounded, Measure
from blade.model.reading import ReaderStatistics
from blade.model.run import RecordedNumber, Run

if TYPE_CHECKING:
    import polars as pl

    from blade.model.attribution import Attributions

SCHEMA_VERSION = "1"
MOST_NAMED = 4
"""Runs that the short text of an analysis names."""


class HeadlineScore(Bounded, frozen=True, kw_only=True):
    """The headline under one reading of the rollouts."""

    name: str
    value: float | None
    n_tasks: int
    n_rollouts: int
    reason: str | None = None


class FunnelStage(msgspec.Struct, frozen=True, kw_only=True, rename={"name": "stage"}):
    """One stage of the funnel: how many rollouts reached it, and their share of those that reached the one before."""

    name: str
    rollouts: int
    share: float | None


class Funnel(msgspec.Struct, frozen=True, kw_only=True):
    """Stages in order, and those that cannot apply to this run, with the reason."""

    stages: tuple[FunnelStage, ...]
    left_out: tuple[str, ...] = ()
    passed_otherwise: int = 0
    """Passes that did not go through every stage: a task may want nothing done."""

    @property
    def largest_drop(self) -> FunnelStage | None:
        """The stage that the largest share of those before it did not reach; None when none was lost."""
        lossy = [stage for stage in self.stages if stage.share is not None and stage.share < 1]
        return min(lossy, key=lambda stage: stage.share or 0.0, default=None)


class SliceValue(Bounded, frozen=True, kw_only=True):
    """One value of a slice field."""

    value: str
    tasks: int
    rollouts: int
    passed: int
    pass_at_1: float | None


class ScorePart(msgspec.Struct, frozen=True, kw_only=True):
    """A test, criterion or component that the verifier looks at in rollouts of every task."""

    name: str
    held: int
    rollouts: int
    """Judged rollouts that have it."""
    passed_without: int
    """Rollouts that passed though it does not hold."""


class UsageSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A quantity such as tokens or seconds, over all rollouts that record it, and passing against failing."""

    name: str
    n: int
    total: float
    mean: float
    median: float
    passed_n: int
    passed_median: float | None
    failed_n: int
    failed_median: float | None


class Variance(msgspec.Struct, frozen=True, kw_only=True):
    """Spread of task scores: `between` tasks, and `within` a task across repeats."""

    total: float | None
    within: float | None
    between: float | None
    reliability: float | None
    se_new_tasks: float | None
    se_same_tasks: float | None
    reason: str | None = None


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """Every number of a run; each carries its denominator or the reason why it is missing."""

    headline: str
    """`pass_at_1` or `mean_reward`."""
    headline_why: str
    measures: Mapping[str, Measure]
    pass_at: Mapping[int, Measure]
    pass_hat: Mapping[int, Measure]
    k: int | None
    scores: tuple[HeadlineScore, ...]
    baselines: tuple[Measure, ...]
    counts: Mapping[str, int | None]
    buckets: Mapping[str, int]
    bucket_tasks: Mapping[str, tuple[str, ...]]
    incomplete_tasks: int
    funnel: Funnel
    slices: Mapping[str, tuple[SliceValue, ...]]
    usage: tuple[UsageSummary, ...]
    variance: Variance
    parts: tuple[ScorePart, ...] = ()
    """What the verifier looks at in every rollout, what holds least often first."""
    span: float = 1.0
    """How far apart the scores of two tasks can lie: 1, or as far as rewards do that have a scale of their own."""
    in_points: bool = True
    """The score lies between 0 and 1, and a hundredth of it is called a point."""
    doubts: tuple[str, ...] = ()
    """Why "pass" may not mean what the benchmark means."""


class TaskResult(msgspec.Struct, frozen=True, kw_only=True):
    """One task: a row of tasks.jsonl."""

    task_id: str
    bucket: str
    rollouts: int
    judged: int
    passed: int
    failed: int
    errored: int
    unscored: int
    missing: int | None
    mean_reward: float | None
    score: float | None
    locations: tuple[str, ...]
    findings: tuple[str, ...]
    slices: Mapping[str, str]
    modes: Mapping[str, int] = msgspec.field(default_factory=dict)
    """How its failures failed, by the name of the mode."""
    cause: TaskCause | None = None
    """For a task with a rollout that did not pass, where a diagnosis was made."""


class RunAnalysis(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One run with everything that was made of it."""

    run: Run
    metrics: Metrics
    make_tasks: Callable[[], tuple[TaskResult, ...]]
    recorded: tuple[RecordedNumber, ...] = ()
    diagnosis: Diagnosis | None = None
    readers: ReaderStatistics | None = None
    """How far readers agree, and what their sample says of the rest; None where no reader spoke."""
    why_not: str = ""
    """Why there is no diagnosis."""

    def __repr__(self) -> str:
        score = self.metrics.measures.get(self.metrics.headline)
        value = f"{score.value:.3f}" if score is not None and score.value is not None else "no score"
        counts = self.metrics.counts
        return f"{self.run.name!r}: {value}, {counts['total_tasks']} tasks, {counts['total_rollouts']} rollouts"

    @property
    def attributions(self) -> Attributions | None:
        """What became of each rollout and why; None where trajectories were not read."""
        return self.diagnosis.partition.attributions if self.diagnosis is not None else None

    @cached_property
    def tasks(self) -> tuple[TaskResult, ...]:
        """Every task in order; made when first asked for, since a large run has many."""
        return self.make_tasks()


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `blade analyze RUN...`."""

    runs: tuple[RunAnalysis, ...]
    notes: tuple[str, ...] = ()
    """The user's own words about the run; quoted, never counted as evidence."""
    shared: Mapping[tuple[str, str], tuple[int, float, float]] = msgspec.field(default_factory=dict)
    """For two runs: tasks that both have, and the headline of each on them."""
    between: tuple[Between, ...] = ()
    """For each pair of runs that share tasks: what only one of them solves."""
    render: Callable[[Analysis], str] | None = None
    """Turns the analysis into a page, where a pipeline handed that in."""
    write: Callable[[Analysis, Path], None] | None = None
    """Writes the analysis into a folder, where a pipeline handed that in."""

    def __repr__(self) -> str:
        more = f" and {len(self.runs) - MOST_NAMED} more" if len(self.runs) > MOST_NAMED else ""
        return f"Analysis({', '.join(map(repr, self.runs[:MOST_NAMED]))}{more})"

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write what `blade analyze -o FOLDER` writes, and give the folder."""
        if self.write is None:
            raise RequestError("this analysis cannot be written", hint="make one with blade.analyze")
        self.write(self, Path(folder))
        return Path(folder)

    @property
    def tasks(self) -> tuple[TaskResult, ...]:
        """Every task of every run, in order."""
        return tuple(task for each in self.runs for task in each.tasks)

    @property
    def attributions(self) -> pl.DataFrame:
        """One row a rollout of every run: how far it came, its failure mode, who has to act, how sure that is and why."""
        tables = [each.attributions.table for each in self.runs if each.attributions is not None]
        if not tables:
            raise RequestError("no rollout was attributed", hint="analyze without metrics_only")
        first, *others = tables
        for table in others:
            first = first.vstack(table)
        return first

    def _repr_html_(self) -> str:
        return self.render(self) if self.render is not None else ""
