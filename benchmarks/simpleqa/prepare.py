"""SimpleQA Verified."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("codelion/SimpleQA-Verified", split="train", source=source)
    rows = (
        {
            "id": row.get("original_index", f"simpleqa_{number}"),
            "metadata": row,
            "question": row["problem"],
            "expected_answer": row["answer"],
        }
        for number, row in enumerate(found)
    )
    return hub.write(rows, output or hub.beside(__file__, "simpleqa"))
