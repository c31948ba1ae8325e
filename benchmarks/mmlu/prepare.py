"""MMLU: the answer is the number of the right option."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade.gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("cais/mmlu", config="all", split="test", source=source)
    rows = (_row(index, row) for index, row in enumerate(found))
    return hub.write(rows, output or hub.beside(__file__, "mmlu"))


def _row(index: int, row: Mapping[str, Any]) -> dict[str, Any]:
    options = hub.lettered(row["choices"])
    return {
        "id": f"mmlu-{index}",
        "question": row["question"],
        "options": options,
        "options_text": hub.options_text(options),
        "expected_answer": list(options)[int(row["answer"])],
        "subject": row["subject"],
    }
