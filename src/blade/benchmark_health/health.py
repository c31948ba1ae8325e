"""The health of a benchmark, from one run or several: its numbers, and how suspect each task is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np
import polars as pl

from blade.analysis import analyze, load
from blade.benchmark_health.questions import questions
from blade.benchmark_health.values import BenchmarkNumbers, Health, Quoted, Reason, Suspect
from blade.model.analysis import RunAnalysis
from blade.model.diagnosis import Doubt
from blade.model.errors import RequestError
from blade.model.finding import Evidence
from blade.model.options import Options
from blade.model.run import Run
from blade.stats.counts import JUDGED, count
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
WEIGHTS = {(True, False): 0.8, (True, True): 0.55, (False, False): 0.35, (False, True): 0.2}
"""By strong or weak, and by stable or preview: one weak signal, and two of rules in preview, stay below `SUSPECT`."""
PASSED_BEFORE = 0.5
"""What a doubt about the key is worth where some rollout passes the task: a key that some rollout meets can be met."""

Names = Mapping[tuple[str, str], str]
"""For each run and its own task id the task's name among all tasks: that of the first run which has it."""


def health(inputs: Sequence[str], options: Options) -> Health:
    """The health of the benchmark that the inputs are runs of; raises where they do not share tasks."""
    return health_of_loaded(load(inputs, options), options)


def health_of_loaded(runs: Sequence[Run], options: Options) -> Health:
    """The health of the benchmark of the runs; raises where they do not share tasks."""
    analyzed = analyze(runs, options).runs
    for other in analyzed[1:]:
        if not same_tasks(analyzed[0].run.tasks, other.run.tasks).comparable:
            hint = "give runs of one benchmark"
            raise RequestError(f"{analyzed[0].run.name} and {other.run.name} do not have the same tasks", hint=hint)
    return health_of_analyzed(analyzed)


def health_of_analyzed(analyzed: Sequence[RunAnalysis]) -> Health:
    """All that the runs say of their benchmark; tasks are joined to those of the first run."""
    runs = [one.run for one in analyzed]
    names = _names(runs)
    tasks = _suspicion(analyzed, names)
    judged = [task for task in tasks if task.judged]
    noise = _Noise(runs)
    floors = [b for one in analyzed for b in one.metrics.baselines if b.value is not None]
    floor = max(floors, key=lambda b: b.value or 0.0, default=None)
    numbers = BenchmarkNumbers(
        name=next((run.benchmark for run in runs if run.benchmark), None),
        tasks=len(tasks),
        runs=tuple(run.name for run in runs),
        saturation=sum(task.passed == task.judged for task in judged) / len(judged) if judged else None,
        never_passed=sum(task.passed == 0 for task in judged) / len(judged) if judged else None,
        floor=floor.value if floor is not None else None,
        floor_how=floor.method if floor is not None else "no key says what nothing or one answer would score",
        discrimination=_discrimination(runs, names),
        reliability=noise.reliability,
        noise=noise.again,
        mde=noise.mde,
        repeats_needed=noise.repeats_needed,
        tasks_needed=noise.tasks_needed,
    )
    return Health(
        questions=questions(analyzed, tasks, numbers),
        benchmark=numbers,
        settled=tuple(
            task.task_id for task in tasks if task.judged >= ENOUGH_REPEATS and task.passed in (0, task.judged)
        ),
        worth_running=tuple(task.task_id for task in tasks if 0 < task.passed < task.judged or not task.judged),
        tasks=tasks,
        reasons=dict(_reasons(runs, noise)),
    )


def _names(runs: Sequence[Run]) -> dict[tuple[str, str], str]:
    names = {(runs[0].name, task): task for task in runs[0].tasks["task_id"]}
    for run in runs[1:]:
        known = {other: first for first, other in same_tasks(runs[0].tasks, run.tasks).pairs}
        taken = set(names.values())
        for task in run.tasks["task_id"]:
            own = known.get(task)
            names[run.name, task] = own if own is not None else task if task not in taken else f"{run.name}/{task}"
    return names


class _Noise:
    """Spread within tasks, between tasks and between runs, and what it takes to see an effect through it."""

    def __init__(self, runs: Sequence[Run]) -> None:
        counts = [count(run) for run in runs]
        parts = [pass_variance(one.judged, one.passed) for one in counts]
        self.within = _mean([part.within for part in parts])
        self.reliability = _mean([part.reliability for part in parts])
        self.again = _mean([part.se_same_tasks for part in parts])
        repeats = int(np.median([np.median(one.judged) for one in counts])) if counts else 0
        tasks = max(len(one.tasks) for one in counts)
        self.interaction = _interaction(runs, self.within or 0.0)
        self.mde: float | None = None
        self.repeats_needed: dict[str, int | None] = {}
        self.tasks_needed: dict[str, int] = {}
        if self.within is None or not repeats:
            return
        known = {"within": self.within, "measured_repeats": repeats, "interaction": self.interaction or 0.0}
        self.mde = minimum_detectable_effect(paired_se(repeats=repeats, tasks=tasks, **known))  # type: ignore[arg-type]
        for effect in EFFECTS:
            self.repeats_needed[f"{effect:g}"] = repeats_needed(effect, tasks=tasks, **known)  # type: ignore[arg-type]
            self.tasks_needed[f"{effect:g}"] = tasks_needed(effect, repeats=repeats, **known)  # type: ignore[arg-type]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _interaction(runs: Sequence[Run], within: float) -> float | None:
    """How much the difference of two runs varies from task to task, beyond noise; None with one run."""
    variances = []
    for first, second in combinations(runs, 2):
        before, after = dict(_scores(first)), dict(_scores(second))
        pairs = same_tasks(first.tasks, second.tasks).pairs
        differences = [after[b] - before[a] for a, b in pairs if a in before and b in after]
        if len(differences) > 1:
            variances.append(interaction_variance(float(np.var(differences, ddof=1)), within))
    return float(np.mean(variances)) if variances else None


