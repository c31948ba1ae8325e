"""MMLU-Pro."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade.gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("TIGER-Lab/MMLU-Pro", split="test", source=source)
    rows = (_row(row) for row in found)
    return hub.write(rows, output or hub.beside(__file__, "mmlu_pro"))


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    options = hub.lettered(row["options"])
    return {
        "id": f"mmlu-pro-{row['question_id']}",
        "question": row["question"],
        "options": options,
        "options_text": hub.options_text(options),
        "expected_answer": row["answer"],
        "subject": row["category"],
    }
