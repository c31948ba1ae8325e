"""findings.json: what went wrong, with evidence; the names of fields are a contract."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec.structs import asdict

from blade.model.analysis import SCHEMA_VERSION, RunAnalysis
from blade.model.diagnosis import (
    Alarm,
    Contrast,
    DeepDive,
    Diagnosis,
    Doubt,
    Finding,
    Headroom,
    Intervention,
    Mode,
    Moment,
    RuleStatistics,
)
from blade.model.finding import Evidence
from blade.report.metrics_json import limits


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
        "deep_dives": [_deep_dive(deep_dive, found) for deep_dive in found.deep_dives],
        "habits": [asdict(habit) for habit in found.habits],
        "interventions": [_intervention(one, found) for one in found.interventions],
        "doubts": [_doubt(doubt, found) for doubt in found.doubts],
        "across_repeats": [_doubt(doubt, found) for doubt in found.across],
        "alarms": [_alarm(alarm, found) for alarm in found.alarms],
        "rules": [_rule_statistics(one, found) for one in found.rule_statistics],
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


def _rule_statistics(one: RuleStatistics, found: Diagnosis) -> dict[str, Any]:
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
        "support": str(one.support),
        "fired": one.fired,
        "checked": one.checked,
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
        "support": str(mode.support),
        "rollouts": mode.rollouts,
        "tasks": mode.tasks,
        "note": mode.note,
        "location": location_of(mode.evidence) if mode.evidence is not None else None,
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
        "fix": finding.fix or None,
        "kind": finding.kind,
        "support": str(finding.support),
        "rollouts": finding.rollouts,
        "tasks": list(finding.task_ids),
        "locations": list(finding.places),
        "headroom": _headroom(finding.headroom) if finding.fix else None,
        "evidence": [_evidence(one, found) for one in finding.evidence],
    }


def _intervention(one: Intervention, found: Diagnosis) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "action": one.action,
        "source": one.source,
        "causes": [str(cause) for cause in one.causes],
        "tasks": list(one.task_ids),
        "rollouts": one.rollouts,
        "locations": list(one.places),
        "headroom": _headroom(one.headroom),
        "adds": one.adds,
        "evidence": [_evidence(piece, found) for piece in one.evidence],
    }


def _headroom(room: Headroom) -> dict[str, Any]:
    return {
        "estimate": room.estimate,
        "ci": limits(room.interval),
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


def _deep_dive(deep_dive: DeepDive, found: Diagnosis) -> dict[str, Any]:
    return {
        "task_id": deep_dive.task_id,
        "bucket": deep_dive.bucket,
        "why": deep_dive.why,
        "due": deep_dive.due,
        "repeats": [{"location": where, "outcome": outcome, "did": did} for where, outcome, did in deep_dive.repeats],
        "lines": list(deep_dive.lines),
        "evidence": [_evidence(one, found) for one in deep_dive.evidence],
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


def location_of(evidence: Evidence) -> str:
    return str(evidence.key) + (f":{evidence.step}" if evidence.step is not None else "")
