"""Alarming words in results: harmless where passes of the same tasks hold them as often."""

from __future__ import annotations

import json
from pathlib import Path

import blade
from blade.model.diagnosis import Alarm
from blade.report.as_json import dump
from blade.report.documents import findings
from blade.report.sections import report
from builders import Row, call, result, rollout, said, write_jsonl


def ran(task: str, repeat: int, *, passed: bool, shows: str) -> Row:
    items = [call("run", '{"n": 1}'), result(shows), said("Done.")]
    return rollout(task, repeat=repeat, passed=passed, prompt=f"Do {task}.", output=items)


def alarms(folder: Path, rows: list[Row]) -> dict[str, Alarm]:
    one = blade.analyze(write_jsonl(folder / "run.jsonl", rows)).runs[0]
    assert one.diagnosis is not None
    return {alarm.word: alarm for alarm in one.diagnosis.alarms}


def both(shows_passing: str, shows_failing: str, tasks: int = 4) -> list[Row]:
    return [
        ran(f"t{task}", repeat, passed=repeat < 2, shows=shows_passing if repeat < 2 else shows_failing)
        for task in range(tasks)
        for repeat in range(4)
    ]


def test_a_word_that_passes_hold_as_often_is_harmless_with_its_counts(tmp_path: Path) -> None:
    warned = "Traceback (most recent call last): retried after a timeout, fine"
    found = alarms(tmp_path, both(warned, warned))
    assert set(found) == {"timeout", "traceback"}
    one = found["timeout"]
    assert (one.fired_passed, one.passed, one.fired_failed, one.failed, one.harmless) == (8, 8, 8, 8, True)
    assert "timeout" in one.evidence[0].quote


def test_a_word_that_failures_hold_more_often_is_not_called_harmless(tmp_path: Path) -> None:
    found = alarms(tmp_path, both("all fine", "open: permission denied"))
    assert not found["permission denied"].harmless
    assert (found["permission denied"].fired_passed, found["permission denied"].fired_failed) == (0, 8)


def test_two_passes_are_too_few(tmp_path: Path) -> None:
    assert not alarms(tmp_path, both("HTTP 429", "HTTP 429", tasks=1))["429"].harmless


def test_without_tasks_that_pass_and_fail_nothing_is_said(tmp_path: Path) -> None:
    rows = [ran(f"t{n}", 0, passed=n % 2 == 0, shows="Error: no") for n in range(8)]
    assert alarms(tmp_path, rows) == {}


def test_the_report_and_findings_say_so(tmp_path: Path) -> None:
    analysis = blade.analyze(write_jsonl(tmp_path / "run.jsonl", both("Error: x", "Error: x")))
    assert "harmless here" in report(analysis)
    assert "`error` in 8 of 8 passes and 8 of 8 failures" in report(analysis)
    (said_,) = json.loads(dump(findings(analysis.runs[0])))["alarms"]
    assert (said_["word"], said_["harmless"], said_["fired_passed"]) == ("error", True, 8)
