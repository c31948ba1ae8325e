"""xLAM function calling: a number of tasks, drawn by the seed."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade_gym import hub

TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "dict": "object", "Dict": "object"}


def prepare(seed: int = 0, count: int = 1000, source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("Salesforce/xlam-function-calling-60k", split="train", source=source)
    drawn = sorted(random.Random(seed).sample(range(len(found)), min(count, len(found))))
    rows = (_row(found[index]) for index in drawn)
    return hub.write(rows, output or hub.beside(__file__, "xlam"))


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    tools = [_tool(one) for one in json.loads(row["tools"])]
    return {
        "id": f"xlam-{row['id']}",
        "responses_create_params": {**hub.user(row["query"]), "tools": tools, "parallel_tool_calls": True},
        "expected_answers": json.loads(row["answers"]),
    }


def _tool(one: Mapping[str, Any]) -> dict[str, Any]:
    given = one["parameters"]
    required = [name for name, about in given.items() if "optional" not in about["type"] and "default" not in about]
    properties = {
        name: {"type": _kind(about["type"]), "description": about["description"]} for name, about in given.items()
    }
    return {
        "type": "function",
        "name": one["name"],
        "description": one["description"],
        "parameters": {"type": "object", "properties": properties, "required": required},
        "strict": False,
    }


def _kind(text: str) -> str:
    """`List[int], optional` is an array, and `Optional[int]` an integer."""
    name = text.strip().removeprefix("Optional[").partition(",")[0].partition("[")[0].strip(" ]")
    return "array" if name in ("List", "list", "Tuple", "tuple", "Set", "set") else TYPES.get(name, "string")
