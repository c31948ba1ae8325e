"""A first golden report on a run with its sidecar: what BLADE found, and what a person has to add, marked open."""

from __future__ import annotations

import json
import re

from blade.model.analysis import RunAnalysis

DIGITS = 4
_OPEN = {
    "## 1. Executive Summary": "OPEN: this is a draft. Read the rollouts that it points at, mend what you would not sign, and say here in three sentences why the score is what it is.",
    "## 6. Dominant Failure Modes": "OPEN: say for each large mode what the agent got wrong and why, after reading its example with `blade show`.",
    "## 10. Recommendations": "OPEN: say which of these comes first and why, and leave out what you would not do.",
}
"""Below which heading what has to be written."""


def with_open_points(text: str) -> str:
    """A report of ours with what a person has to add."""
    for heading, asks in _OPEN.items():
        text = re.sub(rf"^{re.escape(heading)}\n", f"{heading}\n\n{asks}\n", text, count=1, flags=re.MULTILINE)
    return text


def sidecar_text(benchmark: str, model: str, one: RunAnalysis) -> str:
    """The metrics sidecar: fractions to four digits, counts, buckets."""
    found, counts = one.metrics, one.metrics.counts
    named = ("pass_at_1", "pass_at_k", "consistency", "coverage", "retry_value", "mean_reward")
    made: dict[str, object] = {"model_name": model, "benchmark": benchmark}
    made |= {name: _rounded(found.measures[name].value) for name in named if found.measures[name].value is not None}
    made |= {"k": found.k, "pass_threshold": one.run.pass_threshold}
    made |= {"total_tasks": counts["total_tasks"], "total_rollouts": counts["total_rollouts"]}
    made |= {"passed": counts["passed_rollouts"], "failed": counts["failed_rollouts"]}
    made |= {name: counts[name] for name in ("errored_rollouts", "missing_rollouts") if counts[name]}
    made |= dict(found.buckets)
    modes = one.diagnosis.partition.modes if one.diagnosis is not None else ()
    if modes:
        made |= {"dominant_failure_type": modes[0].id, "dominant_failure_count": modes[0].rollouts}
    return json.dumps(made, ensure_ascii=False, indent=2) + "\n"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
