"""Whether the rollouts of a package are cleared for sharing, and by which licence."""

from __future__ import annotations

import re
from pathlib import Path

from blade.model.check import Check
from blade.package.layout import find_package

CLEARANCE = "rollouts/CLEARANCE.md"
_MESSAGE = "rollout data is cleared for sharing"
_FIX = f"ask the owner of the data; then write `cleared: yes` and `licence: NAME` into {CLEARANCE}, a line each"
_LINE = re.compile(r"[\s>*_`-]*(?P<name>cleared|licen[cs]e)[\s*_`]*:[\s*_`]*(?P<value>[^\n]*)", re.IGNORECASE)
_YES = re.compile(
    r"yes\b[\s*_`.,;:()-]*(?:(?:by|under|with)\b)?\s*(?:the\s+)?(?:licen[cs]e)?[\s:]*(?P<licence>.*)", re.IGNORECASE
)
_OPEN = re.compile(r"(?:todo|tbd|tba|unknown|none|n/?a|pending|\?+|\.+|<.*|\[.*|name)?[\s*_`.)]*", re.IGNORECASE)
_SIGNS = " *_`.()"


def clearance(folder: Path) -> Check:
    """Holds with `cleared: yes` and a licence; None where there are no rollouts to clear."""
    if not folder.is_dir() or not find_package(folder).rollouts:
        return Check(code="S.clearance", passed=None, message=_MESSAGE, found="there are no rollouts")
    path = folder / CLEARANCE
    if not path.is_file():
        return _not(f"{CLEARANCE} is not there")
    try:
        said, licence = read(path.read_text(encoding="utf-8-sig", errors="replace"))
    except OSError:
        return _not(f"{CLEARANCE} cannot be read")
    if said is not True:
        return _not(f"{CLEARANCE} has no line `cleared: yes`" if said is None else f"{CLEARANCE} does not say yes")
    if not licence:
        return _not(f"{CLEARANCE} does not say by which licence")
    return Check(code="S.clearance", passed=True, message=_MESSAGE, found=f"{CLEARANCE} says yes and names a licence")


def read(text: str) -> tuple[bool | None, str]:
    """Whether a text says that data are cleared (None when it says nothing), and the licence; one `no` outweighs."""
    said: list[bool] = []
    licence = ""
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        value = match["value"].strip(_SIGNS)
        if match["name"].lower() == "cleared":
            yes = _YES.match(value)
            said.append(yes is not None)
            value = yes["licence"].strip(_SIGNS) if yes else ""
        licence = licence or ("" if _OPEN.fullmatch(value) else value)
    return (all(said) if said else None), licence


def _not(found: str) -> Check:
    return Check(code="S.clearance", passed=False, message=_MESSAGE, found=found, fix=_FIX)
