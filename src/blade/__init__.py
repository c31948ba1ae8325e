"""BLADE, the Benchmark Level Analysis and Diagnostics Engine: from rollouts to honest numbers, with every one recomputable.

run = blade.load_run("results/rollouts.jsonl")
analysis = blade.analyze(run)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blade.api import analyze, audit, compare, explain, health, load_run, show, try_rule
    from blade.benchmark_health.values import Health
    from blade.claims.values import Audit
    from blade.comparison.values import Comparison
    from blade.model.analysis import Analysis
    from blade.model.diagnosis import RuleTrial
    from blade.model.errors import BladeError
    from blade.model.run import Run

__version__ = "0.1.0"

_HOMES = {
    "Analysis": "blade.model.analysis",
    "Audit": "blade.claims.values",
    "BladeError": "blade.model.errors",
    "Comparison": "blade.comparison.values",
    "Health": "blade.benchmark_health.values",
    "RuleTrial": "blade.model.diagnosis",
    "Run": "blade.model.run",
    "analyze": "blade.api",
    "audit": "blade.api",
    "compare": "blade.api",
    "explain": "blade.api",
    "health": "blade.api",
    "load_run": "blade.api",
    "show": "blade.api",
    "try_rule": "blade.api",
}
"""Where each public name is defined: nothing heavy is imported before it is used."""

__all__ = [
    "Analysis",
    "Audit",
    "BladeError",
    "Comparison",
    "Health",
    "RuleTrial",
    "Run",
    "__version__",
    "analyze",
    "audit",
    "compare",
    "explain",
    "health",
    "load_run",
    "show",
    "try_rule",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'blade' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
