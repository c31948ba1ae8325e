"""What a gate decides: checks that hold, do not hold, or cannot be settled."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Whether a check holds."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a candidate must keep; points are fractions."""

    metric: str = "all_expected"
    """all_expected or judged."""
    max_drop: float = 0.02
    margin: float = 0.02
    coverage: float = 0.95
    """Share of the candidate's expected rollouts that must be judged."""
    inconclusive: State = State.INCONCLUSIVE
    """What a check that cannot be settled counts as."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check, with its reason in a sentence."""

    name: str
    state: State
    because: str


@dataclass(frozen=True, kw_only=True)
class Gate:
    """All checks of a comparison under a policy."""

    policy: Policy
    baseline: str
    candidate: str
    checks: tuple[Check, ...]

    @property
    def state(self) -> State:
        """Fails if a check fails; else what the policy makes of checks that cannot be settled."""
        states = [check.state for check in self.checks]
        if State.FAIL in states:
            return State.FAIL
        return self.policy.inconclusive if State.INCONCLUSIVE in states else State.PASS
