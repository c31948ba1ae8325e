"""Packages that a verifier needs and that may not be installed."""

from __future__ import annotations

from importlib.util import find_spec

from blade.model.errors import RequestError

_EXTRA = "pip install 'blade-bench[gym]'"


def needed(*modules: str, requirement: str | None = None) -> None:
    """Raise RequestError, with the command that installs them, where a module is missing.

    `requirement` is of a package that is installed without its dependencies; the others come with the extra `gym`.
    """
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        how = _EXTRA if requirement is None else f"pip install --no-deps '{requirement}'"
        raise RequestError(f"the verifier needs {', '.join(missing)}, which is not installed", hint=how)
