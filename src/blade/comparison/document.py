"""`comparison.json`: two runs against each other as one document; fractions, not percent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from blade.comparison.report import drivers
from blade.comparison.values import (
    Comparison,
    ComparisonVerdict,
    Flip,
    HeldFixed,
    LedgerTerm,
    Limits,
    Shift,
    SliceChange,
    Spent,
    TaskPairing,
    Transition,
)
from blade.model.analysis import SCHEMA_VERSION

MOST_BYTES = 6_000
MOST_REFS = 3
_CUT = ("flips", "slices", "shifts", "drivers")
_ALLOWED = ((5, 5), (5, 3), (5, 2), (4, 1), (3, 1), (2, 1), (1, 1))
"""How many flips and how many of the others stay, until it fits."""


class SharedScores(Struct, frozen=True, kw_only=True):
    """The scores on the tasks that both runs have."""

    baseline: float | None
    candidate: float | None
    delta: float | None


class JudgedChange(Struct, frozen=True, kw_only=True):
    """The change where only judged rollouts count."""

    baseline: float | None
    candidate: float | None
    delta: float | None
    verdict: ComparisonVerdict
    ci: Limits | None
    p_value: float | None
    method: str
    mde: float | None
    equivalence_bound: float | None
    n: int
    reason: str | None


class ExpectedChange(Struct, frozen=True, kw_only=True):
    """The change over all expected rollouts: on each run's own tasks, with the test of the shared ones."""

    score: str
    baseline: float | None
    candidate: float | None
    delta: float | None
    """On each run's own tasks; the ledger sums to it."""
    shared: SharedScores
    ci: Limits | None
    """Of the change on shared tasks, as are the fields below."""
    p_value: float | None
    method: str
    mde: float | None
    equivalence_bound: float | None
    n: int
    reason: str | None
    judged: JudgedChange


class ComparisonDocument(Struct, frozen=True, kw_only=True):
    """The content of comparison.json."""

    schema_version: str
    baseline: str
    candidate: str
    metric: str
    verdict: ComparisonVerdict
    because: str
    delta: ExpectedChange
    margin: float
    tasks: TaskPairing
    transitions: tuple[Transition, ...]
    flips: tuple[Flip, ...]
    held_fixed: Mapping[str, HeldFixed]
    ledger: tuple[LedgerTerm, ...]
    drivers: tuple[str, ...]
    slices: tuple[SliceChange, ...]
    shifts: tuple[Shift, ...]
    spent: Mapping[str, Spent]
    traps: tuple[str, ...]


def document(comparison: Comparison) -> ComparisonDocument:
    """The comparison as it is written to comparison.json."""
    before, after = comparison.own
    own = {"score": "all_expected", "baseline": before, "candidate": after, "delta": comparison.delta}
    parts = {"shared": comparison.expected, "judged": comparison.judged}
    named = {
        "schema_version": SCHEMA_VERSION,
        "baseline": comparison.baseline.name,
        "candidate": comparison.candidate.name,
        "metric": comparison.headline,
        "verdict": comparison.verdict,
        "because": comparison.expected.because,
        "delta": asdict(comparison.expected) | own | parts,
        "tasks": comparison.pairing,
        "drivers": drivers(comparison),
    }
    return msgspec.convert(asdict(comparison) | named, ComparisonDocument, from_attributes=True)


def shortened(comparison: Comparison) -> dict[str, Any]:
    """The document in at most 6 kB where that can be: lists are cut, and say how much was left off; no term that counts is."""
    short: dict[str, Any] = msgspec.to_builtins(document(comparison))
    counts = {name: len(short[name]) for name in _CUT}
    for name in ("only_baseline", "only_candidate"):
        short["tasks"][name] = len(short["tasks"][name])
    for aspect, values in short["held_fixed"].items():
        short["held_fixed"][aspect] = {name: value for name, value in values.items() if value}
    short["ledger"] = [term for term in short["ledger"] if term["rollouts"] or term["tasks"]]
    for term in short["ledger"]:
        del term["slices"]
        term["evidence"] = term["evidence"][:MOST_REFS]
    for flips, others in _ALLOWED:
        for name in _CUT:
            short[name] = short[name][: flips if name == "flips" else others]
            short[f"{name}_left_off"] = counts[name] - len(short[name])
        if len(msgspec.json.format(msgspec.json.encode(short), indent=0)) <= MOST_BYTES:
            break
    return short
