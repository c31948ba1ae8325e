"""IFEval: prompts with one to three constraints of 25 kinds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade_gym import hub

PLACE = (
    "https://raw.githubusercontent.com/google-research/google-research/"
    "master/instruction_following_eval/data/input_data.jsonl"
)


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.json_lines(hub.fetch(PLACE), PLACE) if source is None else hub.local_rows(source)
    rows = (_row(number, row) for number, row in enumerate(found))
    return hub.write(rows, output or hub.beside(__file__, "ifeval"))


def _row(number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": number,
        "responses_create_params": {**hub.user(row["prompt"]), "tools": [], "parallel_tool_calls": False},
        "verifier_metadata": {
            "prompt": row["prompt"],
            "instruction_id_list": row["instruction_id_list"],
            "kwargs": row["kwargs"],
            "grading_mode": "binary",
        },
    }