def _scores(run: Run) -> Iterator[tuple[str, float]]:
    counts = count(run)
    for task, passed, judged in zip(counts.tasks, counts.passed.tolist(), counts.judged.tolist(), strict=True):
        if judged:
            yield task, passed / judged


def _discrimination(runs: Sequence[Run], names: Names) -> float | None:
    """Mean correlation of a task's scores with the runs' scores on the other tasks; needs five runs."""
    if len(runs) < ENOUGH_RUNS:
        return None
    rows = [{names[run.name, task]: score for task, score in _scores(run)} for run in runs]
    shared = sorted(set.intersection(*(set(row) for row in rows)))
    table = np.asarray([[row[task] for task in shared] for row in rows])
    rest = table.sum(axis=1, keepdims=True) - table
    varied = [task for task in range(len(shared)) if np.ptp(table[:, task]) > 0 and np.ptp(rest[:, task]) > 0]
    if not varied:
        return None
    return float(np.mean([np.corrcoef(table[:, task], rest[:, task])[0, 1] for task in varied]))


def _reasons(runs: Sequence[Run], noise: _Noise) -> Iterator[tuple[str, str]]:
    if len(runs) < ENOUGH_RUNS:
        yield "discrimination", f"needs {ENOUGH_RUNS} runs, and there are {len(runs)}"
    if noise.within is None:
        yield "reliability", "no task has two judged repeats"
        yield "mde", "no task has two judged repeats"
    if noise.interaction is None:
        why = "one run: how much two runs differ from task to task is not known, so plans are the least it takes"
        yield "plans", why


def _suspicion(runs: Sequence[RunAnalysis], names: Names) -> tuple[Suspect, ...]:
    """Every task, most suspect first, by the signals of all runs: never by one weak signal, never by a low pass rate."""
    outcomes = _outcomes([one.run for one in runs], names)
    reasons: dict[str, dict[str, tuple[float, Reason]]] = {}
    for one in runs:
        for doubt in one.diagnosis.doubts if one.diagnosis is not None else ():
            for own in doubt.tasks:
                task = names.get((one.run.name, own))
                if task is not None:
                    # One reason a rule: the same signal in two runs is one signal, and the first is kept.
                    known = reasons.setdefault(task, {})
                    known.setdefault(doubt.code, _reason(doubt, one.run.name, own, outcomes[task][0] > 0))
    suspects = []
    for task, (passed, judged, speaks_for) in outcomes.items():
        ordered = sorted(reasons.get(task, {}).values(), key=lambda pair: (-pair[0], pair[1].code))
        suspect = Suspect(
            task_id=task,
            suspicion=round(1 - prod(1 - weight for weight, _ in ordered), 6),
            passed=passed,
            judged=judged,
            reasons=tuple(reason for _, reason in ordered),
            speaks_for=speaks_for,
        )
        suspects.append(suspect)
    return tuple(sorted(suspects, key=lambda suspect: -suspect.suspicion))


def _reason(doubt: Doubt, run: str, task: str, passed: bool) -> tuple[float, Reason]:
    """The signal with its weight against the task."""
    weight = WEIGHTS[doubt.strong, doubt.preview]
    weight *= PASSED_BEFORE if doubt.about == "key" and passed else 1.0
    of_task = tuple(each for each in doubt.evidence if each.key.task_id == task)
    evidence = tuple(map(_quoted, of_task or doubt.evidence[:1]))
    return weight, Reason(code=doubt.code, message=doubt.message, run=run, evidence=evidence)


def _quoted(evidence: Evidence) -> Quoted:
    return Quoted(
        location=f"{evidence.key}" + (f":{evidence.step}" if evidence.step is not None else ""),
        task_id=evidence.key.task_id,
        repeat=evidence.key.repeat,
        step=evidence.step,
        field=evidence.field,
        quote=evidence.quote,
    )


def _outcomes(runs: Sequence[Run], names: Names) -> dict[str, tuple[int, int, tuple[str, ...]]]:
    """By task: passes, judged rollouts, and what speaks for the key."""
    outcomes: dict[str, tuple[int, int, tuple[str, ...]]] = {}
    for run in runs:
        rows = run.tasks.select("task_id").join(run.rollouts, on="task_id", how="left", maintain_order="left")
        counts = rows.group_by("task_id", maintain_order=True).agg(
            (pl.col("outcome") == "passed").sum().alias("passed"),
            JUDGED.sum().alias("judged"),
            pl.col("answer_fp").filter(pl.col("outcome") == "failed").drop_nulls().n_unique().alias("wrong"),
        )
        for own, passed, judged, wrong in counts.iter_rows():
            task = names.get((run.name, own))
            if task is None:
                continue
            before = outcomes.get(task, (0, 0, ()))
            speaks_for = [f"{run.name} passes {passed} of {judged}"] if passed else []
            speaks_for += [f"{run.name} gives {wrong} different wrong answers"] if wrong > 1 else []
            outcomes[task] = (before[0] + passed, before[1] + judged, (*before[2], *speaks_for))
    return outcomes
