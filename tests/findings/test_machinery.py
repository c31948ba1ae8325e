"""A rule that sees the machinery fail speaks before the key: what is missing afterwards is not put down to the agent."""

from __future__ import annotations

from pathlib import Path

import blade
from blade.model.analysis import RunAnalysis
from builders import Row, call, result, rollout, said, write_jsonl

DOWN = '{"error": "503 Service Unavailable: the backend timed out"}'
WANTED = [{"name": "book_room", "kwargs": {"nights": 2}}]


def booking(task: str, repeat: int, *, down: bool = False, nights: int = 2) -> Row:
    """A look-up and a booking; where the backend is down, two look-ups and a claim."""
    if down:
        items = [call("find_hotel", "{}", "a"), result(DOWN, "a"), call("find_hotel", "{}", "b"), result(DOWN, "b")]
        items.append(said("I have booked it for you."))
    else:
        items = [call("find_hotel", "{}", "a"), result('{"hotels": ["Ritz"]}', "a")]
        items += [call("book_room", f'{{"nights": {nights}}}', "b"), result("booked", "b"), said("Booked.")]
    passed = not down and nights == 2
    return rollout(task, repeat=repeat, passed=passed, output=items, expected_actions=WANTED)


def analyzed(folder: Path, rows: list[Row]) -> RunAnalysis:
    return blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0]


def test_a_backend_that_is_down_in_passing_rollouts_as_well_explains_nothing(tmp_path: Path) -> None:
    rows = [booking(f"d{n}", repeat, down=True) | {"reward": float(repeat)} for n in range(3) for repeat in range(2)]
    found = analyzed(tmp_path, rows).diagnosis
    assert found is not None
    assert not any(mode.id.startswith("broken:") for mode in found.partition.modes)


def test_the_error_that_the_harness_recorded_is_quoted(tmp_path: Path) -> None:
    down: Row = {"infrastructure_error": "docker pull failed: 503", "evaluation_completed": False}
    rows = [rollout(f"t{n}", passed=True, output="done", infrastructure_error=None) for n in range(4)]
    found = analyzed(tmp_path, [*rows, *(rollout(f"u{n}", output="I stop.", **down) for n in range(2))]).diagnosis
    assert found is not None
    (one,) = found.findings
    assert one.against == 'u0#0: "docker pull failed: 503".'


def test_why_a_rollout_ended_may_stand_in_its_termination(tmp_path: Path) -> None:
    rows = [
        rollout(f"t{n}", passed=n > 1, output="done", termination={"reason": "timeout" if n < 2 else "completed"})
        for n in range(4)
    ]
    found = analyzed(tmp_path, rows).diagnosis
    assert found is not None
    assert [mode.id for mode in found.partition.modes] == ["time-limit"]


def labelled(n: int, label: str, says: str) -> Row:
    checked = {
        "message_verification_results": [{"source": label.partition("_")[0], "reward": 0.0, "explanation": says}]
    }
    return rollout(f"t{n}", output=f"talk {n}", failure_labels=[label], judge_diagnostics=checked)
