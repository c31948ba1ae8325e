"""MMLU-Pro."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade_gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("TIGER-Lab/MMLU-Pro", split="test", source=source)
    rows = (_row(row) for row in found)
    return hub.write(rows, output or hub.beside(__file__, "mmlu_pro"))


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    options = hub.lettered(row["options"])
    shown = "\n".join(f"{letter}) {words}" for letter, words in options.items())
    question = str(row["question"])
    # The same question is there twice with other options.
    seed = json.dumps({"question": question, "options": list(options.values())}, sort_keys=True)
    return {
        "question": question,
        "options_text": shown,
        "problem": question.strip("\n") + f"\n\n{shown}",
        "options": [{letter: words} for letter, words in options.items()],
        "expected_answer": row["answer"],
        "category": row["category"],
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, seed)),
    }
