"""What a benchmark calls things, as its rollouts have it: fields, tools, labels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from blade.package.data import Data

COMMON = frozenset(
    [
        "reward",
        "score",
        "response",
        "responses_create_params",
        "agent_ref",
        "_ng_task_index",
        "_ng_rollout_index",
        "_ng_attempt_index",
        "_task_index",
        "_rollout_index",
        "task_index",
        "rollout_index",
        "rollout_id",
        "task_id",
        "id",
        "uuid",
        "model",
        "agent",
        "messages",
        "output",
        "prompt",
        "input",
        "metadata",
        "usage",
        "tools",
        "skills_ref",
    ]
)
"""Fields that rows of any benchmark have."""
_CODE = re.compile(r"`([^`\n]+)`")
_TELLING = re.compile(r"[_\-/]|\d|[a-z][A-Z]")


def vocabulary(data: Data) -> tuple[str, ...]:
    """Names that only this benchmark has, tools first; where rows have nothing of their own, all their fields."""
    tools = sorted({tool for run in data.runs for tool in run.tools})
    fields = sorted({field.path for run in data.runs for field in run.schema})
    labels = [label.name for label in data.book.labels] if data.book is not None else []
    own = [*tools, *(field for field in fields if field not in COMMON), *labels]
    return tuple(dict.fromkeys(own or fields))


def named_in(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that a text uses; one that is also a plain word counts only in backticks."""
    quoted = " ".join(_CODE.findall(text)) + " " + " ".join(_fenced(text))
    return tuple(name for name in names if _has(text if _TELLING.search(name) else quoted, name))


def _has(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _fenced(text: str) -> list[str]:
    return text.split("```")[1::2]
