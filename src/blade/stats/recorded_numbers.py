"""Numbers that a harness printed, made again from its rows by the formulas it uses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from blade.model.pattern import pattern_of
from blade.model.run import RecordedNumber, Run, Stated
from blade.stats.pass_at_k import pass_at_k

_STAT = pattern_of(r"^(mean|max|min|median|std)/(reward|input_tokens|output_tokens|total_tokens)$")
_PASS = pattern_of(r"^pass@(\d+)/accuracy$")
_AVERAGE = pattern_of(r"^pass@1\[avg-of-(\d+)\]/accuracy$")

_KNOWN = pattern_of("|".join(pattern.pattern for pattern in (_STAT, _PASS, _AVERAGE)) + "|^accuracy$")

_STATS: dict[str, Callable[[pl.Series], object]] = {
    "mean": pl.Series.mean,
    "max": pl.Series.max,
    "min": pl.Series.min,
    "median": pl.Series.median,
    "std": lambda values: values.std() if len(values) > 1 else 0.0,
}


def recompute(run: Run) -> tuple[RecordedNumber, ...]:
    """Each stated number that rows can give, beside what they give; numbers of single tasks are summed up in one line."""
    if not run.stated:
        return ()
    rows = _main_rows(run)
    whole = [_recorded(stated, rows) for stated in run.stated if stated.index is None]
    per_task = [stated for stated in run.stated if stated.index is not None]
    sources = sorted({stated.source for stated in per_task})
    return (
        *(entry for entry in whole if entry is not None),
        *(_tasks(run, rows, per_task, source) for source in sources),
    )


def _main_rows(run: Run) -> pl.DataFrame:
    main = [artifact.path for artifact in run.artifacts if artifact.role == "rollouts"]
    about = ("task_id", "repeat", "artifact", "reward", "input_tokens", "output_tokens")
    return run.rollouts.select(about).filter(pl.col("artifact").is_in(main))


def _recorded(stated: Stated, rows: pl.DataFrame) -> RecordedNumber | None:
    if not _KNOWN.match(stated.name):
        return None
    value = _value(stated.name, rows)
    reason = None if value is not None else "no rollout has what it is made of"
    return RecordedNumber(
        name=stated.name, source=stated.source, recorded=stated.value, recomputed=value, reason=reason
    )


def _value(name: str, rows: pl.DataFrame) -> float | None:
    if name == "accuracy":
        return _number(rows["reward"].mean())
    if match := _STAT.match(name):
        return _stat(match[1], match[2], rows)
    if match := _PASS.match(name):
        return _pass_at(rows, int(match[1]))
    if match := _AVERAGE.match(name):
        return _average_of(rows, int(match[1]))
    return None


def _stat(stat: str, field: str, rows: pl.DataFrame) -> float | None:
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


def _tasks(run: Run, rows: pl.DataFrame, stated: list[Stated], source: str) -> RecordedNumber:
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
