"""A comparison as a decision: is the candidate good enough under a policy? As text, JSON and JUnit XML."""

from __future__ import annotations

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from msgspec import Struct

from blade.comparison.scores import SIGNIFICANT
from blade.comparison.values import Comparison, ComparisonVerdict, ScoreChange
from blade.model.errors import ArtifactError, RequestError
from blade.stats.counts import count

POINTS = 100
_NUMBERS = {"max_drop": 100.0, "margin": 100.0, "coverage": 1.0}
"""Numbers of a policy and what they may reach: points, points, a share."""


class GateState(StrEnum):
    """Whether a check holds."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class GatePolicy(Struct, frozen=True, kw_only=True):
    """What a candidate must keep; points are fractions."""

    metric: str = "all_expected"
    """all_expected or judged."""
    max_drop: float = 0.02
    margin: float = 0.02
    coverage: float = 0.95
    """Share of the candidate's expected rollouts that must be judged."""
    inconclusive: GateState = GateState.INCONCLUSIVE
    """What a check that cannot be decided counts as."""


class GateCheck(Struct, frozen=True, kw_only=True):
    """One check, with its reason in a sentence."""

    name: str
    state: GateState
    because: str


class Gate(Struct, frozen=True, kw_only=True):
    """All checks of a comparison under a policy, and what follows from them; `blade gate --json` prints it."""

    state: GateState
    """Fails if a check fails; else what the policy makes of checks that cannot be decided."""
    baseline: str
    candidate: str
    policy: GatePolicy
    checks: tuple[GateCheck, ...]


def read_policy(path: Path) -> GatePolicy:
    """The policy in a TOML file; an error names the file and what to do."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RequestError(f"cannot read the policy {path}: {error.strerror}", hint="give a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ArtifactError(f"{path.name} is no TOML: {error}", hint="mend the file") from None
    known = ("metric", "inconclusive", *_NUMBERS)
    for name in entries:
        if name not in known:
            raise ArtifactError(f"{path.name}: nothing is called {name!r}", hint=f"known: {', '.join(known)}")
    values: dict[str, Any] = {}
    for name, most in _NUMBERS.items():
        value = entries.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            raise ArtifactError(f"{path.name}: {name} must be a number from 0 to {most:g}", hint=f"got {value!r}")
        values[name] = float(value) / POINTS if most == POINTS else float(value)
    for name, allowed in (("metric", ("all_expected", "judged")), ("inconclusive", tuple(map(str, GateState)))):
        if name in entries and entries[name] not in allowed:
            hint = f"got {entries[name]!r}"
            raise ArtifactError(f"{path.name}: {name} must be one of {', '.join(allowed)}", hint=hint)
    if "inconclusive" in entries:
        values["inconclusive"] = GateState(entries["inconclusive"])
    if "metric" in entries:
        values["metric"] = entries["metric"]
    return GatePolicy(**values)


def gate(comparison: Comparison, policy: GatePolicy) -> Gate:
    """Every check of the policy on a comparison."""
    checks = (_comparable(comparison), _coverage(comparison, policy), _drop(comparison, policy))
    states = [check.state for check in checks]
    undecided = policy.inconclusive if GateState.INCONCLUSIVE in states else GateState.PASS
    return Gate(
        state=GateState.FAIL if GateState.FAIL in states else undecided,
        baseline=comparison.baseline.name,
        candidate=comparison.candidate.name,
        policy=policy,
        checks=checks,
    )


def _comparable(comparison: Comparison) -> GateCheck:
    if comparison.verdict is ComparisonVerdict.NOT_COMPARABLE:
        return GateCheck(name="comparable", state=GateState.FAIL, because=comparison.expected.because)
    shared = f"{comparison.pairing.shared} tasks are shared"
    return GateCheck(name="comparable", state=GateState.PASS, because=shared)


def _coverage(comparison: Comparison, policy: GatePolicy) -> GateCheck:
    counts = count(comparison.candidate)
    judged, expected = int(counts.judged.sum()), int(counts.expected.sum())
    because = f"{judged} of {expected} expected rollouts were judged, and {policy.coverage:.0%} are asked for"
    enough = expected > 0 and judged >= policy.coverage * expected
    return GateCheck(name="coverage", state=GateState.PASS if enough else GateState.FAIL, because=because)


def _drop(comparison: Comparison, policy: GatePolicy) -> GateCheck:
    """Non-inferiority: the drop is ruled out, is there, or neither."""
    change = comparison.expected if policy.metric == "all_expected" else comparison.judged
    name = f"{policy.metric} drops by at most {policy.max_drop * POINTS:g} points"
    if change.delta is None or change.ci90 is None:
        return GateCheck(name=name, state=GateState.INCONCLUSIVE, because=change.reason or change.because)
    low, high = change.ci90
    because = f"{change.delta * POINTS:+.1f} points (90 %: {low * POINTS:+.1f} to {high * POINTS:+.1f})"
    return GateCheck(name=name, state=_drop_state(change, (low, high), policy.max_drop), because=because)


def _drop_state(change: ScoreChange, limits: tuple[float, float], most: float) -> GateState:
    low, high = limits
    if change.identical or low >= -most:
        return GateState.PASS
    dropped = (change.delta or 0.0) < -most and (change.p_value or 1.0) <= SIGNIFICANT
    return GateState.FAIL if high < -most or dropped else GateState.INCONCLUSIVE


def gate_text(gate: Gate) -> list[str]:
    """A line a check, the decision first."""
    lines = [f"{gate.state}: {gate.candidate} against {gate.baseline}"]
    return [*lines, *(f"  {check.state:<13} {check.name}: {check.because}" for check in gate.checks)]


def gate_junit(gate: Gate) -> str:
    """JUnit XML: a check that fails is a failure; one that cannot be decided is what the policy says, or skipped."""
    failing, skipping = {GateState.FAIL}, set()
    if gate.policy.inconclusive is GateState.FAIL:
        failing.add(GateState.INCONCLUSIVE)
    elif gate.policy.inconclusive is GateState.INCONCLUSIVE:
        skipping.add(GateState.INCONCLUSIVE)
    suite = ET.Element(
        "testsuite",
        name=_xml(f"blade gate {gate.candidate} against {gate.baseline}"),
        tests=str(len(gate.checks)),
        failures=str(sum(check.state in failing for check in gate.checks)),
        skipped=str(sum(check.state in skipping for check in gate.checks)),
    )
    for check in gate.checks:
        case = ET.SubElement(suite, "testcase", classname="blade.gate", name=_xml(check.name))
        if check.state in failing:
            ET.SubElement(case, "failure", message=_xml(check.because))
        elif check.state in skipping:
            ET.SubElement(case, "skipped", message=_xml(f"inconclusive: {check.because}"))
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _xml(text: str) -> str:
    """Text without characters that XML cannot hold."""
    return "".join(c if c.isprintable() else " " for c in text)
