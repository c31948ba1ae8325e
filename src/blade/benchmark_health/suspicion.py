"""How suspect each task is: signals of the catalogue over all runs, combined; never one weak signal, never a low pass rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import polars as pl

from blade.benchmark_health.values import Reason, Suspect
from blade.model.analysis import RunAnalysis
from blade.model.diagnosis import Doubt
from blade.model.run import Run

WEIGHTS = {(True, False): 0.8, (True, True): 0.55, (False, False): 0.35, (False, True): 0.2}
"""By strong or weak, and by stable or preview: one weak signal, and two of rules in preview, stay below `SUSPECT`."""
PASSED_BEFORE = 0.5
"""What a doubt about the key is worth where some rollout passes the task."""


def suspicion(runs: Sequence[RunAnalysis], names: Mapping[tuple[str, str], str]) -> tuple[Suspect, ...]:
    """Every task, most suspect first; `names` gives the task of each run's own task id."""
    reasons: dict[str, dict[str, Reason]] = {}
    told = _told([one.run for one in runs], names)
    for one in runs:
        for doubt in one.diagnosis.doubts if one.diagnosis is not None else ():
            for own in doubt.tasks:
                task = names.get((one.run.name, own))
                if task is not None:
                    _keep(reasons.setdefault(task, {}), _reason(doubt, one.run.name, own, told[task][0] > 0))
    found = [_suspect(task, list(reasons.get(task, {}).values()), *told[task]) for task in told]
    return tuple(sorted(found, key=lambda one: -one.suspicion))


def _keep(known: dict[str, Reason], reason: Reason) -> None:
    """One reason a rule: the same signal in two runs is one signal, and the first is kept."""
    known.setdefault(reason.code, reason)


def _reason(doubt: Doubt, run: str, task: str, passed: bool) -> Reason:
    weight = WEIGHTS[doubt.strong, doubt.preview]
    # A key that some rollout meets can be met.
    weight *= PASSED_BEFORE if doubt.about == "key" and passed else 1.0
    mine = tuple(one for one in doubt.evidence if one.key.task_id == task)
    return Reason(code=doubt.code, message=doubt.message, weight=weight, run=run, evidence=mine or doubt.evidence[:1])


def _suspect(task: str, reasons: list[Reason], passed: int, judged: int, speaks_for: tuple[str, ...]) -> Suspect:
    ordered = sorted(reasons, key=lambda one: (-one.weight, one.code))
    return Suspect(
        task_id=task,
        suspicion=1 - prod(1 - one.weight for one in ordered),
        reasons=tuple(ordered),
        speaks_for=speaks_for,
        passed=passed,
        judged=judged,
    )


def _told(runs: Sequence[Run], names: Mapping[tuple[str, str], str]) -> dict[str, tuple[int, int, tuple[str, ...]]]:
    """By task: passes, judged rollouts, and what speaks for the key."""
    found: dict[str, tuple[int, int, tuple[str, ...]]] = {}
    for run in runs:
        for own, passed, judged, kinds in _counts(run).iter_rows():
            task = names.get((run.name, own))
            if task is None:
                continue
            before = found.get(task, (0, 0, ()))
            found[task] = (before[0] + passed, before[1] + judged, (*before[2], *_for(run.name, passed, judged, kinds)))
    return found


def _counts(run: Run) -> pl.DataFrame:
    judged = pl.col("outcome").is_in(["passed", "failed"])
    rows = run.tasks.select("task_id").join(run.rollouts, on="task_id", how="left", maintain_order="left")
    return rows.group_by("task_id", maintain_order=True).agg(
        (pl.col("outcome") == "passed").sum().alias("passed"),
        judged.sum().alias("judged"),
        pl.col("answer_fp").filter(pl.col("outcome") == "failed").drop_nulls().n_unique().alias("kinds"),
    )


def _for(run: str, passed: int, judged: int, kinds: int) -> list[str]:
    said = [f"{run} passes {passed} of {judged}"] if passed else []
    return [*said, f"{run} gives {kinds} different wrong answers"] if kinds > 1 else said
