"""What `blade package validate` says: a line a check, a fix below each failure, the checklist, the sum."""

from __future__ import annotations

from collections.abc import Iterator

from blade.model.check import Check

_MARKS = {True: "[PASS]", False: "[FAIL]", None: "[INFO]"}


def check_lines(check: Check) -> Iterator[str]:
    """A check with what was found; a failure with its fix below."""
    yield f"{_MARKS[check.passed]} {check.message}" + (f": {_flat(check.found)}" if check.found else "")
    if check.passed is False and check.fix:
        yield f"       fix: {_flat(check.fix)}"


def _flat(text: str) -> str:
    """One line without control characters: file names and rows may hold anything."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def check_json(check: Check) -> dict[str, object]:
    """A check as data."""
    verdict = {True: "pass", False: "fail", None: "unknown"}[check.passed]
    made: dict[str, object] = {"code": check.code, "verdict": verdict, "message": check.message, "found": check.found}
    if check.passed is False:
        made["fix"] = check.fix
    return made
