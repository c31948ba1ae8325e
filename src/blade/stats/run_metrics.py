"""Every number of one run, from its tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from blade.model.analysis import HeadlineScore, Metrics, RunAnalysis, TaskResult, Variance
from blade.model.measure import Measure
from blade.model.rollout import Outcome
from blade.model.run import Run
from blade.stats import repeats, scores
from blade.stats.baselines import baselines
from blade.stats.buckets import bucket_names, buckets
from blade.stats.counts import Counts, Integers, count
from blade.stats.funnel import funnel
from blade.stats.headline import doubts, headline
from blade.stats.recorded_numbers import recompute
from blade.stats.rollout_value import scale
from blade.stats.score_parts import parts
from blade.stats.slices import slices
from blade.stats.usage import usage
from blade.stats.variance import pass_variance, reward_variance

MOST_REFS = 8
"""Places listed for a task in tasks.jsonl."""


def measure(
    run: Run,
    whole: Run,
    stages: Sequence[str] = (),
    counts: Counts | None = None,
    infra: frozenset[str] = frozenset(),
) -> RunAnalysis:
    """Every number of one run; what its sidecars state is compared with the `whole`, before anything was left out.

    `stages` are those of a package's own funnel; `counts` those of the run, where they were counted before;
    `infra` the codes of rules that see machinery at work.
    """
    counts = counts or count(run)
    kind, why = headline(run)
    in_bucket = buckets(run, counts, kind)
    return RunAnalysis(
        run=run,
        metrics=_metrics(run, counts, kind, why, in_bucket, stages, infra),
        make_tasks=lambda: _tasks(run, counts, list(map(bucket_names(kind).__getitem__, in_bucket.tolist()))),
        recorded=recompute(whole),
    )


def _metrics(
    run: Run,
    counts: Counts,
    kind: str,
    why: str,
    in_bucket: Integers,
    stages: Sequence[str],
    infra: frozenset[str],
) -> Metrics:
    k = repeats.usual_repeats(counts)
    valued = scale(run)
    tasks = np.array(counts.tasks, dtype=object)
    by_bucket = {name: tuple(tasks[in_bucket == place]) for place, name in enumerate(bucket_names(kind))}
    pass_at = {n: repeats.pass_at(counts, n) for n in _steps_to(k)}
    pass_hat = {n: repeats.pass_hat(counts, n) for n in _steps_to(k)}
    return Metrics(
        headline=kind,
        headline_why=why,
        measures=_measures(run, counts, pass_at[k], pass_hat[k], k),
        pass_at=pass_at,
        pass_hat=pass_hat,
        k=k,
        scores=_scores(run, counts, kind, infra),
        baselines=baselines(run),
        counts=_counts(run, counts),
        buckets={name: len(tasks) for name, tasks in by_bucket.items()},
        bucket_tasks=by_bucket,
        incomplete_tasks=int(np.sum(counts.judged < counts.expected)),
        funnel=funnel(run, stages),
        slices=slices(run, counts, kind),
        usage=usage(run),
        variance=_variance(run, counts, kind),
        parts=parts(run),
        span=valued.top - valued.floor,
        in_points=valued.in_points,
        doubts=doubts(run),
    )


def _steps_to(k: int) -> list[int]:
    """Every k up to 8, then doublings, and the last."""
    wanted = [*range(1, 9), *(2**power for power in range(4, 12)), k]
    return sorted({n for n in wanted if n <= k})


def _scores(run: Run, counts: Counts, kind: str, infra: frozenset[str]) -> tuple[HeadlineScore, ...]:
    return (
        scores.as_recorded_score(counts, kind),
        scores.judged_score(counts, kind),
        scores.all_expected_score(run, counts, kind),
        scores.infra_excluded_score(run, counts, kind, infra),
        scores.suspects_excluded_score(counts, kind, None),
    )


def _measures(run: Run, counts: Counts, best: Measure, every: Measure, k: int) -> dict[str, Measure]:
    """By name; `best` is pass@k and `every` pass^k, which are called by other names where they stand for the run."""
    judged = scores.judged_score(counts, "pass_at_1")
    expected = scores.all_expected_score(run, counts, "pass_at_1")
    found = (
        scores.as_measure(judged, "pass_at_1"),
        scores.as_measure(expected, "pass_at_1_all_expected"),
        scores.rollout_pass_rate(counts),
        scores.mean_reward(counts),
        scores.coverage(run, counts),
        repeats.of_repeats("pass_at_k", best, k),
        repeats.of_repeats("consistency", every, k),
        repeats.retry_value(counts, k),
    )
    return {one.name: one for one in found}


def _counts(run: Run, counts: Counts) -> dict[str, int | None]:
    known = run.expected_from is not None
    return {
        "total_tasks": len(counts.tasks),
        "total_rollouts": int(counts.rows.sum()),
        "expected_rollouts": int(counts.expected.sum()) if known else None,
        "passed_rollouts": int(counts.passed.sum()),
        "failed_rollouts": int(counts.failed.sum()),
        "errored_rollouts": int(counts.errored.sum()),
        "unscored_rollouts": int(counts.unscored.sum()),
        "missing_rollouts": int(counts.missing.sum()) if known else None,
        "duplicate_rollouts": run.duplicates,
    }


def _variance(run: Run, counts: Counts, kind: str) -> Variance:
    if kind == "pass_at_1":
        return pass_variance(counts.judged, counts.passed)
    rows = run.rollouts.select("task_id", "outcome", "reward")
    judged = rows.filter(pl.col("outcome").is_in([str(Outcome.PASSED), str(Outcome.FAILED)]))
    return reward_variance(judged["task_id"].to_numpy(), judged["reward"].to_numpy())


def _tasks(run: Run, counts: Counts, in_bucket: list[str]) -> tuple[TaskResult, ...]:
    known = run.expected_from is not None
    columns = [name for name in run.tasks.columns if name.startswith("slice.")]
    sliced = run.tasks.select("key_expects", *columns)
    names = [name.removeprefix("slice.") for name in sliced.columns]
    table = _places(run)
    whole = ("rows", "judged", "passed", "failed", "errored", "unscored", "missing", "recorded")
    numbers = zip(*(getattr(counts, name).tolist() for name in whole), counts.recorded_sum.tolist(), strict=True)
    found = []
    for task, bucket, cells, (repeats_, codes), values in zip(
        counts.tasks, in_bucket, numbers, table.iter_rows(), sliced.iter_rows(), strict=True
    ):
        rows, judged, passed, failed, errored, unscored, missing, recorded, rewards = cells
        found.append(
            TaskResult(
                task_id=task,
                bucket=bucket,
                rollouts=rows,
                judged=judged,
                passed=passed,
                failed=failed,
                errored=errored,
                unscored=unscored,
                missing=missing if known else None,
                mean_reward=rewards / recorded if recorded else None,
                score=passed / judged if judged else None,
                locations=tuple(f"{task}#{repeat}" for repeat in repeats_ or ()),
                findings=tuple(codes or ()),
                slices={name: value for name, value in zip(names, values, strict=True) if value is not None},
            )
        )
    return tuple(found)


def _places(run: Run) -> pl.DataFrame:
    """For each task in order: repeats that did not pass, and codes of the rules that fired."""
    bad = run.rollouts.select("task_id", "repeat", "outcome").filter(
        pl.col("outcome").is_in(["failed", "errored", "unscored"])
    )
    repeats_ = bad.group_by("task_id", maintain_order=True).agg(pl.col("repeat").head(MOST_REFS).alias("places"))
    fired = run.rollouts.select("task_id", "fired").drop_nulls("fired").explode("fired")
    codes = fired.group_by("task_id").agg(pl.col("fired").struct.field("code").unique().sort().alias("codes"))
    tasks = run.tasks.select("task_id")
    for part in (repeats_, codes):
        tasks = tasks.join(part, on="task_id", how="left", maintain_order="left")
    return tasks.drop("task_id")
