"""Rollouts that hand in nothing: those that only thought, and those that declined."""

from __future__ import annotations

from pathlib import Path

import blade
from blade.model.diagnosis import Diagnosis
from builders import Row, write_jsonl

THOUGHT = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Three is odd, so I add a dash"}]}]


def diagnosed(folder: Path, *rows: Row) -> Diagnosis:
    diagnosis = blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0].diagnosis
    assert diagnosis is not None
    return diagnosis
