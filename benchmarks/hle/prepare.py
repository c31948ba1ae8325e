"""Humanity's Last Exam: the questions without an image."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("cais/hle", split="test", source=source)
    rows = (
        {
            "question": row["question"],
            "expected_answer": row["answer"],
            "answer_type": row["answer_type"],
            "uuid": row["id"],
        }
        for row in found
        if not row["image"]
    )
    return hub.write(rows, output or hub.beside(__file__, "hle"))
