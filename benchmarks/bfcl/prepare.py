"""The Berkeley function-calling leaderboard, single turn, from the wheel `bfcl-eval`.

Tools and calls get the names and types that the API takes. Arguments of Java and JavaScript are strings there, so that
`function` keeps their types for the checker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym import hub

CATEGORIES = ("simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance")
JUDGED = {*CATEGORIES, "simple_java", "simple_javascript"} | {
    f"live_{name}" for name in ("simple", "multiple", "parallel", "parallel_multiple", "irrelevance", "relevance")
}
"""What the leaderboard's AST checker and its relevance check judge."""
LANGUAGES = {"simple_java": "Java", "simple_javascript": "JavaScript"}
TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array"}


def prepare(
    categories: Sequence[str] = CATEGORIES,
    size: int | None = None,
    source: str | None = None,
    output: str | None = None,
) -> Path:
    """Write the first `size` rows of each of these categories, or all; `source` is a folder of the same files."""
    unknown = sorted(set(categories) - JUDGED)
    if unknown:
        raise RequestError(
            f"categories that this benchmark cannot judge: {', '.join(unknown)}",
            hint=f"choose from {', '.join(sorted(JUDGED))}",
        )
    rows = (row for category in categories for row in islice(_rows(category, source), size))
    return hub.write(rows, output or hub.beside(__file__, "bfcl"))


def _rows(category: str, source: str | None) -> Iterator[dict[str, Any]]:
    name = f"BFCL_v4_{category}.json"
    expected = (
        {row["id"]: row["ground_truth"] for row in _lines(f"possible_answer/{name}", source)}
        if "relevance" not in category
        else {}
    )
    for row in _lines(name, source):
        language = LANGUAGES.get(category)
        tools = [_tool(document, language) for document in row["function"]]
        calls = expected.get(row["id"], [])
        yield {
            "id": row["id"],
            "responses_create_params": {"input": row["question"][0], "tools": tools, "parallel_tool_calls": True},
            "ground_truth": [{_plain(tool): given for tool, given in call.items()} for call in calls],
            "category": category,
            **({"function": [_named(document) for document in row["function"]]} if language else {}),
        }


def _lines(name: str, source: str | None) -> list[dict[str, Any]]:
    held = (
        hub.packaged("bfcl_eval", f"data/{name}") if source is None else hub.file("", source=str(Path(source) / name))
    )
    return hub.json_lines(held, name)


def _tool(document: Mapping[str, Any], language: str | None) -> dict[str, Any]:
    parameters, about = document["parameters"], document["description"]
    if language is not None:
        literals = {name: _literal(given, language) for name, given in parameters["properties"].items()}
        parameters, about = {**parameters, "properties": literals}, f"{about} The function is in {language}."
    return {
        "type": "function",
        "name": _plain(document["name"]),
        "description": about,
        "parameters": _schema(parameters),
        "strict": False,
    }


def _literal(given: Mapping[str, Any], language: str) -> dict[str, Any]:
    """A parameter of another language: its value is a literal of that language, written as a string."""
    inner = f" of {given['items']['type']}" if "items" in given else ""
    told = f"A {language} literal of type {given['type']}{inner}, written as a string."
    return {"type": "string", "description": f"{given.get('description', '')} {told}".strip()}


def _named(document: Mapping[str, Any]) -> dict[str, Any]:
    return {**document, "name": _plain(document["name"])}


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
