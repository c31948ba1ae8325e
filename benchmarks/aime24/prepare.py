"""AIME 2024."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("HuggingFaceH4/aime_2024", split="train", source=source)
    rows = (
        {"id": f"aime24-{row['id']}", "question": row["problem"], "expected_answer": str(row["answer"])}
        for row in found
    )
    return hub.write(rows, output or hub.beside(__file__, "aime24"))
