"""BLADE's own numbers beside the reference's, under `blade/...`: fractions, each with the tasks or rollouts it rests on.

A rollout passes when its reward reaches the threshold. What has no reward is not judged, and what was expected and is
not there is counted, never dropped. A value that cannot be had is None, and `blade/reasons` says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from blade.model.rollout import PASS_TOLERANCE
from blade.stats.intervals import rate_interval
from blade.stats.pass_at_k import pass_at_k
from blade_gym.profile.groups import Columns, Floats, Integers

REASONS = "blade/reasons"


class Tried(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The rollouts of an agent, task by task."""

    rewards: Floats
    """Task x repeat in order of repeat; NaN where a rollout has no reward, or is not there."""
    rows: Integers
    """Rollouts of each task that have a row."""
    expected: Integers | None
    """Rollouts that each task was to have, tasks without any row included; None where nobody says."""
    errored: int = 0
    """Expected or not, rollouts that stand only among the failures."""
    threshold: float = 1.0

    @property
    def judged(self) -> Integers:
        return np.asarray(np.count_nonzero(~np.isnan(self.rewards), axis=1), dtype=np.int64)

    @property
    def passed(self) -> Integers:
        reached = self.rewards >= self.threshold - PASS_TOLERANCE
        return np.asarray(np.count_nonzero(reached, axis=1), dtype=np.int64)

    @property
    def variances(self) -> Floats:
        """Sample variance of the rewards of each task; NaN below two rewards."""
        there, judged = ~np.isnan(self.rewards), self.judged
        means = np.where(there, self.rewards, 0.0).sum(axis=1) / np.maximum(judged, 1)
        squares = np.where(there, (self.rewards - means[:, None]) ** 2, 0.0).sum(axis=1)
        return np.where(judged > 1, squares / np.maximum(judged - 1, 1), np.nan)


def tried_of(found: Columns, due: Mapping[int, int] | None, *, errored: int = 0, threshold: float = 1.0) -> Tried:
    """The rollouts of one agent; `due` says how many each task was to have, and also names tasks without any."""
    planned = np.array(sorted(due or ()), dtype=np.int64)
    tasks = np.union1d(found.tasks, planned)
    places = np.searchsorted(tasks, found.tasks)
    sizes = np.bincount(places, minlength=len(tasks))
    return Tried(
        rewards=reward_table(found.rewards, places, sizes),
        rows=sizes,
        expected=np.array([due.get(task, 0) for task in tasks.tolist()], dtype=np.int64) if due is not None else None,
        errored=errored,
        threshold=threshold,
    )


def reward_table(rewards: Floats, places: Integers, sizes: Integers) -> Floats:
    """Task x repeat, in order of repeat; NaN where a rollout has no reward or is not there."""
    starts = np.cumsum(sizes) - sizes
    table = np.full((len(sizes), int(sizes.max(initial=0))), np.nan)
    table[places, np.arange(len(rewards)) - starts[places]] = rewards
    return table


def of_agent(tried: Tried) -> dict[str, Any]:
    """Numbers over all tasks of an agent."""
    judged, passed = tried.judged, tried.passed
    found: dict[str, Any] = _passes(judged, passed)
    found |= _share("blade/rollout_pass_rate", int(passed.sum()), int(judged.sum()), "no rollout was judged")
    found |= _mean("blade/variance", tried.variances, "no task has two judged rollouts")
    found |= _coverage(tried)
    found |= _buckets(judged, passed)
    found["blade/pass_threshold"] = tried.threshold
    return _with_reasons(found)


