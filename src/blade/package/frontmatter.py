"""The head of a SKILL.md, by the Agent Skills specification."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import yaml

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HEAD = re.compile(r"\A\s*---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Head:
    """What the head says, the text below it, and what in the head is not by the specification."""

    values: dict[str, object] = field(default_factory=dict)
    body: str
    faults: tuple[str, ...] = ()


def read_head(text: str) -> Head:
    """The head of a text without byte order mark; a text without one has a fault."""
    found = _HEAD.match(text)
    if found is None:
        return Head(body=text, faults=("the file does not begin with a block between two lines `---`",))
    body = text[found.end() :]
    try:
        values = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "it cannot be read"
        return Head(body=body, faults=(f"the block is no YAML: {problem}",))
    if not isinstance(values, dict):
        return Head(body=body, faults=("the block holds no names with values",))
    named = {str(name): value for name, value in values.items()}
    return Head(values=named, body=body, faults=tuple(_faults(named)))


def _faults(values: dict[str, object]) -> Iterator[str]:
    readers: dict[str, Callable[[object], str]] = {
        "name": _name,
        "description": _description,
        "license": _text,
        "compatibility": _compatibility,
        "metadata": _metadata,
        "allowed-tools": _tools,
    }
    for name in ("name", "description"):
        if name not in values:
            yield f"`{name}` is missing"
    for name, value in values.items():
        fault = readers[name](value) if name in readers else "is no field of the specification (put it under metadata)"
        if fault:
            yield f"`{name}` {fault}"


def _name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        return f"must be lowercase letters, digits and single hyphens between them, not {str(value)[:80]!r}"
    return f"has {len(value)} characters, {LONGEST_NAME} may stand" if len(value) > LONGEST_NAME else ""


def _description(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        return "must be a text that says what the skill is for and when to use it"
    length = len(value.strip())
    return f"has {length} characters, {LONGEST_DESCRIPTION} may stand" if length > LONGEST_DESCRIPTION else ""


def _text(value: object) -> str:
    return "" if isinstance(value, str) and value.strip() else "must be a text"


def _compatibility(value: object) -> str:
    too_long = isinstance(value, str) and len(value) > LONGEST_COMPATIBILITY
    return f"must be at most {LONGEST_COMPATIBILITY} characters" if too_long else _text(value)


def _metadata(value: object) -> str:
    flat = isinstance(value, dict) and not any(isinstance(one, (dict, list)) for one in value.values())
    return "" if flat else "must be names with plain values"


def _tools(value: object) -> str:
    listed = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return "" if listed else _text(value)
