"""Tasks and the short answer as JSON, and how JSON is written; the names of fields are a contract."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from blade.model.analysis import Analysis, RunAnalysis, TaskResult
from blade.model.diagnosis import Finding
from blade.report.findings_json import findings, location_of
from blade.report.metrics_json import limits, metrics
from blade.report.page_one import leading

MOST_BYTES = 6_000
MOST_FINDINGS = 3
LONGEST_WHAT = 300
LONGEST_DOUBT = 240


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
        "locations": list(row.places),
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
        "support": str(finding.support),
        "rollouts": finding.rollouts,
        "tasks": finding.tasks,
        "points": {
            "estimate": room.estimate,
            "ci": limits(room.interval),
            "only_defect": room.only_defect,
            "ceiling": room.ceiling,
        }
        if finding.fix
        else None,
        "location": location_of(first) if first else finding.places[0],
        "quote": first.quote[:LONGEST_WHAT] if first else None,
        "fix": finding.fix or None,
    }


def _short(one: RunAnalysis, limit: int) -> dict[str, Any]:
    lead = leading(one)
    return {
        "run": one.run.name,
        "headline": {"metric": one.metrics.headline, "value": lead.value},
        "ci": limits(lead.interval),
        "n": {
            "tasks": lead.n,
            **{k: v for k, v in one.metrics.counts.items() if k != "total_tasks"},
            "problems": one.run.problem_count,
        },
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
