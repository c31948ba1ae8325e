"""The health of a benchmark as Markdown and as JSON values."""

from __future__ import annotations

import json
from typing import Any

from blade.benchmark_health.values import SUSPECT, Health, Suspect
from blade.model.analysis import SCHEMA_VERSION
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
    suspects = sum(one.suspicion >= SUSPECT for one in health.suspects)
    name = health.benchmark or "The benchmark"
    return f"{name}: {suspects} of {plural(health.tasks, 'task')} suspect, by {plural(len(health.runs), 'run')}"


def _questions(health: Health) -> list[str]:
    rows = [[q.name, q.question, f"**{q.answer}**", prose(cut(q.because, 300))] for q in health.questions]
    return table(["", "question", "answer", "because"], rows)


def _numbers(health: Health) -> list[str]:
    def said(value: float | None, how: str, name: str) -> str:
        return f"{share(value)}{how}" if value is not None else f"none ({health.reasons.get(name, 'not known')})"

    noise = f"{points(health.noise)} points" if health.noise is not None else "not known"
    mde = f"{points(health.mde)} points" if health.mde is not None else f"not known ({health.reasons.get('mde', '')})"
    return [
        f"- Saturated (every judged rollout passes): {said(health.saturation, ' of tasks', 'saturation')}; never passed: {said(health.never, ' of tasks', 'never')}.",
        f"- Floor: {f'{health.floor:.3f}, {safe(health.floor_how)}' if health.floor is not None else safe(health.floor_how)}.",
        f"- Reliability (spread between tasks that is not noise): {said(health.reliability, '', 'reliability')}.",
        f"- Discrimination (a task's scores against the rest): {f'{health.discrimination:.2f}' if health.discrimination is not None else health.reasons.get('discrimination', 'not known')}.",
        f"- Noise of a score when the same tasks are run again: {noise} (one standard error); a comparison of two such runs sees {mde}.",
    ]


def _plans(health: Health) -> list[str]:
    if not health.plans:
        return [f"Not known: {health.reasons.get('mde', 'no repeats')}."]
    rows = [
        [
            f"{plan.effect * POINTS:g} points",
            f"{plan.repeats:,}" if plan.repeats is not None else "no number is enough",
            f"{plan.tasks:,}",
        ]
        for plan in health.plans
    ]
    lines = table(["to see", "repeats on these tasks", "or tasks at these repeats"], rows)
    return (
        [*lines, f"{health.reasons['plans'][0].upper()}{health.reasons['plans'][1:]}."]
        if "plans" in health.reasons
        else lines
    )


def _suspects(health: Health) -> list[str]:
    found = [one for one in health.suspects if one.suspicion >= SUSPECT]
    weak = [one for one in health.suspects if 0 < one.suspicion < SUSPECT]
    lines: list[str] = []
    for one in found[:MOST_SHOWN]:
        lines += _suspect(one)
    if len(found) > MOST_SHOWN:
        lines.append(f"{len(found) - MOST_SHOWN} more in health.json.")
    if not found:
        lines.append("No task is suspect: a low pass rate alone is no reason.")
    if weak:
        named = listed([one.task_id for one in weak], 12)
        lines += ["", f"One weak signal each, which is not enough: {safe(named)}."]
    return lines


def _suspect(one: Suspect) -> list[str]:
    lines = [f"**{safe(one.task_id)}** ({one.suspicion:.2f}; {one.passed} of {one.judged} judged rollouts pass)", ""]
    for reason in one.reasons:
        quote = reason.evidence[0] if reason.evidence else None
        where = (
            f" {code(f'{quote.key}' + (f':{quote.step}' if quote.step is not None else ''))}: {code(cut(quote.quote, 120))}"
            if quote
            else ""
        )
        lines.append(f"- against ({reason.code}): {prose(cut(reason.message, 300))}.{where}")
    lines += [f"- for: {safe(text)}." for text in one.speaks_for[:4]]
    return [*lines, ""]


def _again(health: Health) -> list[str]:
    lines = [f"- Settled (three repeats or more, all alike): {plural(len(health.settled), 'task')}."]
    worth = listed(list(health.worth_running), 20)
    lines.append(f"- Worth running again (repeats disagree, or nothing was judged): {safe(worth) or 'none'}.")
    return lines


def health_json(health: Health, most: int | None = None) -> dict[str, Any]:
    """The content of health.json; with `most`, only so many tasks."""
    tasks = health.suspects if most is None else health.suspects[:most]
    return {
        "schema_version": SCHEMA_VERSION,
        "questions": [
            {"name": q.name, "question": q.question, "answer": q.answer, "because": q.because} for q in health.questions
        ],
        "benchmark": {
            "name": health.benchmark,
            "tasks": health.tasks,
            "runs": list(health.runs),
            "saturation": health.saturation,
            "never_passed": health.never,
            "floor": health.floor,
            "floor_how": health.floor_how,
            "discrimination": health.discrimination,
            "reliability": health.reliability,
            "noise": health.noise,
            "mde": health.mde,
            "repeats_needed": {f"{plan.effect:g}": plan.repeats for plan in health.plans},
            "tasks_needed": {f"{plan.effect:g}": plan.tasks for plan in health.plans},
        },
        "settled": list(health.settled) if most is None else len(health.settled),
        "worth_running": list(health.worth_running) if most is None else len(health.worth_running),
        "tasks": [_task(one) for one in tasks],
        "left_off": len(health.suspects) - len(tasks),
        "reasons": dict(health.reasons),
    }


def health_short(health: Health) -> dict[str, Any]:
    """The same in at most 6 kB where that can be: the most suspect tasks, one piece of evidence for each reason."""
    whole = health_json(health, MOST_JSON)
    for reason in (reason for task in whole["tasks"] for reason in task["reasons"]):
        reason["evidence_left_off"] = max(0, len(reason["evidence"]) - 1)
        reason["evidence"] = reason["evidence"][:1]
    while len(whole["tasks"]) > 1 and len(json.dumps(whole, ensure_ascii=False).encode()) > MOST_BYTES:
        whole["tasks"].pop()
        whole["left_off"] += 1
    return whole


def _task(one: Suspect) -> dict[str, Any]:
    return {
        "task_id": one.task_id,
        "suspicion": round(one.suspicion, 6),
        "passed": one.passed,
        "judged": one.judged,
        "reasons": [
            {
                "code": reason.code,
                "message": reason.message,
                "run": reason.run,
                "evidence": [
                    {
                        "location": str(e.key) + (f":{e.step}" if e.step is not None else ""),
                        "task_id": e.key.task_id,
                        "repeat": e.key.repeat,
                        "step": e.step,
                        "field": e.field,
                        "quote": e.quote,
                    }
                    for e in reason.evidence
                ],
            }
            for reason in one.reasons
        ],
        "speaks_for": list(one.speaks_for),
    }
