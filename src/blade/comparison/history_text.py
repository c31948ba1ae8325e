"""A history as Markdown and as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blade.comparison.history_values import Entry
from blade.report.numbers import POINTS, limits, score
from blade.report.text import code, safe, table

WIDTH = 30
"""Signs of a bar that stands for a score of 1."""


def history_report(entries: Sequence[Entry]) -> str:
    """A table of the scores with a bar each, then what changed."""
    rows = [
        [
            code(one.source),
            code(one.run),
            score(one.score.value),
            limits(one.score.interval),
            _bar(one),
            _since(one),
            str(one.score.n_tasks),
        ]
        for one in entries
    ]
    lines = ["# History", "", "All expected rollouts; each line is set against the one before.", ""]
    lines += table(["analysis", "run", "score", "95 %", "", "since the one before", "tasks"], rows, most=200)
    for one in entries:
        told = (("new", one.new_modes), ("gone", one.gone_modes))
        lines += [f"- {safe(one.source)}: {what}: {safe('; '.join(modes))}." for what, modes in told if modes]
    return "\n".join(lines).rstrip("\n") + "\n"


def _bar(one: Entry) -> str:
    value = one.score.value
    return "" if value is None or one.headline != "pass_at_1" else "█" * round(max(0.0, value) * WIDTH)


def _since(one: Entry) -> str:
    if one.since is None:
        return "-"
    delta = f" {one.since.delta * POINTS:+.1f} points" if one.since.delta is not None else ""
    return f"{one.since.verdict}{delta}"


def history_json(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The entries as JSON values."""
    return [
        {
            "analysis": one.source,
            "run": one.run,
            "metric": one.headline,
            "score": one.score.value,
            "ci": [one.score.interval.low, one.score.interval.high] if one.score.interval is not None else None,
            "n_tasks": one.score.n_tasks,
            "since": None
            if one.since is None
            else {
                "verdict": str(one.since.verdict),
                "delta": one.since.delta,
                "p_value": one.since.p_value,
                "shared_tasks": one.since.n,
            },
            "new_modes": list(one.new_modes),
            "gone_modes": list(one.gone_modes),
        }
        for one in entries
    ]
