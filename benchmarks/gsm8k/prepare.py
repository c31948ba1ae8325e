"""GSM8K: the answer is the number after `####` of the solution; eleven published answers are wrong."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade_gym import hub

PLACE = "https://raw.githubusercontent.com/openai/grade-school-math/master/grade_school_math/data/test.jsonl"
FIXED: Mapping[str, int | str] = {
    "4062372e21d99043": 10750,
    "445d153492ea0420": 10,
    "e9a757e9375878be": 2740,
    "b7632ee41494461c": 15,
    "549d4ecc6508ca01": 19200,
    "8c3672013cff1d10": 64,
    "ac6cadd41416c941": 108,
    "18d0c8784a9a73c9": 531000,
    "d7f6e3a7def173ea": 6,
    "c7ca4f35d37d1139": 13,
    "6e7a1645b42e32b9": "07:30",
}
"""By digest of the question: what NeMo Skills, and NeMo Gym after it, take for right instead."""


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.json_lines(hub.file(PLACE, source=source), source or PLACE)
    rows = (_row(number, row) for number, row in enumerate(found))
    return hub.write(rows, output or hub.beside(__file__, "gsm8k"))


def _row(number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    solution, answer = str(row["answer"]).split("####")
    value = float(answer.replace(",", ""))
    digest = hashlib.sha256(str(row["question"]).encode()).hexdigest()[:16]
    return {
        "id": f"gsm8k-{number}",
        "question": row["question"],
        # As text: NeMo Gym's script writes a number, which NeMo Gym's server refuses.
        "expected_answer": str(FIXED.get(digest, int(value) if value == int(value) else value)),
        "reference_solution": re.sub(r"<<.*?>>", "", solution),
    }
