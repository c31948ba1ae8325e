"""The catalog of failure modes: found in their files, in the order of decision, and shown as pages.

Adding a mode is adding a file `<group>/<name>.py` that holds a function of that name under `@mode`. Nothing is
registered anywhere else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from blade.model.errors import RequestError
from blade.modes.declaration import CHECKED, GROUPS, HEADINGS, FailureMode
from blade.modes.measured import in_words

PACKAGE = "blade.modes"


@cache
def all_modes() -> tuple[FailureMode, ...]:
    """Every mode in the order of decision; ValueError when a file breaks the form, or two share a code or an order."""
    path = importlib.import_module(PACKAGE).__path__
    modules = [one.name for one in pkgutil.walk_packages(path, PACKAGE + ".") if not one.ispkg]
    found = [_mode_in(name) for name in sorted(modules) if name.count(".") == PACKAGE.count(".") + 2]
    for what in ("code", "order"):
        values = [getattr(mode, what) for mode in found]
        if len(set(values)) < len(values):
            raise ValueError(f"two failure modes have one {what}: {sorted(v for v in values if values.count(v) > 1)}")
    return tuple(sorted(found, key=lambda mode: (GROUPS.index(mode.group), mode.order)))


@cache
def by_code() -> dict[str, FailureMode]:
    """The modes by their codes."""
    return {mode.code: mode for mode in all_modes()}


def mode_named(code: str) -> FailureMode:
    """The mode with a code; raises a request error that names the codes."""
    if code not in by_code():
        raise RequestError(f"no failure mode has the code {code!r}", hint="known: " + ", ".join(by_code()))
    return by_code()[code]


def _mode_in(path: str) -> FailureMode:
    name = path.rpartition(".")[2]
    found = getattr(importlib.import_module(path), name, None)
    if not isinstance(found, FailureMode) or found.code != name.replace("_", "-"):
        raise ValueError(f"{path}: no function {name} under @mode; file, function and code have one name")
    if (
        not found.definition.endswith(".")
        or tuple(h for h, text in found.sections if text and h != CHECKED) != HEADINGS
    ):
        raise ValueError(f"{path}: the docstring is a definition and the sections {', '.join(HEADINGS)}")
    return found


def page(mode: FailureMode) -> str:
    """The page of one mode, in Markdown."""
    return "\n".join([f"# {mode.code}", "", *_body(mode, 2)])


def catalog_page(modes: Sequence[FailureMode]) -> str:
    """A table of the modes in the order of decision, then the page of each, in Markdown."""
    lines = ["# Failure modes", "", "Made from the modes' own files; edit those.", ""]
    for group in GROUPS:
        mine = [mode for mode in modes if mode.group == group]
        if mine:
            lines += [f"## {group[0].upper()}{group[1:]}", "", "| code | what happened | responsible | cause | stage |"]
            lines += ["| --- | --- | --- | --- | --- |", *map(_row, mine), ""]
    for mode in modes:
        lines += [f"## {mode.code}", "", *_body(mode, 3)]
    return "\n".join(lines)


def _row(mode: FailureMode) -> str:
    return f"| {mode.code} | {mode.row} | {mode.party} | {_code_of(mode)} | {mode.stage} |"


def _code_of(mode: FailureMode) -> str:
    if mode.cause is not None:
        return mode.cause.code
    return "none" if mode.party == "unknown" else "UK or KG"


def _body(mode: FailureMode, level: int) -> list[str]:
    by_others = "none" if mode.party == "unknown" else "unreliable (UK) or knowledge (KG), by the other rollouts"
    cause = f"{mode.cause} ({mode.cause.code})" if mode.cause else by_others
    lines = [
        mode.definition,
        "",
        f"- In reports: {mode.row}",
        f"- Responsible: {mode.party}",
        f"- Group: {mode.group}; number {mode.order} in the order of decision",
        f"- Stage: {mode.stage}; {'validly graded' if mode.valid else 'not validly graded'}",
        f"- Cause: {cause}",
        f"- Action ({mode.owner}): {mode.action}",
        f"- Measured: {in_words(mode.code)}",
        "",
    ]
    for heading, text in mode.sections:
        lines += [f"{'#' * level} {heading}", "", text, ""]
    return lines
