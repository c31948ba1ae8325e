"""AIME 2025."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("MathArena/aime_2025", split="train", source=source)
    rows = (
        {"id": f"aime25-{number}", "question": row["problem"], "expected_answer": str(row["answer"])}
        for number, row in enumerate(found, 1)
    )
    return hub.write(rows, output or hub.beside(__file__, "aime25"))
