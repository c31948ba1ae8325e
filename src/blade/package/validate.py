"""Every check of a package, phase by phase, and the checklist before a benchmark is called BLADE-ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from blade.model.check import Check
from blade.model.errors import RequestError
from blade.package.checks_golden import golden_checks
from blade.package.checks_rollouts import rollout_checks
from blade.package.checks_skill import skill_checks
from blade.package.layout import Package
from blade.package.rollouts import PackageRollouts
from blade.package.sanitize import sanitize, sanitize_checks

PHASES = ("all", "skill", "rollouts", "golden")
FEWEST_FACTS = 8
ITEMS = (
    ("D1 skill has overview, schema, taxonomy, workflow, and report template", ("D1.",)),
    ("D2 rollouts include at least two scored, comparable runs", ("D2.",)),
    (
        "D3 golden reports cite task-level evidence, not only aggregate tables",
        ("D3.report", "D3.sections", "D3.evidence", "D3.audit", "D3.subject", "D3.open"),
    ),
    ("Metrics sidecars parse and match the report", ("D3.metrics",)),
    ("Anchor facts exist for each golden report and are concrete", ("D3.facts",)),
    ("Shallow baselines exist for calibration", ("D3.shallow",)),
    (
        (
            "Sanitization removes private source, endpoints, credentials, user names, unreleased benchmark names, and raw"
            " data that is not cleared for sharing"
        ),
        ("S.",),
    ),
)
"""Each item, and how the codes of its checks begin."""


class ReadinessItem(Struct, frozen=True, kw_only=True):
    """One line of the checklist; an item that nothing could be checked for is not done."""

    text: str
    done: bool
    held: int
    of: int
    open: tuple[str, ...]
    """Codes of the checks that do not hold, each once."""


class Validation(Struct, frozen=True, kw_only=True):
    """What came of validating a package; the checklist is empty unless every phase was asked for."""

    phase: str
    checks: tuple[Check, ...]
    items: tuple[ReadinessItem, ...]

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
    data = PackageRollouts(package)
    phases: dict[str, Callable[[], Iterator[Check]]] = {
        "skill": lambda: skill_checks(package, data),
        "rollouts": lambda: rollout_checks(package, data),
        "golden": lambda: golden_checks(package, data, fewest_facts),
    }
    if phase != "all":
        return Validation(phase=phase, checks=tuple(phases[phase]()), items=())
    checks = [check for checks_of in phases.values() for check in checks_of()]
    checks += sanitize_checks(sanitize(package.folder))
    items = []
    for text, codes in ITEMS:
        decided = [check for check in checks if check.code.startswith(codes) and check.passed is not None]
        failing = dict.fromkeys(check.code for check in decided if not check.passed)
        held = sum(check.passed is True for check in decided)
        done = bool(decided) and not failing
        items.append(ReadinessItem(text=text, done=done, held=held, of=len(decided), open=tuple(failing)))
    return Validation(phase=phase, checks=tuple(checks), items=tuple(items))


def check_lines(check: Check) -> Iterator[str]:
    """A check with what was found; a failure with its fix below."""
    mark = {True: "[PASS]", False: "[FAIL]", None: "[INFO]"}[check.passed]
    yield f"{mark} {check.message}" + (f": {_flat(check.found)}" if check.found else "")
    if check.passed is False and check.fix:
        yield f"       fix: {_flat(check.fix)}"


def _flat(text: str) -> str:
    """One line without control characters: file names and rows may hold anything."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def check_json(check: Check) -> dict[str, object]:
    """A check as data."""
    verdict = {True: "pass", False: "fail", None: "unknown"}[check.passed]
    fix = {"fix": check.fix} if check.passed is False else {}
    return {"code": check.code, "verdict": verdict, "message": check.message, "found": check.found, **fix}
