"""The numbers of a run's aggregate metrics file, in NeMo Gym's names and units (pass@k in percent)."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

Row = dict[str, Any]
Values = list[float]

STATISTICS: dict[str, Callable[[Values], float]] = {
    "mean": statistics.fmean,
    "max": max,
    "min": min,
    "median": statistics.median,
    "std": statistics.stdev,
}
NOT_MEASURED = ("_ng_task_index", "_ng_rollout_index", "_ng_attempt_index")


def numbers_of(row: Row) -> dict[str, float]:
    """Every numeric or boolean field of the result, and the numbers of its usage."""
    fields = {name: value for name, value in row.items() if name not in NOT_MEASURED}
    fields |= row["response"]["usage"]
    return {name: float(value) for name, value in fields.items() if isinstance(value, (bool, int, float))}


def describe(rows: Sequence[Row]) -> dict[str, float]:
    """Flat keys `<statistic>/<field>` over the rows."""
    numbers = [numbers_of(row) for row in rows]
    names = list(numbers[0])
    return {
        f"{statistic}/{name}": compute([entry[name] for entry in numbers])
        for statistic, compute in STATISTICS.items()
        for name in names
    }


def by_task(rows: Sequence[Row]) -> dict[int, list[Row]]:
    tasks = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["_ng_task_index"], row["_ng_rollout_index"])):
        tasks[row["_ng_task_index"]].append(row)
    return tasks


def pass_at_k(rewards: Values, k: int) -> float:
    """Chance that at least one of k draws without replacement passes; rewards are 0 or 1."""
    misses = rewards.count(0.0)
    return 1.0 - math.comb(misses, k) / math.comb(len(rewards), k)


def pass_metrics(tasks: list[Values]) -> dict[str, Any]:
    """The pass@k family. A task with fewer than k rollouts says nothing about pass@k and is left out of it."""
    metrics: dict[str, Any] = {}
    most = max(map(len, tasks))
    columns = [[task[j] for task in tasks if len(task) > j] for j in range(most)]
    per_run = [100 * statistics.fmean(column) for column in columns]
    for k in range(1, most + 1):
        averages = [statistics.fmean(task[:k]) for task in tasks]
        metrics[f"pass@{k}/accuracy"] = 100 * statistics.fmean(pass_at_k(t, k) for t in tasks if len(t) >= k)
        metrics[f"pass@1[avg-of-{k}]/accuracy"] = 100 * statistics.fmean(averages)
        if k >= 2:
            spread = statistics.stdev(per_run[:k])
            inside = statistics.fmean(statistics.stdev(task[:k]) for task in tasks)
            metrics[f"pass@1[avg-of-{k}]/accuracy/std_dev_across_runs"] = spread
            metrics[f"pass@1[avg-of-{k}]/accuracy/std_err_across_runs"] = spread / math.sqrt(k)
            metrics[f"pass@1[avg-of-{k}]/accuracy/avg_sample_std_dev"] = inside
    metrics["per_sample_aggregate"] = {"accuracy": per_run}
    return metrics


def rollout_info(row: Row) -> Row:
    task, repeat = row["_ng_task_index"], row["_ng_rollout_index"]
    place = {"rollout_id": f"{task}:{repeat}", "_ng_task_index": task, "_ng_rollout_index": repeat}
    return place | {name: int(value) if value.is_integer() else value for name, value in numbers_of(row).items()}


def group_row(index: int, rows: list[Row]) -> Row:
    return {
        "_ng_task_index": index,
        **describe(rows),
        "sample": {"agent_ref": {"name": "agent"}},
        "num_rollouts": len(rows),
        "expected_num_rollouts": len(rows),
        "missing_num_rollouts": 0,
        "reward_profile_completion_pct": 100.0,
        "rollout_infos": [rollout_info(row) for row in rows],
    }


def aggregate_metrics(rows: list[Row]) -> Row:
    tasks = by_task(rows)
    pooled = describe(rows)
    passes = pass_metrics([[row["reward"] for row in task] for task in tasks.values()])
    most = max(map(len, tasks.values()))
    key_names = [name for name in pooled if name.startswith("mean/")]
    key_passes = ("pass@1/accuracy", f"pass@{most}/accuracy", f"pass@1[avg-of-{most}]/accuracy")
    return {
        "agent_metrics": pooled | passes,
        "key_metrics": {name: pooled[name] for name in key_names} | {name: passes[name] for name in key_passes},
        "group_level_metrics": [group_row(index, group) for index, group in tasks.items()],
    }
