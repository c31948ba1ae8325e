"""GPQA Diamond: the options stand in an order that the seed decides, for each question apart."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade_gym import hub


def prepare(seed: int = 0, source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("Idavidrein/gpqa", config="gpqa_diamond", split="train", source=source)
    rows = (_row(index, row, seed) for index, row in enumerate(found))
    return hub.write(rows, output or hub.beside(__file__, "gpqa_diamond"))


def _row(index: int, row: Mapping[str, Any], seed: int) -> dict[str, Any]:
    right = row["Correct Answer"].strip()
    options = [right, *(row[f"Incorrect Answer {number}"].strip() for number in (1, 2, 3))]
    random.Random(f"{seed}:{index}").shuffle(options)
    lettered = hub.lettered(options)
    return {
        "id": f"gpqa-{index}",
        "question": row["Question"].strip(),
        "options": lettered,
        "options_text": hub.options_text(lettered),
        "expected_answer": next(letter for letter, option in lettered.items() if option == right),
        "subject": row.get("High-level domain"),
    }
