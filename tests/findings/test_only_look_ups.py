"""Keys that want look-ups only: the call that was due is told, and the value that it wanted."""

from __future__ import annotations

from pathlib import Path

import blade
from blade.model.analysis import RunAnalysis
from blade.report.diagnosis import issues_lines
from builders import Row, call, result, rollout, said, write_jsonl


def asked(n: int, unit: str = "celsius", task: str = "") -> Row:
    """A forecast in Celsius; the key wants some unit."""
    items = [call("get_weather", f'{{"city": "c{n}", "unit": "celsius"}}'), result("sunny"), said("Sunny.")]
    key = [{"name": "get_weather", "arguments": {"city": f"c{n}", "unit": unit}}]
    return rollout(task or f"t{n}", passed=unit == "celsius", prompt=f"c{n}?", output=items, ground_truth=key)


def analyzed(folder: Path, *rows: Row) -> RunAnalysis:
    return blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0]


def test_the_call_that_was_due_and_the_value_of_the_key_are_told(tmp_path: Path) -> None:
    rows = [asked(n, "fahrenheit" if n < 3 else "celsius") for n in range(8)]
    found = analyzed(tmp_path, *rows).diagnosis
    assert found is not None
    assert [deep_dive.due for deep_dive in found.deep_dives][:1] == ["`get_weather(city=c0, unit=fahrenheit)`"]
    (one,) = found.findings
    assert one.against.startswith("t0#0:0 gives `unit` celsius, expected fahrenheit")


def test_tasks_without_repeats_are_not_asked_what_repeats_are_given(tmp_path: Path) -> None:
    one = analyzed(tmp_path, *(asked(n) for n in range(6)), asked(6, "fahrenheit"), asked(1, task="twin"))
    (issue,) = issues_lines(one)[2:]
    assert "one prompt has different expected answers" not in issue
    assert "t1" in issue
    assert "twin" in issue
