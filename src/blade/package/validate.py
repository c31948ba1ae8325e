"""Every check of a package, phase by phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from blade.model.check import Check
from blade.model.errors import RequestError
from blade.package.checks_golden import golden_checks
from blade.package.checks_rollouts import rollout_checks
from blade.package.checks_skill import skill_checks
from blade.package.data import Data
from blade.package.layout import Package
from blade.package.readiness import Item, readiness
from blade.package.sanitize import sanitize_checks

PHASES = ("all", "skill", "rollouts", "golden")
FEWEST_FACTS = 8


@dataclass(frozen=True, kw_only=True)
class Validation:
    """What came of validating a package; the checklist is empty unless every phase was asked for."""

    phase: str
    checks: tuple[Check, ...]
    items: tuple[Item, ...]

    @property
    def decided(self) -> tuple[Check, ...]:
        """The checks that could be decided."""
        return tuple(check for check in self.checks if check.passed is not None)

    @property
    def held(self) -> int:
        """How many checks hold."""
        return sum(check.passed is True for check in self.checks)

    @property
    def passed(self) -> bool:
        """No check fails."""
        return self.held == len(self.decided)


def validate(package: Package, phase: str = "all", fewest_facts: int = FEWEST_FACTS) -> Validation:
    """Check a package; RequestError when there is no such phase."""
    if phase not in PHASES:
        raise RequestError(f"no phase is called {phase!r}", hint=f"one of {', '.join(PHASES)}")
    data = Data(package)
    phases: dict[str, Callable[[], Iterator[Check]]] = {
        "skill": lambda: skill_checks(package, data),
        "rollouts": lambda: rollout_checks(package, data),
        "golden": lambda: golden_checks(package, data, fewest_facts),
    }
    wanted = [phase] if phase != "all" else list(phases)
    checks = tuple(check for name in wanted for check in phases[name]())
    checks += sanitize_checks(package) if phase == "all" else ()
    return Validation(phase=phase, checks=checks, items=readiness(checks) if phase == "all" else ())
