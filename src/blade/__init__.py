"""BLADE, the Benchmark Level Analysis and Diagnostics Engine: from rollouts to honest numbers, with every one recomputable.

run = blade.load_run("results/rollouts.jsonl")
analysis = blade.analyze(run)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blade.core.analysis import Analysis
    from blade.core.run import Run
    from blade.python import analyze, explain, load_run

__version__ = "0.1.0"

__all__ = ["Analysis", "Run", "__version__", "analyze", "explain", "load_run"]

_HOMES = {
    "Analysis": "blade.core.analysis",
    "Run": "blade.core.run",
    "analyze": "blade.python",
    "explain": "blade.python",
    "load_run": "blade.python",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'blade' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
