"""MATH-500."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("HuggingFaceH4/MATH-500", split="test", source=source)
    rows = (
        {
            "id": row["unique_id"],
            "question": row["problem"],
            "expected_answer": row["answer"],
            "subject": row["subject"],
            "level": row["level"],
        }
        for row in found
    )
    return hub.write(rows, output or hub.beside(__file__, "math_500"))
