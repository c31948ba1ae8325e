"""Packages that a verifier needs and that may not be installed."""

from __future__ import annotations

from importlib.util import find_spec

from blade.core.errors import RequestError


def needed(module: str, requirement: str) -> None:
    """Raise RequestError, with the command that installs it, where a module is missing."""
    if find_spec(module) is None:
        raise RequestError(
            f"the verifier needs the package {module}, which is not installed",
            hint=f"pip install --no-deps '{requirement}'",
        )
