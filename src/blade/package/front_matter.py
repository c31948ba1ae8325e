"""The YAML between two lines `---` at the head of a Markdown file, by the Agent Skills specification."""

from __future__ import annotations

import re

import yaml
from msgspec import Struct

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500
_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_BLOCK = re.compile(r"\A\s*---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


class FrontMatter(Struct, frozen=True, kw_only=True):
    """The values of the block, the text below it, and what in the block is not by the specification."""

    values: dict[str, object] = {}
    body: str
    faults: tuple[str, ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of a text without byte order mark; a text without one has a fault."""
    block = _BLOCK.match(text)
    if block is None:
        return FrontMatter(body=text, faults=("the file does not begin with a block between two lines `---`",))
    body = text[block.end() :]
    try:
        loaded = yaml.safe_load(block[1])
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "it cannot be read"
        return FrontMatter(body=body, faults=(f"the block is no YAML: {problem}",))
    if not isinstance(loaded, dict):
        return FrontMatter(body=body, faults=("the block holds no names with values",))
    values = {str(name): value for name, value in loaded.items()}
    faults = [f"`{name}` is missing" for name in ("name", "description") if name not in values]
    faults += [f"`{name}` {fault}" for name, value in values.items() if (fault := _fault(name, value))]
    return FrontMatter(values=values, body=body, faults=tuple(faults))


def _fault(name: str, value: object) -> str:
    if name not in _FIELDS:
        return "is no field of the specification (put it under metadata)"
    if name == "metadata":
        flat = isinstance(value, dict) and not any(isinstance(one, (dict, list)) for one in value.values())
        return "" if flat else "must be names with plain values"
    if name == "allowed-tools" and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ""
    if name == "name" and (not isinstance(value, str) or not _NAME.fullmatch(value)):
        return f"must be lowercase letters, digits and single hyphens between them, not {str(value)[:80]!r}"
    if name == "compatibility" and isinstance(value, str) and len(value) > LONGEST_COMPATIBILITY:
        return f"must be at most {LONGEST_COMPATIBILITY} characters"
    if not isinstance(value, str) or not value.strip():
        return "must be a text" + (" that says what the skill is for and when to use it" * (name == "description"))
    most = {"name": LONGEST_NAME, "description": LONGEST_DESCRIPTION}.get(name)
    length = len(value.strip())
    return f"has {length} characters, {most} may stand" if most is not None and length > most else ""
