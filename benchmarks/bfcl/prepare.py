"""The Berkeley function-calling leaderboard, single turn, from the wheel `bfcl-eval`.

Tools and calls get the names and types that the API takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from blade.gym import hub

CATEGORIES = ("simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance")
TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array"}


def prepare(
    categories: Sequence[str] = CATEGORIES,
    size: int | None = None,
    source: str | None = None,
    output: str | None = None,
) -> Path:
    """Write the first `size` rows of each of these categories, or all; `source` is a folder of the same files."""
    rows = (row for category in categories for row in islice(_rows(category, source), size))
    return hub.write(rows, output or hub.beside(__file__, "bfcl"))


def _rows(category: str, source: str | None) -> Iterator[dict[str, Any]]:
    name = f"BFCL_v4_{category}.json"
    due = (
        {row["id"]: row["ground_truth"] for row in _lines(f"possible_answer/{name}", source)}
        if "irr" not in category
        else {}
    )
    for row in _lines(name, source):
        tools = [_tool(one) for one in row["function"]]
        yield {
            "id": row["id"],
            "responses_create_params": {"input": row["question"][0], "tools": tools, "parallel_tool_calls": True},
            "ground_truth": [{_plain(tool): given for tool, given in call.items()} for call in due.get(row["id"], [])],
            "category": category,
        }


def _lines(name: str, source: str | None) -> list[dict[str, Any]]:
    held = (
        hub.packaged("bfcl_eval", f"data/{name}") if source is None else hub.file("", source=str(Path(source) / name))
    )
    return hub.json_lines(held, name)


def _tool(one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "name": _plain(one["name"]),
        "description": one["description"],
        "parameters": _schema(one["parameters"]),
        "strict": False,
    }


def _plain(name: str) -> str:
    """Names of tools hold no point."""
    return name.replace(".", "_")


def _schema(node: Any) -> Any:
    """Types of Python as types of JSON; one that means anything is left out."""
    if isinstance(node, list):
        return [_schema(one) for one in node]
    if not isinstance(node, dict):
        return node
    made = {key: _schema(value) for key, value in node.items()}
    kind = made.get("type")
    if isinstance(kind, str):
        made["type"] = TYPES.get(kind, kind)
    return {key: value for key, value in made.items() if not (key == "type" and value == "any")}
