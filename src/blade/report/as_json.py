"""Metrics, tasks and the short answer as JSON; the names of fields are a contract."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import asdict

from blade.core.analysis import SCHEMA_VERSION, Analysis, RunAnalysis, Score, TaskResult, Usage
from blade.core.diagnosis import (
    Alarm,
    Contrast,
    Diagnosis,
    Dive,
    Doubt,
    Finding,
    Headroom,
    Intervention,
    Lookout,
    Mode,
    Moment,
)
from blade.core.finding import Evidence
from blade.core.measure import Interval, Measure
from blade.report.page_one import leading

MOST_BYTES = 6_000
MOST_FINDINGS = 3
LONGEST_WHAT = 300
LONGEST_DOUBT = 240
MOST_PLACES = 200
"""Places listed of one intervention; the count is of all."""


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
            "ci": _ci(lead.interval),
            "method": _method(lead.interval),
            "n": lead.n,
            "why": found.headline_why,
        },
        "pass_threshold": run.pass_threshold,
        "pass_at_1": at_1.value,
        "pass_at_1_ci": _ci(at_1.interval),
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
        "package": run.taught_by,
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
    reasons |= {} if run.taught_by else {"package": "none was given, and none is named like the benchmark"}
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


def _ci(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _method(interval: Interval | None) -> str | None:
    if interval is None:
        return None
    return f"{interval.level:.0%} {interval.method}, {interval.n} units" + (", rough" if interval.rough else "")


def _measure(measure: Measure) -> dict[str, Any]:
    return {"value": measure.value, "ci": _ci(measure.interval), "tasks": measure.n}


def _score(score: Score) -> dict[str, Any]:
    return {"value": score.value, "ci": _ci(score.interval), "n_tasks": score.n_tasks, "n_rollouts": score.n_rollouts}


def _slice(value: Any) -> dict[str, Any]:
    return {
        "tasks": value.tasks,
        "rollouts": value.rollouts,
        "passed": value.passed,
        "pass_at_1": value.pass_at_1,
        "ci": _ci(value.interval),
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


def findings(one: RunAnalysis) -> dict[str, Any]:
    """The content of findings.json; what this version does not decide is null, with the reason."""
    found = one.diagnosis
    if found is None:
        return {"schema_version": SCHEMA_VERSION, "run": one.run.name, "modes": None, "reasons": {"modes": one.why_not}}
    return {
        "schema_version": SCHEMA_VERSION,
        "run": one.run.name,
        "failed_rollouts": found.partition.table.height,
        "modes": [_mode(mode, found) for mode in found.partition.modes],
        "findings": [_finding(finding, found) for finding in found.findings],
        "together": {
            "headroom": _headroom(found.together.headroom),
            "failures": found.together.failures,
            "remain": found.together.remain,
        },
        "contrasts": [_contrast(contrast, found) for contrast in found.contrasts],
        "dives": [_dive(dive, found) for dive in found.dives],
        "habits": [asdict(habit) for habit in found.habits],
        "interventions": [_intervention(one, found) for one in found.interventions],
        "doubts": [_doubt(doubt, found) for doubt in found.doubts],
        "across_repeats": [_doubt(doubt, found) for doubt in found.across],
        "alarms": [_alarm(alarm, found) for alarm in found.alarms],
        "detectors": [_lookout(one, found) for one in found.lookouts],
        "causes": dict(
            sorted(Counter(str(c.cause) if c.cause else "not settled" for c in found.causes.values()).items())
        ),
        "cut": list(found.cut),
    }


def _alarm(alarm: Alarm, found: Diagnosis) -> dict[str, Any]:
    return asdict(alarm) | {"evidence": [_evidence(one, found) for one in alarm.evidence]}


def _doubt(doubt: Doubt, found: Diagnosis) -> dict[str, Any]:
    return {
        "code": doubt.code,
        "strong": doubt.strong,
        "about": doubt.about,
        "tasks": list(doubt.tasks),
        "rollouts": doubt.rollouts,
        "message": doubt.message,
        "evidence": [_evidence(one, found) for one in doubt.evidence],
    }


def _lookout(one: Lookout, found: Diagnosis) -> dict[str, Any]:
    lift = {
        "scope": "within tasks",
        "risk_difference": one.risk_difference,
        "odds_ratio": one.odds_ratio,
        "p": one.p_value,
        "q": one.q_value,
        "tasks": one.informative,
    }
    return {
        "code": one.code,
        "name": one.name,
        "message": one.message,
        "suggests": str(one.suggests),
        "status": one.status,
        "grade": str(one.grade),
        "fired": one.fired,
        "looked": one.looked,
        "skipped": one.skipped,
        "tasks": one.tasks,
        "fired_failed": one.fired_failed,
        "fired_passed": one.fired_passed,
        "failed": one.failed,
        "passed": one.passed,
        "lift": lift if one.reason is None else None,
        "reason": one.reason,
        "evidence": [_evidence(piece, found) for piece in one.evidence],
    }


def _mode(mode: Mode, found: Diagnosis) -> dict[str, Any]:
    evidence = _evidence(mode.evidence, found) if mode.evidence is not None else None
    return {
        "id": mode.id,
        "name": mode.name,
        "party": mode.party,
        "grade": str(mode.grade),
        "rollouts": mode.rollouts,
        "tasks": mode.tasks,
        "note": mode.note,
        "place": _place(mode.evidence) if mode.evidence is not None else None,
        "quote": mode.evidence.quote if mode.evidence is not None else None,
        "evidence": evidence,
    }


def _finding(finding: Finding, found: Diagnosis) -> dict[str, Any]:
    return {
        "id": finding.id,
        "title": finding.title,
        "what": finding.what,
        "against": finding.against,
        "where": list(finding.where),
        "fix": finding.fix,
        "kind": finding.kind,
        "grade": str(finding.grade),
        "rollouts": finding.rollouts,
        "tasks": list(finding.task_ids),
        "places": list(finding.places),
        "headroom": _headroom(finding.headroom),
        "evidence": [_evidence(one, found) for one in finding.evidence],
    }


def _intervention(one: Intervention, found: Diagnosis) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "action": one.action,
        "source": one.source,
        "causes": [str(cause) for cause in one.causes],
        "tasks": list(one.task_ids),
        "rollouts": len(one.places),
        "places": list(one.places[:MOST_PLACES]),
        "headroom": _headroom(one.headroom),
        "adds": one.adds,
        "evidence": [_evidence(piece, found) for piece in one.evidence],
    }


def _headroom(room: Headroom) -> dict[str, Any]:
    return {
        "estimate": room.estimate,
        "ci": _ci(room.interval),
        "only_defect": room.only_defect,
        "ceiling": room.ceiling,
        "unreached_tasks": room.unreached_tasks,
        "reason": room.reason,
    }


def _contrast(contrast: Contrast, found: Diagnosis) -> dict[str, Any]:
    return {
        "task_id": contrast.task_id,
        "passing": list(contrast.passing),
        "failing": list(contrast.failing),
        "lucky": list(contrast.lucky),
        "only_passing": list(contrast.only_passing),
        "only_failing": list(contrast.only_failing),
        "divergences": [
            {
                "party": d.party,
                "failing": d.failing,
                "passing": d.passing,
                "shared_actions": d.shared,
                "what": d.what,
                "failed": _moment(d.failed, found),
                "passed": _moment(d.passed, found),
            }
            for d in contrast.divergences
        ],
    }


def _dive(dive: Dive, found: Diagnosis) -> dict[str, Any]:
    return {
        "task_id": dive.task_id,
        "bucket": dive.bucket,
        "why": dive.why,
        "due": dive.due,
        "repeats": [{"place": where, "outcome": outcome, "did": did} for where, outcome, did in dive.repeats],
        "lines": list(dive.lines),
        "evidence": [_evidence(one, found) for one in dive.evidence],
    }


def _moment(moment: Moment, found: Diagnosis) -> dict[str, Any]:
    return {
        "did": moment.did,
        "evidence": _evidence(moment.evidence, found) if moment.evidence is not None else None,
        "before": _evidence(moment.before, found) if moment.before is not None else None,
    }


def _evidence(evidence: Evidence, found: Diagnosis) -> dict[str, Any]:
    file, line = (found.files or {}).get((evidence.key.task_id, evidence.key.repeat), (None, None))
    return {
        "task_id": evidence.key.task_id,
        "repeat": evidence.key.repeat,
        "step": evidence.step,
        "field": evidence.field,
        "quote": evidence.quote,
        "file": file,
        "line": line,
    }


def task(row: TaskResult) -> dict[str, Any]:
    """A row of tasks.jsonl; causes are null until something decides them."""
    return {
        "task_id": row.task_id,
        "bucket": row.bucket,
        "rollouts": row.rollouts,
        "passed": row.passed,
        "failed": row.failed,
        "errored": row.errored,
        "unscored": row.unscored,
        "missing": row.missing,
        "mean_reward": row.mean_reward,
        **_cause(row),
        "modes": dict(row.modes),
        "findings": list(row.findings),
        "places": list(row.places),
        "slices": dict(row.slices),
    }


def _cause(row: TaskResult) -> dict[str, Any]:
    found = row.cause
    if found is None:
        why = None if row.passed == row.rollouts and not row.missing else "no diagnosis was made"
        return {"cause": None, "cause_code": None, "confidence": None, "because": why, "decided_by": None}
    return {
        "cause": str(found.cause) if found.cause else None,
        "cause_code": found.cause.code if found.cause else None,
        "confidence": found.confidence,
        "because": found.because,
        "decided_by": found.decided_by,
    }


def dump(value: object) -> str:
    """JSON as it is written to files."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def dump_lines(values: Iterable[object]) -> str:
    """JSON lines as they are written to files."""
    return "".join(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n" for value in values)


def summary(
    analysis: Analysis, more: Mapping[str, str], most_bytes: int | None = MOST_BYTES, limit: int = MOST_FINDINGS
) -> str:
    """What `--json` prints: at most 6 kB unless told otherwise, with commands that give the rest."""
    runs = [_short(one, limit) for one in analysis.runs]
    whole: dict[str, Any] = {**runs[0]} if len(runs) == 1 else {"runs": runs, "left_off": 0}
    whole["more"] = dict(more)
    while most_bytes is not None and len(_line(whole).encode()) > most_bytes and _shrink(whole):
        pass
    return _line(whole) + "\n"


def full(analysis: Analysis) -> str:
    """What `--json --full` prints: every number and every task."""
    runs = [
        {"metrics": metrics(one), "findings": findings(one), "tasks": [task(row) for row in one.tasks]}
        for one in analysis.runs
    ]
    return _line(runs) + "\n"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _short_finding(finding: Finding) -> dict[str, Any]:
    first = finding.evidence[0] if finding.evidence else None
    room = finding.headroom
    return {
        "id": finding.id,
        "what": f"{finding.title}. {finding.what}"[:LONGEST_WHAT],
        "grade": str(finding.grade),
        "rollouts": finding.rollouts,
        "tasks": finding.tasks,
        "points": {
            "estimate": room.estimate,
            "ci": _ci(room.interval),
            "only_defect": room.only_defect,
            "ceiling": room.ceiling,
        },
        "place": _place(first) if first else finding.places[0],
        "quote": first.quote[:LONGEST_WHAT] if first else None,
        "fix": finding.fix,
    }


def _place(evidence: Evidence) -> str:
    return str(evidence.key) + (f":{evidence.step}" if evidence.step is not None else "")


def _short(one: RunAnalysis, limit: int) -> dict[str, Any]:
    lead = leading(one)
    return {
        "run": one.run.name,
        "headline": {"metric": one.metrics.headline, "value": lead.value},
        "ci": _ci(lead.interval),
        "n": {"tasks": lead.n, **{k: v for k, v in one.metrics.counts.items() if k != "total_tasks"}},
        "buckets": dict(one.metrics.buckets),
        "baselines": {b.name: b.value for b in one.metrics.baselines},
        "findings": [_short_finding(f) for f in (one.diagnosis.findings if one.diagnosis else ())[:limit]],
        "doubts": [
            *one.metrics.doubts,
            *(d.message[:LONGEST_DOUBT] for d in (one.diagnosis.doubts if one.diagnosis else ())),
        ],
        "reasons": {"headline": lead.reason} if lead.value is None else {},
    }


def _shrink(whole: dict[str, Any]) -> bool:
    """Make the answer shorter by one step; False when nothing more can go."""
    runs = whole.get("runs")
    if runs and len(runs) > 1:
        runs.pop()
        whole["left_off"] += 1
        return True
    for longest in ("doubts", "findings"):
        if len(whole.get(longest, ())) > 1:
            whole[longest].pop()
            whole["shortened"] = True
            return True
    names = whole.get("more", {})
    if names:
        whole["more"] = {}
        return True
    return False
