"""Per-test and per-criterion verdicts inside a row, in the shapes that verifiers use."""

from __future__ import annotations

from collections.abc import Callable

Checks = list[tuple[str, bool]]

MOST = 200
"""Checks kept of one row; a larger set is a log, not a list of criteria."""

_NAME = ("name", "criteria", "criterion", "test", "id", "instruction", "label")
_VERDICT = ("passed", "outcome", "status", "result", "verdict", "met", "satisfied", "action_match", "score")
_WORDS = {
    "pass": True,
    "passed": True,
    "success": True,
    "ok": True,
    "true": True,
    "met": True,
    "yes": True,
    "fail": False,
    "failed": False,
    "failure": False,
    "error": False,
    "false": False,
    "not_met": False,
    "no": False,
}

NAMES = (
    "rubric_judgements",
    "rubric_results",
    "criteria",
    "criteria_results",
    "test_results",
    "tests_status",
    "tests",
    "test_details",
    "checks",
    "step_results",
    "validation_results",
    "instruction_results",
)
"""Fields that may hold verdicts, looked at in this order; the first that does is taken."""

PAIRED = (("instruction_id_list", "follow_instruction_list"),)
"""A list of names beside a list of booleans."""

FIELDS = frozenset((*NAMES, *(name for name, _ in PAIRED)))
"""A row that has none of these holds no checks."""


def verdict(value: object) -> bool | None:
    """A boolean, a word or a 0/1 number as a verdict; anything else is none."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    return _WORDS.get(value.strip().lower()) if isinstance(value, str) else None


def read_checks(get: Callable[[str], object]) -> Checks | None:
    """Names and verdicts, in the artifact's order; None when the row holds none."""
    for names, verdicts in PAIRED:
        found = _paired(get(names), get(verdicts))
        if found:
            return found
    for name in NAMES:
        found = _from_value(get(name))
        if found:
            return found
    return None


def _paired(names: object, verdicts: object) -> Checks | None:
    if not isinstance(names, list) or not isinstance(verdicts, list) or len(names) != len(verdicts):
        return None
    return [(str(name), value) for name, value in zip(names, verdicts, strict=True) if isinstance(value, bool)]


def _from_value(value: object) -> Checks | None:
    if isinstance(value, dict) and 0 < len(value) <= MOST:
        return _complete([(str(name), verdict(item)) for name, item in value.items()])
    if isinstance(value, list) and 0 < len(value) <= MOST and all(isinstance(item, dict) for item in value):
        return _complete([_named(index, item) for index, item in enumerate(value)])
    return None


def _named(index: int, item: dict[str, object]) -> tuple[str, bool | None]:
    name = next((item[field] for field in _NAME if isinstance(item.get(field), str | int)), index)
    found = (verdict(item[field]) for field in _VERDICT if field in item)
    return str(name)[:200], next((value for value in found if value is not None), None)


def _complete(checks: list[tuple[str, bool | None]]) -> Checks | None:
    known = [(name, value) for name, value in checks if value is not None]
    return known if known and len(known) * 2 >= len(checks) else None
