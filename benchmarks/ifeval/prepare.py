"""IFEval: prompts whose constraints are all checked here, with the options that one of them leaves unsaid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade.gym import hub

NOT_CHECKED = {"language:response_language"}
CHOICE = "detectable_format:constrained_response"
OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("google/IFEval", split="train", source=source)
    rows = (_row(row) for row in found if not set(row["instruction_id_list"]) & NOT_CHECKED)
    return hub.write(rows, output or hub.beside(__file__, "ifeval"))


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    names = row["instruction_id_list"]
    return {
        "id": f"ifeval-{row['key']}",
        "question": row["prompt"],
        "instruction_id_list": names,
        "kwargs": [_given(name, given) for name, given in zip(names, row["kwargs"], strict=True)],
    }


def _given(name: str, given: Mapping[str, Any] | str | None) -> dict[str, Any]:
    """What a constraint is given; a table fills the columns of the others with nothing."""
    read: Mapping[str, Any] = json.loads(given) if isinstance(given, str) else given or {}
    kept = {key: value for key, value in read.items() if value is not None}
    return {**kept, "options": list(OPTIONS)} if name == CHOICE else kept
