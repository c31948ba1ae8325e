"""HotpotQA with its ten passages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade_gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("hotpotqa/hotpot_qa", config="distractor", split="validation", source=source)
    rows = (
        {
            "id": row["id"],
            "question": row["question"],
            "passages": _passages(row["context"]),
            "expected_answer": row["answer"],
            "type": row["type"],
            "level": row["level"],
        }
        for row in found
    )
    return hub.write(rows, output or hub.beside(__file__, "hotpotqa"))


def _passages(context: Mapping[str, Any]) -> str:
    pairs = zip(context["title"], context["sentences"], strict=True)
    return "\n\n".join(f"{title}: {''.join(sentences).strip()}" for title, sentences in pairs)