def of_tasks(tried: Tried) -> list[dict[str, Any]]:
    """Numbers of each single task: how often it passes, how much its rewards vary, how much of it there is."""
    judged, passed = tried.judged, tried.passed
    most = int(judged.max()) if len(judged) else 0
    best = _task_pass_at(judged, passed, most)
    variances = tried.variances.tolist()
    expected = (tried.expected if tried.expected is not None else tried.rows).tolist()
    return [
        {
            "blade/pass_rate": done / total if total else None,
            "blade/passed": done,
            "blade/judged": total,
            f"blade/pass@{most}": chance if chance == chance else None,
            "blade/variance": variance if variance == variance else None,
            "blade/coverage": total / due if due else None,
            "blade/bucket": bucket(total, done),
        }
        for done, total, chance, variance, due in zip(
            passed.tolist(), judged.tolist(), best, variances, expected, strict=True
        )
    ]


def bucket(judged: int, passed: int) -> str:
    """Where a task belongs: always_pass, sometimes_pass, never_pass, or missing where none was judged."""
    if judged == 0:
        return "missing"
    return "always_pass" if passed == judged else "sometimes_pass" if passed else "never_pass"


def _passes(judged: Integers, passed: Integers) -> dict[str, Any]:
    """pass@k for every k that any task has, each with the number of tasks that have it."""
    found: dict[str, Any] = {}
    for k in range(1, max(int(judged.max(initial=0)), 1) + 1):
        tasks = pass_at_k(judged, passed, k)
        found[f"blade/pass@{k}"] = tasks.mean if tasks.n else "no rollout was judged"
        found[f"blade/pass@{k}/tasks"] = tasks.n
        if k == 1:
            limits = rate_interval(tasks.values, float(judged.sum()), None) if tasks.n else None
            found["blade/pass@1/ci"] = [limits.low, limits.high] if limits else "too few tasks for an interval"
    return found


def _task_pass_at(judged: Integers, passed: Integers, k: int) -> list[float]:
    values = np.full(len(judged), np.nan)
    if k:
        tasks = pass_at_k(judged, passed, k)
        values[tasks.counted] = tasks.values
    return [float(value) for value in values]


def _coverage(tried: Tried) -> dict[str, Any]:
    judged, rows = int(tried.judged.sum()), int(tried.rows.sum())
    found: dict[str, Any] = {"blade/judged_rollouts": judged, "blade/unscored_rollouts": rows - judged}
    found["blade/errored_rollouts"] = tried.errored
    if tried.expected is None:
        why = "no materialized inputs say what was expected"
        names = ("expected_rollouts", "missing_rollouts", "coverage", "pass@1/all_expected")
        return found | {f"blade/{name}": why for name in names}
    expected = int(tried.expected.sum())
    found |= {"blade/expected_rollouts": expected, "blade/missing_rollouts": expected - rows - tried.errored}
    found |= _share("blade/coverage", judged, expected, "nothing was expected")
    due = tried.expected > 0
    found["blade/pass@1/all_expected"] = (
        float((tried.passed[due] / tried.expected[due]).mean()) if due.any() else "nothing was expected"
    )
    return found


def _buckets(judged: Integers, passed: Integers) -> dict[str, Any]:
    names = ("always_pass", "sometimes_pass", "never_pass", "missing")
    where = [bucket(total, done) for total, done in zip(judged.tolist(), passed.tolist(), strict=True)]
    return {"blade/tasks": len(where)} | {f"blade/tasks/{name}": where.count(name) for name in names}


def _share(name: str, part: int, whole: int, why_not: str) -> dict[str, Any]:
    return {name: part / whole if whole else why_not}


def _mean(name: str, values: Floats, why_not: str) -> dict[str, Any]:
    known = values[~np.isnan(values)]
    return {name: float(known.mean()) if len(known) else why_not, f"{name}/tasks": len(known)}


def _with_reasons(found: dict[str, Any]) -> dict[str, Any]:
    """A text stands where a number could not be had: it becomes the reason of a None."""
    reasons = {name: why for name, why in found.items() if isinstance(why, str)}
    numbers = {name: None if name in reasons else value for name, value in found.items()}
    return numbers | ({REASONS: reasons} if reasons else {})
