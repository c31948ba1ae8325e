"""The health of a benchmark, from one run or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from blade.benchmark_health.questions import questions
from blade.benchmark_health.suspicion import suspicion
from blade.benchmark_health.values import Health, Plan, Suspect
from blade.model.analysis import RunAnalysis
from blade.model.run import Run
from blade.stats.counts import count
from blade.stats.task_matching import same_tasks
from blade.stats.variance import (
    interaction_variance,
    minimum_detectable_effect,
    paired_se,
    pass_variance,
    repeats_needed,
    tasks_needed,
)

EFFECTS = (0.02, 0.05, 0.10)
ENOUGH_RUNS = 5
ENOUGH_REPEATS = 3


def health(runs: Sequence[RunAnalysis]) -> Health:
    """All that the runs say of their benchmark; tasks are joined to those of the first run."""
    names = _names([one.run for one in runs])
    suspects = suspicion(runs, names)
    noise = _Noise([one.run for one in runs], names)
    judged = [one for one in suspects if one.judged]
    floor, how = _floor(runs)
    reliability = noise.reliability
    return Health(
        benchmark=next((one.run.benchmark for one in runs if one.run.benchmark), None),
        runs=tuple(one.run.name for one in runs),
        models=len({one.run.model for one in runs if one.run.model}),
        tasks=len(suspects),
        questions=questions(runs, suspects, reliability, noise.mde),
        saturation=sum(one.passed == one.judged for one in judged) / len(judged) if judged else None,
        never=sum(one.passed == 0 for one in judged) / len(judged) if judged else None,
        floor=floor,
        floor_how=how,
        discrimination=_discrimination(runs, names),
        reliability=reliability,
        noise=noise.again,
        mde=noise.mde,
        plans=tuple(noise.plans()),
        suspects=suspects,
        settled=tuple(one.task_id for one in suspects if _is_settled(one)),
        worth_running=tuple(one.task_id for one in suspects if 0 < one.passed < one.judged or not one.judged),
        reasons=dict(_reasons(runs, noise)),
    )


def _is_settled(one: Suspect) -> bool:
    return one.judged >= ENOUGH_REPEATS and one.passed in (0, one.judged)


def _names(runs: Sequence[Run]) -> dict[tuple[str, str], str]:
    """For each run's own task its name among all tasks: that of the first run which has it."""
    names = {(runs[0].name, task): task for task in runs[0].tasks["task_id"]}
    for run in runs[1:]:
        known = {other: mine for mine, other in same_tasks(runs[0].tasks, run.tasks).pairs}
        taken = set(names.values())
        for task in run.tasks["task_id"]:
            own = known.get(task)
            names[run.name, task] = own if own is not None else task if task not in taken else f"{run.name}/{task}"
    return names


def _floor(runs: Sequence[RunAnalysis]) -> tuple[float | None, str]:
    found = [b for one in runs for b in one.metrics.baselines if b.value is not None]
    best = max(found, key=lambda b: b.value or 0.0, default=None)
    return (
        (best.value, best.method) if best is not None else (None, "no key says what nothing or one answer would score")
    )


class _Noise:
    """Spread within tasks, between tasks and between runs."""

    def __init__(self, runs: Sequence[Run], names: dict[tuple[str, str], str]) -> None:
        counts = [count(run) for run in runs]
        parts = [pass_variance(one.judged, one.passed) for one in counts]
        within = [part.within for part in parts if part.within is not None]
        self.within = float(np.mean(within)) if within else None
        reliable = [part.reliability for part in parts if part.reliability is not None]
        self.reliability = float(np.mean(reliable)) if reliable else None
        again = [part.se_same_tasks for part in parts if part.se_same_tasks is not None]
        self.again = float(np.mean(again)) if again else None
        self.repeats = int(np.median([np.median(one.judged) for one in counts])) if counts else 0
        self.tasks = max(len(one.tasks) for one in counts)
        self.interaction = _interaction(runs, self.within or 0.0)

    @property
    def mde(self) -> float | None:
        """The effect that two runs of this size find four times in five."""
        if self.within is None or not self.repeats:
            return None
        return minimum_detectable_effect(self._se(self.repeats, self.tasks))

    def _se(self, repeats: int, tasks: int) -> float:
        return paired_se(
            within=self.within or 0.0,
            measured_repeats=self.repeats,
            interaction=self.interaction or 0.0,
            repeats=repeats,
            tasks=tasks,
        )

    def plans(self) -> Iterator[Plan]:
        """What it takes for each of a few effects."""
        if self.within is None or not self.repeats:
            return
        known = {"within": self.within, "measured_repeats": self.repeats, "interaction": self.interaction or 0.0}
        for effect in EFFECTS:
            yield Plan(
                effect=effect,
                repeats=repeats_needed(effect, tasks=self.tasks, **known),  # type: ignore[arg-type]
                tasks=tasks_needed(effect, repeats=self.repeats, **known),  # type: ignore[arg-type]
            )


def _interaction(runs: Sequence[Run], within: float) -> float | None:
    """How much the difference of two runs varies from task to task, beyond noise; None with one run."""
    found = []
    for first, second in combinations(runs, 2):
        pairs = same_tasks(first.tasks, second.tasks).pairs
        scores = [dict(_scores(run)) for run in (first, second)]
        differences = [scores[1][b] - scores[0][a] for a, b in pairs if a in scores[0] and b in scores[1]]
        if len(differences) > 1:
            found.append(interaction_variance(float(np.var(differences, ddof=1)), within))
    return float(np.mean(found)) if found else None


def _scores(run: Run) -> Iterator[tuple[str, float]]:
    counts = count(run)
    for task, passed, judged in zip(counts.tasks, counts.passed.tolist(), counts.judged.tolist(), strict=True):
        if judged:
            yield task, passed / judged


def _discrimination(runs: Sequence[RunAnalysis], names: dict[tuple[str, str], str]) -> float | None:
    """Mean correlation of a task's scores with the runs' scores on the other tasks; needs five runs."""
    if len(runs) < ENOUGH_RUNS:
        return None
    rows = [{names[one.run.name, task]: score for task, score in _scores(one.run)} for one in runs]
    shared = sorted(set.intersection(*(set(row) for row in rows)))
    table = np.asarray([[row[task] for task in shared] for row in rows])
    rest = table.sum(axis=1, keepdims=True) - table
    telling = [place for place in range(len(shared)) if np.ptp(table[:, place]) > 0 and np.ptp(rest[:, place]) > 0]
    if not telling:
        return None
    return float(np.mean([np.corrcoef(table[:, place], rest[:, place])[0, 1] for place in telling]))


def _reasons(runs: Sequence[RunAnalysis], noise: _Noise) -> Iterator[tuple[str, str]]:
    if len(runs) < ENOUGH_RUNS:
        yield "discrimination", f"needs {ENOUGH_RUNS} runs, and there are {len(runs)}"
    if noise.within is None:
        yield "reliability", "no task has two judged repeats"
        yield "mde", "no task has two judged repeats"
    if noise.interaction is None:
        yield (
            "plans",
            "one run: how much two runs differ from task to task is not known, so plans are the least it takes",
        )
