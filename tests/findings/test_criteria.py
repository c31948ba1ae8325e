"""Tests and criteria that no two tasks share by name: what is known of them together."""

from pathlib import Path

import blade
from blade.model.diagnosis import Finding
from builders import Row, rollout, write_jsonl

NO_NUMPY = "NameError: name 'np' is not defined"


def finding(folder: Path, rows: list[Row]) -> Finding:
    found = blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0].diagnosis
    assert found is not None
    (one,) = found.findings
    return one


def stepwise(n: int, error: str) -> Row:
    steps = [{"step_id": f"{n}.{k}", "passed": k != 2, "error": error if k == 2 else None} for k in range(1, 4)]
    return rollout(f"t{n}", output=f"def f{n}(): ...", step_results=steps)
