"""The health of a benchmark as Markdown, and as JSON that is short enough to read."""

from __future__ import annotations

from typing import Any

import msgspec

from blade.benchmark_health.values import SUSPECT, Health, Suspect
from blade.report.diagnosis import prose
from blade.report.numbers import POINTS, listed, plural, points, share
from blade.report.text import code, cut, safe, table

MOST_SHOWN = 12
MOST_JSON = 10
MOST_BYTES = 6_000


def health_report(health: Health) -> str:
    """The six questions first, then noise and the planner, then suspects with what speaks for and against them."""
    head = f"# {safe(title(health))}"
    lines = [head, "", *_questions(health), "## Floor, saturation, noise", "", *_numbers(health), ""]
    lines += ["## What it takes to see an effect", "", *_plans(health), ""]
    lines += ["## Suspect tasks", "", *_suspects(health), ""]
    lines += ["## Which tasks to run again", "", *_again(health)]
    return "\n".join(lines).rstrip("\n") + "\n"


def title(health: Health) -> str:
    """What was looked at."""
    numbers = health.benchmark
    suspects = f"{health.suspects} of {plural(numbers.tasks, 'task')} suspect"
    return f"{numbers.name or 'The benchmark'}: {suspects}, by {plural(len(numbers.runs), 'run')}"


def _questions(health: Health) -> list[str]:
    rows = [[q.name, q.question, f"**{q.answer}**", prose(cut(q.because, 300))] for q in health.questions]
    return table(["", "question", "answer", "because"], rows)


def _numbers(health: Health) -> list[str]:
    numbers, reasons = health.benchmark, health.reasons

    def value_or_reason(value: float | None, of: str, name: str) -> str:
        return f"{share(value)}{of}" if value is not None else f"none ({reasons.get(name, 'not known')})"

    saturation = value_or_reason(numbers.saturation, " of tasks", "saturation")
    never = value_or_reason(numbers.never_passed, " of tasks", "never")
    floor = f"{numbers.floor:.3f}, {safe(numbers.floor_how)}" if numbers.floor is not None else safe(numbers.floor_how)
    discrimination = (
        f"{numbers.discrimination:.2f}"
        if numbers.discrimination is not None
        else reasons.get("discrimination", "not known")
    )
    noise = f"{points(numbers.noise)} points" if numbers.noise is not None else "not known"
    mde = f"{points(numbers.mde)} points" if numbers.mde is not None else f"not known ({reasons.get('mde', '')})"
    return [
        f"- Saturated (every judged rollout passes): {saturation}; never passed: {never}.",
        f"- Floor: {floor}.",
        f"- Reliability (spread between tasks that is not noise): {value_or_reason(numbers.reliability, '', 'reliability')}.",
        f"- Discrimination (a task's scores against the rest): {discrimination}.",
        f"- Noise of a score when the same tasks are run again: {noise} (one standard error); a comparison of two such runs sees {mde}.",
    ]


def _plans(health: Health) -> list[str]:
    numbers = health.benchmark
    if not numbers.tasks_needed:
        return [f"Not known: {health.reasons.get('mde', 'no repeats')}."]
    rows = [
        [
            f"{float(effect) * POINTS:g} points",
            f"{repeats:,}" if repeats is not None else "no number is enough",
            f"{numbers.tasks_needed[effect]:,}",
        ]
        for effect, repeats in numbers.repeats_needed.items()
    ]
    lines = table(["to see", "repeats on these tasks", "or tasks at these repeats"], rows)
    why = health.reasons.get("plans", "")
    return [*lines, f"{why[0].upper()}{why[1:]}."] if why else lines


def _suspects(health: Health) -> list[str]:
    suspects = [task for task in health.tasks if task.suspicion >= SUSPECT]
    lines = [line for task in suspects[:MOST_SHOWN] for line in _suspect(task)]
    if len(suspects) > MOST_SHOWN:
        lines.append(f"{len(suspects) - MOST_SHOWN} more in health.json.")
    if not suspects:
        lines.append("No task is suspect: a low pass rate alone is no reason.")
    weak = [task.task_id for task in health.tasks if 0 < task.suspicion < SUSPECT]
    if weak:
        lines += ["", f"One weak signal each, which is not enough: {safe(listed(weak, 12))}."]
    return lines


def _suspect(task: Suspect) -> list[str]:
    lines = [
        f"**{safe(task.task_id)}** ({task.suspicion:.2f}; {task.passed} of {task.judged} judged rollouts pass)",
        "",
    ]
    for reason in task.reasons:
        line = f"- against ({reason.code}): {prose(cut(reason.message, 300))}."
        if reason.evidence:
            first = reason.evidence[0]
            line += f" {code(first.location)}: {code(cut(first.quote, 120))}"
        lines.append(line)
    lines += [f"- for: {safe(text)}." for text in task.speaks_for[:4]]
    return [*lines, ""]


def _again(health: Health) -> list[str]:
    worth = safe(listed(health.worth_running, 20)) or "none"
    return [
        f"- Settled (three repeats or more, all alike): {plural(len(health.settled), 'task')}.",
        f"- Worth running again (repeats disagree, or nothing was judged): {worth}.",
    ]


def shortened(health: Health) -> dict[str, Any]:
    """health.json in at most 6 kB where that can be: the most suspect tasks, one piece of evidence for each reason."""
    short: dict[str, Any] = msgspec.to_builtins(health)
    short["settled"], short["worth_running"] = len(health.settled), len(health.worth_running)
    short["tasks"] = list(short["tasks"][:MOST_JSON])
    for reason in (reason for task in short["tasks"] for reason in task["reasons"]):
        reason["evidence_left_off"] = max(0, len(reason["evidence"]) - 1)
        reason["evidence"] = reason["evidence"][:1]
    short["left_off"] = len(health.tasks) - len(short["tasks"])
    while len(short["tasks"]) > 1 and len(msgspec.json.format(msgspec.json.encode(short), indent=0)) > MOST_BYTES:
        short["tasks"].pop()
        short["left_off"] += 1
    return short
