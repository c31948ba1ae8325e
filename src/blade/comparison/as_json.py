"""Two runs against each other as JSON values; fractions, not percent."""

from __future__ import annotations

import json
from typing import Any

from blade.comparison.report import drivers
from blade.comparison.values import Change, Comparison, Flip, Held, Shift, SliceChange, Term
from blade.model.analysis import SCHEMA_VERSION
from blade.model.measure import Interval

MOST_BYTES = 6_000
MOST_REFS = 3
_CUT = ("flips", "slices", "shifts", "drivers")
_ALLOWED = ((5, 5), (5, 3), (5, 2), (4, 1), (3, 1), (2, 1), (1, 1))
"""How many flips and how many of the others stay, until it fits."""


def comparison(one: Comparison) -> dict[str, Any]:
    """The content of comparison.json."""
    before, after = one.own
    return {
        "schema_version": SCHEMA_VERSION,
        "baseline": one.baseline.name,
        "candidate": one.candidate.name,
        "metric": one.headline,
        "verdict": str(one.verdict),
        "because": one.expected.because,
        "delta": {
            "score": "all_expected",
            "baseline": before,
            "candidate": after,
            "delta": one.delta,
            "shared": {
                "baseline": one.expected.baseline,
                "candidate": one.expected.candidate,
                "delta": one.expected.delta,
            },
            **_change(one.expected),
            "judged": {
                "baseline": one.judged.baseline,
                "candidate": one.judged.candidate,
                "delta": one.judged.delta,
                "verdict": str(one.judged.verdict),
                **_change(one.judged),
            },
        },
        "margin": one.margin,
        "tasks": {
            "shared": len(one.joined.pairs),
            "only_baseline": list(one.joined.only_baseline),
            "only_candidate": list(one.joined.only_candidate),
            "joined_by": dict(one.joined.joined_by),
            "key_changed": list(one.joined.key_changed),
            "unproven": one.joined.unproven,
            "id_conflict": list(one.joined.id_conflict),
        },
        "transitions": [{"from": a, "to": b, "tasks": n} for (a, b), n in one.transitions.items()],
        "flips": [_flip(flip) for flip in one.flips],
        "held_fixed": {held.aspect: _held(held) for held in one.held},
        "ledger": [_term(term) for term in one.ledger],
        "drivers": drivers(one),
        "slices": [_slice(each) for each in one.slices],
        "shifts": [_shift(each) for each in one.shifts],
        "spent": {s.name: {"baseline": s.baseline, "candidate": s.candidate} for s in one.spent},
        "traps": list(one.traps),
    }


def short(one: Comparison) -> dict[str, Any]:
    """The same in at most 6 kB where that can be: lists are cut, and say how much was left off; no term that counts is."""
    whole = comparison(one)
    counts = {name: len(whole[name]) for name in _CUT}
    for name in ("only_baseline", "only_candidate"):
        whole["tasks"][name] = len(whole["tasks"][name])
    whole["held_fixed"] = {name: _said(held) for name, held in whole["held_fixed"].items()}
    whole["ledger"] = [_brief(term) for term in whole["ledger"] if term["rollouts"] or term["tasks"]]
    for flips, others in _ALLOWED:
        for name in _CUT:
            whole[name] = whole[name][: flips if name == "flips" else others]
            whole[f"{name}_left_off"] = counts[name] - len(whole[name])
        if len(json.dumps(whole, ensure_ascii=False).encode()) <= MOST_BYTES:
            break
    return whole


def _said(held: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in held.items() if value}


def _brief(term: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in term.items() if name != "slices"} | {
        "evidence": term["evidence"][:MOST_REFS]
    }


def _change(found: Change) -> dict[str, Any]:
    return {
        "ci": _interval(found.interval),
        "p_value": found.p_value,
        "method": found.method,
        "mde": found.mde,
        "equivalence_bound": found.equivalence_bound,
        "n": found.n,
        "reason": found.reason,
    }


def _interval(interval: Interval | None) -> list[float] | None:
    return [interval.low, interval.high] if interval is not None else None


def _term(term: Term) -> dict[str, Any]:
    return {
        "term": term.term,
        "points": term.points,
        "ci": _interval(term.interval),
        "rollouts": term.rollouts,
        "tasks": term.tasks,
        "score_after": term.score_after,
        "what": term.what,
        "evidence": list(term.places),
        "slices": [_slice(each) for each in term.slices],
    }


def _flip(flip: Flip) -> dict[str, Any]:
    return {
        "task_id": flip.task_id,
        "candidate_id": flip.candidate_id,
        "from": flip.before,
        "to": flip.after,
        "baseline_passed": flip.baseline_passed,
        "candidate_passed": flip.candidate_passed,
        "locations": list(flip.places),
        "parting": flip.parting,
    }


def _held(held: Held) -> dict[str, Any]:
    return {
        "state": held.state,
        "baseline": held.baseline,
        "candidate": held.candidate,
        "note": held.note,
        "diff": list(held.diff),
    }


def _slice(each: SliceChange) -> dict[str, Any]:
    return {
        "field": each.field,
        "value": each.value,
        "tasks": each.tasks,
        "baseline": each.baseline,
        "candidate": each.candidate,
        "p_value": each.p_value,
        "q_value": each.q_value,
    }


def _shift(each: Shift) -> dict[str, Any]:
    return {
        "kind": each.kind,
        "id": each.id,
        "name": each.name,
        "baseline": each.baseline,
        "candidate": each.candidate,
        "baseline_of": each.baseline_of,
        "candidate_of": each.candidate_of,
        "new": each.is_new,
        "gone": each.is_gone,
        "q_value": each.q_value,
        "matters": each.matters,
    }
