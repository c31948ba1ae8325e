"""What fields of rows are, as a user or a package says: pairs such as `task` and `case_id`."""

from __future__ import annotations

from collections.abc import Mapping

FieldMap = tuple[tuple[str, str], ...]
"""Pairs of what a field is and its dotted path in the row."""

TARGETS: Mapping[str, str] = {
    "task": "task_id",
    "repeat": "repeat",
    "reward": "reward",
    "answer": "extracted_answer",
    "expected": "expected_answer",
    "prompt": "prompt",
    "messages": "messages",
    "output": "output",
    "model": "model",
    "agent": "agent_name",
    "error": "error",
    "stop": "stop_reason",
    "seconds": "duration",
    "cost": "cost",
}
"""What a field can be, and the name that rows have for it."""


def merged(stronger: FieldMap, weaker: FieldMap) -> FieldMap:
    """Both maps; where both say what is the same thing, `stronger` is believed."""
    said = {target for target, _ in stronger}
    return (*stronger, *(pair for pair in weaker if pair[0] not in said))
