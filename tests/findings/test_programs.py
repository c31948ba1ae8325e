"""Programs that tests run: too slow, not run at all, or failing tests that only have a number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import blade
from blade.model.diagnosis import Diagnosis
from builders import Row, rollout, write_jsonl

SLOW = "Time limit exceeded (10.0 s)"
FENCE = "SyntaxError: invalid syntax (solution.py, line 1): ```python"


def ran(task: str, failing: dict[int, str], **more: Any) -> Row:
    """Four tests without names of their own; some fail with an error."""
    results = [{"name": f"test_{n}", "passed": n not in failing, "error": failing.get(n)} for n in range(4)]
    return rollout(task, passed=not failing, output=f"print({task!r})", test_results=results, **more)


def diagnosed(folder: Path, *rows: Row) -> Diagnosis:
    passing = [ran(f"p{n}", {}) for n in range(4)]
    found = blade.analyze(write_jsonl(folder / "r.jsonl", [*rows, *passing])).runs[0].diagnosis
    assert found is not None
    return found


def test_a_slow_program_is_not_the_harnesss_limit(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, *(ran(f"t{n}", {2: SLOW, 3: SLOW}, status="time_limit_exceeded") for n in range(3)))
    (mode,) = found.partition.modes
    assert (mode.name, mode.party) == ("its program is too slow for the tests", "agent")
    assert mode.evidence is not None
    assert (mode.evidence.field, mode.evidence.quote) == ("test_results.2.error", SLOW)
    (one,) = found.findings
    assert one.title == "Its program is too slow for the tests"
    assert one.against == f't0#0 meets 2 of 4 tests; of one that fails the verifier says "{SLOW}".'
    assert "raise the limit" not in one.fix


def test_an_error_that_every_test_shares_is_named(tmp_path: Path) -> None:
    every = dict.fromkeys(range(4), FENCE)
    (one,) = diagnosed(tmp_path, *(ran(f"t{n}", every) for n in range(3))).findings
    assert one.title.startswith('Every test says "SyntaxError: invalid syntax')
    assert (one.kind, one.rollouts) == ("verifier", 3)
    assert "out of its fence" in one.fix


def test_tests_of_different_tasks_that_share_an_ordinal_are_no_one_criterion(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, ran("t0", {3: "got 4"}), ran("t1", {3: "got 5"}), ran("t2", {1: "x", 3: "y"}))
    assert not any("test_3" in mode.id for mode in found.partition.modes)
    assert [one.id for one in found.findings] == ["check"]


def test_a_flag_of_a_limit_is_quoted_as_the_row_has_it(tmp_path: Path) -> None:
    rows = [rollout(f"t{n}", output="on it", error_kind="max_turns_exceeded") for n in range(2)]
    (mode,) = diagnosed(tmp_path, *rows).partition.modes
    assert mode.id == "step-limit"
    assert mode.evidence is not None
    assert mode.evidence.quote == "max_turns_exceeded"


def test_a_patch_that_does_not_apply_is_a_finding_and_its_tests_are_not(tmp_path: Path) -> None:
    def patched(n: int) -> Row:
        report = {"patch_successfully_applied": False, "tests_status": {"FAIL_TO_PASS": {"failure": [f"test_{n}::a"]}}}
        return rollout(f"t{n}", output="done", model_patch=f"diff --git a/{n} b/{n}", eval_report=report)

    (one,) = diagnosed(tmp_path, *(patched(n) for n in range(3))).findings
    assert one.title == 'The verifier says "patch_successfully_applied: false"'
    assert (one.kind, one.rollouts, one.headroom.only_defect) == ("harness", 3, 3 / 7)
