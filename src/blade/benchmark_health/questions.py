"""The six questions that a benchmark is judged by, answered from what the runs show: yes, no, or cannot be known."""

from __future__ import annotations

from collections.abc import Sequence

from blade.benchmark_health.values import SUSPECT, Question, Suspect
from blade.model.analysis import RunAnalysis
from blade.model.finding import Cause

YES, NO, UNKNOWN = "yes", "no", "cannot be known"
MANY = 0.05
"""Share of tasks or rollouts from which on a fault is one of the benchmark."""
STABLE = 0.7
"""Reliability from which on repeats agree well enough."""
ASKED = {
    "task fit": "Does the task distribution reflect the target use case?",
    "verifier fidelity": "Does the reward measure the target behavior, not just a proxy?",
    "model compatibility": "Does the benchmark require tool calls, images, long context, or structured output your model supports?",
    "harness fit": "Does the harness expose the interaction pattern the benchmark expects?",
    "variance": "Are repeated runs stable enough to separate real signal from noise?",
    "reproducibility": "Can another team reproduce the same score from the same config and data?",
}


def questions(
    runs: Sequence[RunAnalysis], suspects: Sequence[Suspect], reliability: float | None, mde: float | None
) -> tuple[Question, ...]:
    """All six, in the order of the benchmark document."""
    answers = (
        _task_fit(runs),
        _fidelity(suspects),
        _compatibility(runs),
        _harness(runs),
        _variance(reliability, mde),
        _reproducible(runs),
    )
    return tuple(
        Question(name=name, question=asked, answer=answer, because=because)
        for (name, asked), (answer, because) in zip(ASKED.items(), answers, strict=True)
    )


def _task_fit(runs: Sequence[RunAnalysis]) -> tuple[str, str]:
    floors = [b for one in runs for b in one.metrics.baselines if b.value is not None]
    high = max(floors, key=lambda b: b.value or 0.0, default=None)
    told = f"; {high.method} scores {high.value:.2f}" if high is not None and high.value is not None else ""
    return UNKNOWN, f"rollouts do not say what the target use is{told}"


def _fidelity(suspects: Sequence[Suspect]) -> tuple[str, str]:
    about = [one for one in suspects if one.suspicion >= SUSPECT]
    judged = [one for one in suspects if one.judged]
    if not judged:
        return UNKNOWN, "nothing was judged"
    told = f"{len(about)} of {len(judged)} judged tasks are suspect"
    if about:
        first = about[0]
        told += f", first {first.task_id}: {first.reasons[0].message}"
    return (NO if len(about) >= MANY * len(judged) and about else YES), told


def _compatibility(runs: Sequence[RunAnalysis]) -> tuple[str, str]:
    """Whether rollouts end in calls as text, unknown tools, malformed arguments or cut contexts."""
    codes = ("ANS001", "ANS002", "ANS004", "BEH003", "BEH007")
    looks = [
        detect for one in runs if one.diagnosis for detect in one.diagnosis.rule_statistics if detect.code in codes
    ]
    if not any(detect.checked for detect in looks):
        return UNKNOWN, "no trajectory that the rules could look at"
    worst = max(looks, key=lambda detect: (detect.fired / detect.checked if detect.checked else 0.0, detect.code))
    share = worst.fired / worst.checked if worst.checked else 0.0
    told = (
        f"{worst.fired} of {worst.checked} rollouts: {worst.message}"
        if worst.fired
        else "no rollout breaks a form that was asked for"
    )
    return (NO if share >= MANY else YES), told


def _harness(runs: Sequence[RunAnalysis]) -> tuple[str, str]:
    causes = [cause for one in runs if one.diagnosis for cause in one.diagnosis.causes.values()]
    tasks = sum(one.run.tasks.height for one in runs)
    broken = sum(cause.cause is Cause.INFRA for cause in causes)
    if not tasks:
        return UNKNOWN, "there are no tasks"
    told = f"{broken} of {tasks} tasks (over {len(runs)} run{'' if len(runs) == 1 else 's'}) fail by the machinery"
    return (NO if broken >= MANY * tasks and broken else YES), told


def _variance(reliability: float | None, mde: float | None) -> tuple[str, str]:
    if reliability is None:
        return UNKNOWN, "no task has two judged repeats that could disagree"
    seen = f"; a comparison on these tasks sees {mde * 100:.1f} points" if mde is not None else ""
    return (YES if reliability >= STABLE else NO), f"{reliability:.0%} of the spread between tasks is not noise{seen}"


def _reproducible(runs: Sequence[RunAnalysis]) -> tuple[str, str]:
    recorded = [r for one in runs for r in one.recorded if r.agrees is not None]
    differ = [r for r in recorded if not r.agrees]
    unknown = [name for name in ("temperature", "tools") if not all(name in one.run.settings for one in runs)]
    if differ:
        return NO, f"{len(differ)} of {len(recorded)} numbers that sidecars state cannot be made again from the rows"
    if unknown or any(one.run.model is None for one in runs):
        return (
            UNKNOWN,
            f"not recorded: {', '.join([*unknown, *(['model'] if any(o.run.model is None for o in runs) else [])])}",
        )
    again = (
        f"{len(recorded)} numbers that sidecars state are made again from the rows"
        if recorded
        else "no sidecar states a number"
    )
    return YES, f"model, sampling and tools are recorded; {again}"
