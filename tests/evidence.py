"""Looks quotes up in artifacts with plain `json`, so that what BLADE says of a place can be checked without its code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def all_evidence(value: Any) -> Iterator[dict[str, Any]]:
    """Every piece of evidence inside findings.json, wherever it stands."""
    if isinstance(value, dict):
        if {"task_id", "repeat", "step", "field", "quote"} <= value.keys():
            yield value
        for item in value.values():
            yield from all_evidence(item)
    elif isinstance(value, list):
        for item in value:
            yield from all_evidence(item)


def stands_in(evidence: dict[str, Any], row: dict[str, Any]) -> bool:
    """Whether the quote stands word for word at its place in the row."""
    if evidence["step"] is None:
        return evidence["quote"] in _text(_at(row, evidence["field"]))
    item = _trajectory(row)[evidence["step"]]
    if evidence["field"] == "arguments":
        return any(evidence["quote"] in _text(value) for value in _named(item, "arguments"))
    if evidence["field"] == "tool":
        return any(evidence["quote"] == value for value in _named(item, "name"))
    return evidence["quote"] in "\n".join(_strings(item)) or any(evidence["quote"] in text for text in _strings(item))


def row_at(path: Path, line: int) -> dict[str, Any]:
    """The row at a line, counted from 1."""
    rows = path.read_text(encoding="utf-8-sig").splitlines()
    found: dict[str, Any] = json.loads(rows[line - 1])
    return found


def _trajectory(row: dict[str, Any]) -> list[Any]:
    response = row.get("response")
    output = response.get("output") if isinstance(response, dict) else None
    return output if isinstance(output, list) else []


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value[int(name)] if isinstance(value, list) else value.get(name) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _named(value: Any, name: str) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == name:
                yield item
            yield from _named(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _named(item, name)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item)]
    return [text for item in value for text in _strings(item)] if isinstance(value, list) else []
