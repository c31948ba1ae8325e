"""metrics.json: every number of a run; the names of fields are a contract."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from blade.model.analysis import SCHEMA_VERSION, RunAnalysis, Score, Usage
from blade.model.measure import Interval, Measure
from blade.report.page_one import leading


def metrics(one: RunAnalysis) -> dict[str, Any]:
    """The content of metrics.json: fractions, and a reason wherever a value is null."""
    found, run = one.metrics, one.run
    named, lead = found.measures, leading(one)
    at_1 = named["pass_at_1"]
    return {
        "schema_version": SCHEMA_VERSION,
        "run": run.name,
        "model_name": run.model,
        "model_ref": run.model,
        "benchmark": run.benchmark,
        "agent": run.agent,
        "headline": {
            "metric": found.headline,
            "value": lead.value,
            "ci": limits(lead.interval),
            "method": _method(lead.interval),
            "n": lead.n,
            "why": found.headline_why,
        },
        "pass_threshold": run.pass_threshold,
        "pass_at_1": at_1.value,
        "pass_at_1_ci": limits(at_1.interval),
        "pass_at_1_all_expected": named["pass_at_1_all_expected"].value,
        "rollout_pass_rate": named["rollout_pass_rate"].value,
        "k": found.k,
        "pass_at_k": named["pass_at_k"].value,
        "pass_at": {str(k): _measure(m) for k, m in found.pass_at.items()},
        "pass_hat_k": {str(k): m.value for k, m in found.pass_hat.items()},
        "pass_hat_k_tasks": {str(k): m.n for k, m in found.pass_hat.items()},
        "consistency": named["consistency"].value,
        "coverage": named["coverage"].value,
        "retry_value": named["retry_value"].value,
        "mean_reward": named["mean_reward"].value,
        "scores": {s.name: _score(s) for s in found.scores},
        "baselines": {b.name: b.value for b in found.baselines},
        "baselines_tasks": {b.name: b.n for b in found.baselines},
        **found.counts,
        "expected_from": run.expected_from,
        "buckets": dict(found.buckets),
        "incomplete_tasks": found.incomplete_tasks,
        "funnel": [{"stage": s.name, "rollouts": s.rollouts, "share": s.share} for s in found.funnel.stages],
        "funnel_left_out": list(found.funnel.left_out),
        "funnel_passed_otherwise": found.funnel.passed_otherwise,
        "slices": {field: {v.value: _slice(v) for v in values} for field, values in found.slices.items()},
        "variance": _variance(one),
        "tokens": _usages(found.usage, ("input_tokens", "output_tokens")),
        "seconds": _usages(found.usage, ("seconds",)),
        "cost": _usages(found.usage, ("cost",)),
        "length": _usages(found.usage, ("steps", "calls", "agent_chars")),
        "settings": dict(run.settings),
        "recorded": [
            {"name": r.name, "source": r.source, "recorded": r.recorded, "recomputed": r.recomputed, "agrees": r.agrees}
            for r in one.recorded
        ],
        "package": run.rule_book_name,
        "excluded": list(run.excluded),
        "notes": list(run.notes),
        "doubts": list(found.doubts),
        "problem_count": run.problem_count,
        "problems": [
            {"file": p.source.artifact, "line": p.source.line, "member": p.source.member, "reason": p.reason}
            for p in run.problems
        ],
        "reasons": _reasons(one),
    }


def _reasons(one: RunAnalysis) -> dict[str, str]:
    """Why each null is null."""
    found, run = one.metrics, one.run
    reasons = {name: m.reason for name, m in found.measures.items() if m.reason}
    reasons |= {f"baselines.{b.name}": b.reason for b in found.baselines if b.reason}
    reasons |= {f"scores.{s.name}": s.reason for s in found.scores if s.reason}
    reasons |= {f"pass_hat_k.{k}": m.reason for k, m in found.pass_hat.items() if m.reason}
    reasons |= {} if run.rule_book_name else {"package": "none was given, and none is named like the benchmark"}
    have = {usage.name for usage in found.usage}
    for name, fields in (("tokens", "output_tokens"), ("seconds", "seconds"), ("cost", "cost"), ("length", "steps")):
        if fields not in have:
            reasons[name] = "no rollout records it"
    if run.expected_from is None:
        reasons |= dict.fromkeys(("expected_rollouts", "missing_rollouts", "expected_from"), run.expected_why_not)
    for name, value in (
        ("model_name", run.model),
        ("model_ref", run.model),
        ("benchmark", run.benchmark),
        ("agent", run.agent),
    ):
        if value is None:
            reasons[name] = "not recorded in the artifacts"
    if found.measures["pass_at_1"].value is not None and found.measures["pass_at_1"].interval is None:
        reasons["pass_at_1_ci"] = "one task: no interval over tasks"
    if found.variance.reason:
        reasons["variance"] = found.variance.reason
    return dict(sorted(reasons.items()))


def limits(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _method(interval: Interval | None) -> str | None:
    if interval is None:
        return None
    return f"{interval.level:.0%} {interval.method}, {interval.n} units" + (", rough" if interval.rough else "")


def _measure(measure: Measure) -> dict[str, Any]:
    return {"value": measure.value, "ci": limits(measure.interval), "tasks": measure.n}


def _score(score: Score) -> dict[str, Any]:
    return {
        "value": score.value,
        "ci": limits(score.interval),
        "n_tasks": score.n_tasks,
        "n_rollouts": score.n_rollouts,
    }


def _slice(value: Any) -> dict[str, Any]:
    return {
        "tasks": value.tasks,
        "rollouts": value.rollouts,
        "passed": value.passed,
        "pass_at_1": value.pass_at_1,
        "ci": limits(value.interval),
    }


def _variance(one: RunAnalysis) -> dict[str, Any]:
    spread = one.metrics.variance
    names = ("total", "within", "between", "reliability", "se_new_tasks", "se_same_tasks")
    return {name: getattr(spread, name) for name in names}


def _usages(usage: Iterable[Usage], names: tuple[str, ...]) -> dict[str, Any] | None:
    found = {
        u.name: {
            "rollouts": u.n,
            "total": u.total,
            "mean": u.mean,
            "median": u.median,
            "passed": {"rollouts": u.passed_n, "median": u.passed_median},
            "failed": {"rollouts": u.failed_n, "median": u.failed_median},
        }
        for u in usage
        if u.name in names
    }
    return found or None
