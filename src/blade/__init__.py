"""BLADE, the Benchmark Level Analysis and Diagnostics Engine: from rollouts to honest numbers, with every one recomputable.

run = blade.load_run("results/rollouts.jsonl")
analysis = blade.analyze(run)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blade.core.analysis import Analysis
    from blade.core.audit import Audit
    from blade.core.comparison import Comparison
    from blade.core.run import Run
    from blade.core.trial import Trial
    from blade.python import analyze, audit, compare, explain, health, load_run, try_rule

__version__ = "0.1.0"

__all__ = [
    "Analysis",
    "Audit",
    "Comparison",
    "Run",
    "Trial",
    "__version__",
    "analyze",
    "audit",
    "compare",
    "explain",
    "health",
    "load_run",
    "try_rule",
]

_HOMES = {
    "Analysis": "blade.core.analysis",
    "Audit": "blade.core.audit",
    "Comparison": "blade.core.comparison",
    "Run": "blade.core.run",
    "analyze": "blade.python",
    "audit": "blade.python",
    "compare": "blade.python",
    "explain": "blade.python",
    "health": "blade.python",
    "Trial": "blade.core.trial",
    "load_run": "blade.python",
    "try_rule": "blade.python",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'blade' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
