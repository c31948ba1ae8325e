"""Skills as a variable of a run: the stamp on every row, and the words that the agent sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blade_gym.skills import FILE, Skill, skill_set


@dataclass(frozen=True, kw_only=True)
class Skills:
    """`ref` is stamped on every row; `text` goes to the agent's instructions."""

    ref: Mapping[str, Any]
    text: str


def read_skills(path: str) -> Skills:
    """The skills of a folder; raises with what is wrong in it."""
    found = skill_set(path)
    told = ["You have these skills. Use one where it fits.", *(_text(one) for one in found.skills)]
    return Skills(ref=found.reference, text="\n\n".join(told))


def _text(one: Skill) -> str:
    whole = (one.path / FILE).read_text("utf-8-sig").replace("\r\n", "\n")
    _, _, after = whole.partition("---\n")
    _, _, body = after.partition("\n---")
    return f"## Skill: {one.name}\n{one.description or ''}\n\n{body.strip()}"
