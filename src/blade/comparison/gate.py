"""A comparison as a decision: is the candidate good enough under a policy?"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from blade.comparison.gate_values import Check, Gate, Policy, State
from blade.comparison.values import Change, Comparison, Verdict
from blade.model.errors import ArtifactError, RequestError
from blade.stats.counts import count

POINTS = 100
_NUMBERS = {"max_drop": 100.0, "margin": 100.0, "coverage": 1.0}
"""Numbers of a policy and what they may reach: points, points, a share."""


def read_policy(path: Path) -> Policy:
    """The policy in a TOML file; an error names the file and what to do."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RequestError(f"cannot read the policy {path}: {error.strerror}", hint="give a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ArtifactError(f"{path.name} is no TOML: {error}", hint="mend the file") from None
    known = ("metric", "inconclusive", *_NUMBERS)
    for name in found:
        if name not in known:
            raise ArtifactError(f"{path.name}: nothing is called {name!r}", hint=f"known: {', '.join(known)}")
    return _policy(found, path.name)


def _policy(found: dict[str, Any], shown: str) -> Policy:
    values: dict[str, Any] = {}
    for name, most in _NUMBERS.items():
        value = found.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            raise ArtifactError(f"{shown}: {name} must be a number from 0 to {most:g}", hint=f"got {value!r}")
        values[name] = float(value) / POINTS if most == POINTS else float(value)
    for name, allowed in (("metric", ("all_expected", "judged")), ("inconclusive", tuple(map(str, State)))):
        if name in found and found[name] not in allowed:
            raise ArtifactError(f"{shown}: {name} must be one of {', '.join(allowed)}", hint=f"got {found[name]!r}")
    if "inconclusive" in found:
        values["inconclusive"] = State(found["inconclusive"])
    if "metric" in found:
        values["metric"] = found["metric"]
    return Policy(**values)


def gate(one: Comparison, policy: Policy) -> Gate:
    """Every check of the policy on a comparison."""
    checks = (_comparable(one), _coverage(one, policy), _drop(one, policy))
    return Gate(policy=policy, baseline=one.baseline.name, candidate=one.candidate.name, checks=checks)


def _comparable(one: Comparison) -> Check:
    if one.verdict is Verdict.NOT_COMPARABLE:
        return Check(name="comparable", state=State.FAIL, because=one.expected.because)
    shared = f"{len(one.joined.pairs)} tasks are shared"
    return Check(name="comparable", state=State.PASS, because=shared)


def _coverage(one: Comparison, policy: Policy) -> Check:
    counts = count(one.candidate)
    judged, expected = int(counts.judged.sum()), int(counts.expected.sum())
    told = f"{judged} of {expected} expected rollouts were judged, and {policy.coverage:.0%} are asked for"
    held = expected > 0 and judged >= policy.coverage * expected
    return Check(name="coverage", state=State.PASS if held else State.FAIL, because=told)


def _drop(one: Comparison, policy: Policy) -> Check:
    """Non-inferiority: the drop is ruled out, is there, or neither."""
    found = one.expected if policy.metric == "all_expected" else one.judged
    name = f"{policy.metric} drops by at most {policy.max_drop * POINTS:g} points"
    if found.delta is None or found.interval90 is None:
        return Check(name=name, state=State.INCONCLUSIVE, because=found.reason or found.because)
    told = f"{found.delta * POINTS:+.1f} points (90 %: {found.interval90.low * POINTS:+.1f} to {found.interval90.high * POINTS:+.1f})"
    return Check(name=name, state=_settled(found, policy.max_drop), because=told)


def _settled(found: Change, most: float) -> State:
    low, high = (found.interval90.low, found.interval90.high) if found.interval90 is not None else (-1.0, 1.0)
    if found.identical or low >= -most:
        return State.PASS
    dropped = (found.delta or 0.0) < -most and (found.p_value or 1.0) <= 0.05
    return State.FAIL if high < -most or dropped else State.INCONCLUSIVE
