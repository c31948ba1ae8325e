"""The outcomes of a run as a picture: a column a task, a square a rollout, best tasks first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from blade.model.analysis import RunAnalysis, TaskResult

MOST_TASKS = 400
"""Columns that can still be told apart; a run with more has no picture."""
MOST_SQUARES = 6_000
"""Squares of a page that still opens at once."""
_SIDE = 10
_WIDEST = 80
"""Columns side by side; the rest stands below them."""
_GAP = 8


def task_map(one: RunAnalysis) -> str:
    """An inline figure whose squares are the rollouts that were expected; empty where it could not be read."""
    tasks = sorted(one.tasks, key=lambda task: -_share(task))
    tallest = max((len(_squares(task)) for task in tasks), default=0)
    few = 2 <= len(tasks) <= MOST_TASKS and 0 < len(tasks) * tallest <= MOST_SQUARES
    if not few or one.metrics.headline != "pass_at_1":
        return ""
    lines = [tasks[at : at + _WIDEST] for at in range(0, len(tasks), _WIDEST)]
    width = _SIDE * min(len(tasks), _WIDEST)
    height = len(lines) * (tallest * _SIDE + _GAP) - _GAP
    columns = "".join(
        _column(task, x * _SIDE, y * (tallest * _SIDE + _GAP))
        for y, line in enumerate(lines)
        for x, task in enumerate(line)
    )
    said = escape(_caption(one, tasks))
    return (
        f'<figure><svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{said}">'
        f"{columns}</svg><figcaption>{said}</figcaption></figure>\n"
    )


def _share(task: TaskResult) -> float:
    return task.score if task.score is not None else -1.0


def _squares(task: TaskResult) -> list[str]:
    """The kind of each square, from top to bottom."""
    return [kind for kind, count in _counted(task) for _ in range(count)]


def _counted(task: TaskResult) -> Iterator[tuple[str, int]]:
    yield "passed", task.passed
    yield "failed", task.failed
    yield "unjudged", task.errored + task.unscored
    yield "missing", task.missing or 0


def _column(task: TaskResult, x: int, y: int) -> str:
    squares = "".join(
        f'<rect class="{kind}" x="{x}" y="{y + place * _SIDE}" width="{_SIDE - 1}" height="{_SIDE - 1}"/>'
        for place, kind in enumerate(_squares(task))
    )
    told = ", ".join(f"{count} {kind}" for kind, count in _counted(task) if count)
    return f"<g><title>{escape(task.task_id)}: {told}</title>{squares}</g>"


def _caption(one: RunAnalysis, tasks: Sequence[TaskResult]) -> str:
    names = ("passed", "failed", "unjudged", "missing")
    counts = [sum(dict(_counted(task))[name] for task in tasks) for name in names]
    told = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True) if count)
    return f"{one.run.name}: a column a task ({len(tasks)}), a square a rollout ({told})."
