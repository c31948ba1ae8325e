"""The six questions that a benchmark is judged by, answered from what the runs show: yes, no, or cannot be known."""

from __future__ import annotations

from collections.abc import Sequence

from blade.benchmark_health.values import SUSPECT, BenchmarkNumbers, Question, Suspect
from blade.model.analysis import RunAnalysis
from blade.model.finding import Cause

YES, NO, UNKNOWN = "yes", "no", "cannot be known"
MANY = 0.05
"""Share of tasks or rollouts from which on a fault is one of the benchmark."""
STABLE = 0.7
"""Reliability from which on repeats agree well enough."""
FORM_RULES = ("ANS001", "ANS002", "ANS004", "BEH003", "BEH007")
"""Rules that say that a rollout broke the form of calls or answers, or ran out of context."""
ASKED = {
    "task fit": "Does the task distribution reflect the target use case?",
    "verifier fidelity": "Does the reward measure the target behavior, not just a proxy?",
    "model compatibility": "Does the benchmark require tool calls, images, long context, or structured output your model supports?",
    "harness fit": "Does the harness expose the interaction pattern the benchmark expects?",
    "variance": "Are repeated runs stable enough to separate real signal from noise?",
    "reproducibility": "Can another team reproduce the same score from the same config and data?",
}


def questions(runs: Sequence[RunAnalysis], tasks: Sequence[Suspect], numbers: BenchmarkNumbers) -> tuple[Question, ...]:
    """All six, in the order of the benchmark document."""
    answers = (
        _task_fit(numbers),
        _fidelity(tasks),
        _compatibility(runs),
        _harness(runs),
        _variance(numbers),
        _reproducible(runs),
    )
    return tuple(
        Question(name=name, question=asked, answer=answer, because=because)
        for (name, asked), (answer, because) in zip(ASKED.items(), answers, strict=True)
    )


def _task_fit(numbers: BenchmarkNumbers) -> tuple[str, str]:
    floor = f"; {numbers.floor_how} scores {numbers.floor:.2f}" if numbers.floor is not None else ""
    return UNKNOWN, f"rollouts do not say what the target use is{floor}"


def _fidelity(tasks: Sequence[Suspect]) -> tuple[str, str]:
    suspects = [task for task in tasks if task.suspicion >= SUSPECT]
    judged = sum(task.judged > 0 for task in tasks)
    if not judged:
        return UNKNOWN, "nothing was judged"
    because = f"{len(suspects)} of {judged} judged tasks are suspect"
    if suspects:
        because += f", first {suspects[0].task_id}: {suspects[0].reasons[0].message}"
    return (NO if suspects and len(suspects) >= MANY * judged else YES), because


def _compatibility(runs: Sequence[RunAnalysis]) -> tuple[str, str]:
    """Whether rollouts end in calls as text, unknown tools, malformed arguments or cut contexts."""
    checked = [
        rule
        for one in runs
        if one.diagnosis
        for rule in one.diagnosis.rule_statistics
        if rule.code in FORM_RULES and rule.checked
    ]
    if not checked:
        return UNKNOWN, "no trajectory that the rules could look at"
    worst = max(checked, key=lambda rule: (rule.fired / rule.checked, rule.code))
    if not worst.fired:
        return YES, "no rollout breaks a form that was asked for"
    because = f"{worst.fired} of {worst.checked} rollouts: {worst.message}"
    return (NO if worst.fired / worst.checked >= MANY else YES), because


def _harness(runs: Sequence[RunAnalysis]) -> tuple[str, str]:
    tasks = sum(one.run.tasks.height for one in runs)
    if not tasks:
        return UNKNOWN, "there are no tasks"
    broken = sum(cause.cause is Cause.INFRA for one in runs if one.diagnosis for cause in one.diagnosis.causes.values())
    over = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
    because = f"{broken} of {tasks} tasks (over {over}) fail by the machinery"
    return (NO if broken and broken >= MANY * tasks else YES), because


def _variance(numbers: BenchmarkNumbers) -> tuple[str, str]:
    if numbers.reliability is None:
        return UNKNOWN, "no task has two judged repeats that could disagree"
    mde = f"; a comparison on these tasks sees {numbers.mde * 100:.1f} points" if numbers.mde is not None else ""
    because = f"{numbers.reliability:.0%} of the spread between tasks is not noise{mde}"
    return (YES if numbers.reliability >= STABLE else NO), because


def _reproducible(runs: Sequence[RunAnalysis]) -> tuple[str, str]:
    recorded = [number for one in runs for number in one.recorded if number.agrees is not None]
    differ = [number for number in recorded if not number.agrees]
    if differ:
        return NO, f"{len(differ)} of {len(recorded)} numbers that sidecars state cannot be made again from the rows"
    unknown = [name for name in ("temperature", "tools") if not all(name in one.run.settings for one in runs)]
    unknown += ["model"] if any(one.run.model is None for one in runs) else []
    if unknown:
        return UNKNOWN, f"not recorded: {', '.join(unknown)}"
    again = f"{len(recorded)} numbers that sidecars state are made again from the rows"
    return YES, f"model, sampling and tools are recorded; {again if recorded else 'no sidecar states a number'}"
