"""Rows under other names and shapes that mean the same: what the roles of fields must not depend on."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

FIXED = re.compile(r"_ng_|_task_index$|_rollout_index$")
"""Names that NeMo Gym defines."""
DOCUMENTED_BY_GYM = ("reward", "response", "responses_create_params", "agent_ref", "skills_ref")
Row = dict[str, Any]
Names = dict[str, str]


def name_for(path: str) -> str:
    """A neutral name, the same for the same path."""
    number = random.Random(path).randrange(36**4)
    return f"f{number:x}q"


def renamed(row: Mapping[str, Any], *, keep: Sequence[str] = DOCUMENTED_BY_GYM) -> Row:
    """The row with neutral names at its top and inside objects; documented sub-formats keep their inner names."""
    found: Row = {}
    for name, value in row.items():
        if name in keep or FIXED.match(name):
            found[name] = value
        else:
            found[name_for(name)] = _inner(name, value)
    return found


def _inner(path: str, value: Any) -> Any:
    """Objects that are records get neutral names too; data under keys, messages and calls keep theirs."""
    if path in DOCUMENTED_BY_GYM:
        return value
    if isinstance(value, dict) and 0 < len(value) <= 8 and all(re.fullmatch(r"[a-z_]+", str(name)) for name in value):
        return {name_for(f"{path}.{name}"): _inner(f"{path}.{name}", item) for name, item in value.items()}
    return value


def path_after(path: str, *, keep: Sequence[str] = DOCUMENTED_BY_GYM, records: bool = True) -> str:
    """Where a path of a plain row is found in a renamed one."""
    parts = path.split(".")
    if parts[0] in keep or FIXED.match(parts[0]):
        return path
    return ".".join(name_for(".".join(parts[: place + 1])) for place in range(len(parts)))


def nested(row: Mapping[str, Any], keep: Sequence[str]) -> Row:
    """The row with everything but some fields one level deeper."""
    inside = {name: value for name, value in row.items() if name not in keep and not FIXED.match(name)}
    outside = {name: value for name, value in row.items() if name not in inside}
    return {**outside, "verifier_account_x": inside}


def with_constants(row: Mapping[str, Any]) -> Row:
    """The row with a constant field and a status that never says anything."""
    return {**row, "harness_build": "7f3a", "shade": "unset"}
