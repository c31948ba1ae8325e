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


def test_a_flag_of_a_limit_is_quoted_as_the_row_has_it(tmp_path: Path) -> None:
    rows = [rollout(f"t{n}", output="on it", error_kind="max_turns_exceeded") for n in range(2)]
    (mode,) = diagnosed(tmp_path, *rows).partition.modes
    assert mode.id == "step-limit"
    assert mode.evidence is not None
    assert mode.evidence.quote == "max_turns_exceeded"


def test_what_a_test_that_runs_a_program_hides_is_quoted(tmp_path: Path) -> None:
    log = """=================================== FAILURES ===================================
________________________________ test_runner _________________________________
INFO cocotb: running test_reset
Traceback (most recent call last):
  File "/src/test_counter.py", line 41, in test_reset
    assert hours == 0, "Counter incorrect for hours after reset"
AssertionError: Counter incorrect for hours after reset

    def test_runner():
>       runner.test(hdl_toplevel=toplevel, test_module=module)
E       SystemExit: ERROR: Failed 1 of 1 tests.

/src/test_runner.py:26: SystemExit
=========================== short test summary info ============================
FAILED src/test_runner.py::test_runner - SystemExit: ERROR: Failed 1 of...
============================== 1 failed in 0.42s ===============================
"""
    rows = [rollout(f"t{n}", repeat=0, output="module counter;", container_stderr=log) for n in range(3)]
    page = (blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows)).save(tmp_path / "out") / "report.md").read_text()
    assert 't0#0: "AssertionError: Counter incorrect for hours after reset"' in page.partition("## 2.")[0]
    assert "One check failed" in page
