"""Every number of one run, from its tables, and beside it the numbers that its harness printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from blade.model.analysis import Metrics, RunAnalysis, TaskResult, Variance
from blade.model.measure import Measure
from blade.model.pattern import pattern_of
from blade.model.run import RecordedNumber, Run, Stated
from blade.stats import scores
from blade.stats.breakdowns import baselines, funnel, parts, slices, usage
from blade.stats.counts import JUDGED, TaskCounts, count
from blade.stats.headline import bucket_names, buckets, doubts, headline, scale
from blade.stats.pass_at_k import of_repeats, pass_at, pass_at_k, pass_hat, retry_value, usual_repeats
from blade.stats.variance import pass_variance, reward_variance

MOST_REFS = 8
"""Locations listed for a task in tasks.jsonl."""
_STAT = pattern_of(r"^(mean|max|min|median|std)/(reward|input_tokens|output_tokens|total_tokens)$")
_PASS = pattern_of(r"^pass@(\d+)/accuracy$")
_AVERAGE = pattern_of(r"^pass@1\[avg-of-(\d+)\]/accuracy$")

_KNOWN = pattern_of("|".join(pattern.pattern for pattern in (_STAT, _PASS, _AVERAGE)) + "|^(?:accuracy|resolved)$")

_MEANS = ("accuracy", "resolved", "mean/reward")
"""Means of rewards, which some harnesses take over the rollouts with a verdict and others over all."""

_STATS: dict[str, Callable[[pl.Series], object]] = {
    "mean": pl.Series.mean,
    "max": pl.Series.max,
    "min": pl.Series.min,
    "median": pl.Series.median,
    "std": lambda values: values.std() if len(values) > 1 else 0.0,
}


def measure(
    run: Run,
    whole: Run,
    stages: Sequence[str] = (),
    counts: TaskCounts | None = None,
    attributed: pl.DataFrame | None = None,
) -> RunAnalysis:
    """Every number of one run; what its sidecars state is compared with the `whole`, before anything was left out.

    `stages` are those of a package's own funnel; `counts` those of the run, where they were counted before;
    `attributed` the table of attributions, where rollouts were attributed.
    """
    counts = counts or count(run)
    kind, why = headline(run)
    in_bucket, names = buckets(run, counts, kind), bucket_names(kind)
    tasks = np.array(counts.tasks, dtype=object)
    by_bucket = {name: tuple(tasks[in_bucket == place]) for place, name in enumerate(names)}
    k, valued = usual_repeats(counts), scale(run)
    # Every k up to 8, then doublings, and the last.
    steps = sorted({n for n in (*range(1, 9), *(2**power for power in range(4, 12)), k) if n <= k})
    best_of = {n: pass_at(counts, n) for n in steps}
    all_of = {n: pass_hat(counts, n) for n in steps}
    metrics = Metrics(
        headline=kind,
        headline_why=why,
        measures=_measures(run, counts, best_of[k], all_of[k], k),
        pass_at=best_of,
        pass_hat=all_of,
        k=k,
        scores=(
            scores.as_recorded_score(counts, kind),
            scores.judged_score(counts, kind),
            scores.all_expected_score(run, counts, kind),
            scores.infra_excluded_score(run, counts, kind, None if attributed is None else attributed["infra"]),
            scores.suspects_excluded_score(counts, kind, None),
        ),
        baselines=baselines(run),
        counts=_counts(run, counts),
        buckets={name: len(tasks) for name, tasks in by_bucket.items()},
        bucket_tasks=by_bucket,
        incomplete_tasks=int(np.sum(counts.judged < counts.expected)),
        funnel=funnel(run, stages, None if attributed is None else attributed["stage"]),
        slices=slices(run, counts, kind),
        usage=usage(run),
        variance=_variance(run, counts, kind),
        parts=parts(run),
        span=valued.top - valued.floor,
        in_points=valued.in_points,
        doubts=doubts(run),
    )
    return RunAnalysis(
        run=run,
        metrics=metrics,
        make_tasks=lambda: _tasks(run, counts, [names[place] for place in in_bucket.tolist()]),
        recorded=recompute(whole),
    )


def _measures(run: Run, counts: TaskCounts, best: Measure, every: Measure, k: int) -> dict[str, Measure]:
    """By name; `best` is pass@k and `every` pass^k, which are called by other names where they stand for the run."""
    measures = (
        scores.as_measure(scores.judged_score(counts, "pass_at_1"), "pass_at_1"),
        scores.as_measure(scores.all_expected_score(run, counts, "pass_at_1"), "pass_at_1_all_expected"),
        scores.rollout_pass_rate(counts),
        scores.mean_reward(counts),
        scores.coverage(run, counts),
        of_repeats("pass_at_k", best, k),
        of_repeats("consistency", every, k),
        retry_value(counts, k),
    )
    return {measure.name: measure for measure in measures}


def _counts(run: Run, counts: TaskCounts) -> dict[str, int | None]:
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


def _variance(run: Run, counts: TaskCounts, kind: str) -> Variance:
    if kind == "pass_at_1":
        return pass_variance(counts.judged, counts.passed)
    rows = run.rollouts.select("task_id", "outcome", "reward")
    judged = rows.filter(JUDGED)
    return reward_variance(judged["task_id"].to_numpy(), judged["reward"].to_numpy())


def _tasks(run: Run, counts: TaskCounts, in_bucket: list[str]) -> tuple[TaskResult, ...]:
    known = run.expected_from is not None
    columns = [name for name in run.tasks.columns if name.startswith("slice.")]
    sliced = run.tasks.select("key_expects", *columns)
    names = [name.removeprefix("slice.") for name in sliced.columns]
    table = _locations(run)
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


def _locations(run: Run) -> pl.DataFrame:
    """For each task in order: repeats that did not pass, and codes of the rules that fired."""
    bad = run.rollouts.select("task_id", "repeat", "outcome").filter(
        pl.col("outcome").is_in(["failed", "errored", "unscored"])
    )
    repeats_ = bad.group_by("task_id", maintain_order=True).agg(pl.col("repeat").head(MOST_REFS).alias("repeats"))
    fired = run.rollouts.select("task_id", "fired").drop_nulls("fired").explode("fired")
    codes = fired.group_by("task_id").agg(pl.col("fired").struct.field("code").unique().sort().alias("codes"))
    tasks = run.tasks.select("task_id")
    for part in (repeats_, codes):
        tasks = tasks.join(part, on="task_id", how="left", maintain_order="left")
    return tasks.drop("task_id")


def recompute(run: Run) -> tuple[RecordedNumber, ...]:
    """Each stated number that rows can give, beside what they give; numbers of single tasks are summed up in one line."""
    if not run.stated:
        return ()
    main = [artifact.path for artifact in run.artifacts if artifact.role == "rollouts"]
    about = ("task_id", "repeat", "artifact", "reward", "input_tokens", "output_tokens")
    rows = run.rollouts.select(about).filter(pl.col("artifact").is_in(main))
    whole = [_recorded(stated, rows, run.rollouts.height) for stated in run.stated if stated.index is None]
    per_task = [stated for stated in run.stated if stated.index is not None]
    sources = sorted({stated.source for stated in per_task})
    return (
        *(entry for entry in whole if entry is not None),
        *(_tasks_that_agree(run, rows, per_task, source) for source in sources),
    )


def _recorded(stated: Stated, rows: pl.DataFrame, expected: int) -> RecordedNumber | None:
    if not _KNOWN.match(stated.name):
        return None
    value = _recomputed(stated.name, rows)
    reason = None if value is not None else "no rollout has what it is made of"
    is_mean = value is not None and stated.name in _MEANS and rows["reward"].count() < expected
    return RecordedNumber(
        name=stated.name,
        source=stated.source,
        recorded=stated.value,
        recomputed=value,
        all_expected=float(rows["reward"].sum()) / expected if is_mean else None,
        reason=reason,
    )


def _recomputed(name: str, rows: pl.DataFrame) -> float | None:
    if name in _MEANS:
        return _number(rows["reward"].mean())
    if match := _STAT.match(name):
        return _statistic(match[1], match[2], rows)
    if match := _PASS.match(name):
        return _pass_at(rows, int(match[1]))
    if match := _AVERAGE.match(name):
        return _average_of(rows, int(match[1]))
    return None


def _statistic(stat: str, field: str, rows: pl.DataFrame) -> float | None:
    column = rows["input_tokens"] + rows["output_tokens"] if field == "total_tokens" else rows[field]
    known = column.drop_nulls()
    complete = len(known) == rows.height or field == "reward"
    return _number(_STATS[stat](known)) if complete and len(known) else None


def _by_task(rows: pl.DataFrame) -> list[list[float]]:
    grouped = rows.drop_nulls("reward").sort("task_id", "repeat").group_by("task_id", maintain_order=True).agg("reward")
    return [list(rewards) for rewards in grouped["reward"]]


def _pass_at(rows: pl.DataFrame, k: int) -> float | None:
    """NeMo Gym's pass@k in percent: unbiased for 0/1 rewards, the best of the first k for others."""
    tasks = [rewards for rewards in _by_task(rows) if len(rewards) >= k]
    if not tasks:
        return None
    values = []
    for rewards in tasks:
        if all(reward in (0.0, 1.0) for reward in rewards):
            values.append(float(pass_at_k([len(rewards)], [int(sum(rewards))], k).values[0]))
        else:
            values.append(max(rewards[:k]))
    return 100 * float(np.mean(values))


def _average_of(rows: pl.DataFrame, k: int) -> float | None:
    tasks = _by_task(rows)
    return 100 * float(np.mean([np.mean(rewards[:k]) for rewards in tasks])) if tasks else None


def _tasks_that_agree(run: Run, rows: pl.DataFrame, stated: list[Stated], source: str) -> RecordedNumber:
    """How many tasks have the mean reward that the sidecar gives them."""
    means = (
        rows.group_by("task_id").agg(pl.col("reward").mean()).join(run.tasks.select("task_id", "index"), on="task_id")
    )
    by_index = dict(means.drop_nulls("index").select("index", "reward").iter_rows())
    mine = [entry for entry in stated if entry.source == source]
    same = sum(1 for entry in mine if _close(by_index.get(entry.index), entry.value))
    return RecordedNumber(
        name="tasks whose mean/reward agrees", source=source, recorded=float(len(mine)), recomputed=float(same)
    )


def _close(value: object, stated: float) -> bool:
    return isinstance(value, int | float) and abs(value - stated) <= 1e-9 * max(1.0, abs(stated))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
