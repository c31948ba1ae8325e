"""Tests and criteria that no two tasks share by name: what is known of them together."""

from pathlib import Path
from typing import Any

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


def test_what_the_verifier_says_of_tests_with_other_names_is_said_once(tmp_path: Path) -> None:
    one = finding(tmp_path, [stepwise(n, NO_NUMPY) for n in range(4)])
    assert f'In 4 of 4 read the verifier says of one: "{NO_NUMPY}".' in one.what
    one = finding(tmp_path, [stepwise(n, f"{'ab'[n % 2] * 9} is {'not there' * n} so") for n in range(4)])
    assert "read the verifier says" not in one.what


def test_criteria_that_are_only_counted_are_not_said_to_be_of_one_task(tmp_path: Path) -> None:
    rewards: dict[str, Any] = {"n_passed": 21, "n_criteria": 23}
    rows = [rollout(f"t{n}", output=f"memo {n}", metadata={"verifier_result": {"rewards": rewards}}) for n in range(3)]
    assert finding(tmp_path, rows).title == "Tests or criteria fail, of which only the number is recorded"
