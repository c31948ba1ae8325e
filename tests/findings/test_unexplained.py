"""Failures without a key and without a word of the verifier: their outputs are described, and nothing is promised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import blade
from blade.model.diagnosis import Diagnosis, Support
from blade.report.diagnosis import finding_lines
from builders import Row, call, result, rollout, said, write_jsonl


def solving(task: str, repeat: int, passed: bool, last: str) -> Row:
    return rollout(task, repeat=repeat, passed=passed, output=f"4 * 5 = 20\n{last}")


def puzzles() -> list[Row]:
    """Whoever reaches the number says so in a last line; the others stop where they are stuck."""
    rows = [solving(f"t{n}", 0, True, f"Answer: 4 * {n} = 24") for n in range(4)]
    return rows + [solving(f"t{n}", 1, False, f"20 - {n} (left: {n})") for n in range(4)]


def found_in(folder: Path, rows: list[Row]) -> Diagnosis:
    found = blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0].diagnosis
    assert found is not None
    return found


def test_a_difference_of_form_is_described_and_is_no_remedy(tmp_path: Path) -> None:
    found = found_in(tmp_path, puzzles())
    (one,) = found.findings
    assert "The last messages of 4 of 4 passing rollouts and of 4 of these were read." in one.what
    assert '4 of 4 passing ones end with a line that begins "Answer:", and 0 of 4 failing ones.' in one.what
    assert one.against == 't0#1 ends with (:0) "20 - 0 (left: 0)"; passing t0#0 ends with (:0) "Answer: 4 * 0 = 24".'
    assert (one.fix.startswith("Read t"), one.gain, one.support) == (True, None, Support.UNCLEAR)
    assert found.interventions == ()
    assert not any("points" in line for line in finding_lines(1, one))


@pytest.mark.parametrize(
    ("start", "told"), [("```json\n", "a code fence"), ("Here is the object:\n", '"Here is the object:"')]
)
def test_one_pass_is_enough_where_all_failures_begin_alike(tmp_path: Path, start: str, told: str) -> None:
    failing = [rollout(f"t{n}", output=f'{start}{{"n": {n}}}') for n in range(3)]
    (one,) = found_in(tmp_path, [rollout("t9", passed=True, output='{"n": 9}'), *failing]).findings
    assert f"0 of 1 passing ones begin with {told}, and 3 of 3 failing ones." in one.what


def test_one_pass_is_not_enough_where_failures_differ(tmp_path: Path) -> None:
    failing = [rollout(f"t{n}", output=f"{'```json' if n else '[1]'}\n{n}") for n in range(3)]
    assert (
        found_in(tmp_path, [rollout("t9", passed=True, output='{"n": 9}'), *failing]).findings[0].title
        == "No cause found in the files"
    )


def rendered(n: int, passed: bool, measured: float) -> Row:
    return rollout(f"t{n}", passed=passed, prompt=f"Draw {n}.", output=f"figure {n}", overlap=measured)


def test_a_number_that_parts_passes_from_failures_is_told(tmp_path: Path) -> None:
    rows = [rendered(n, True, 0.9 + n / 100) for n in range(5)] + [rendered(n, False, n / 20) for n in range(5, 10)]
    (one,) = found_in(tmp_path, rows).findings
    told = "`overlap` is 0.9 to 0.94 in the 5 passing rollouts that were read and 0.25 to 0.45 in 5 of these."
    assert told in one.what
    assert (one.fix.startswith("Read t"), one.gain, one.support) == (True, None, Support.UNCLEAR)


@pytest.mark.parametrize(
    "rows",
    [
        [rendered(n, n < 5, 0.5) | {"pass_flag": float(n < 5)} for n in range(10)],
        [rendered(n, n < 4, 1.0 - n / 10) for n in range(8)],
        [rendered(n, n < 5, 1.0 - n % 5 / 10) for n in range(10)],
    ],
    ids=["the verdict under another name", "too few", "no limit between them"],
)
def test_other_numbers_are_not(tmp_path: Path, rows: list[Row]) -> None:
    assert all("tells them apart" not in one.what for one in found_in(tmp_path, rows).findings)


def stuck(repeat: int, *, passed: bool) -> Row:
    tried = ["a"] if passed else ["a", "b"] * 8
    items = [
        one
        for n, name in enumerate(tried)
        for one in (call("run", f'{{"file": "{name}"}}', f"c{n}"), result("KeyError: 'col'", f"c{n}"))
    ]
    return rollout("t", repeat=repeat, passed=passed, output=[*items, said("Done.")])


def test_what_the_agent_does_in_these_and_in_no_pass_is_told(tmp_path: Path) -> None:
    found = found_in(tmp_path, [stuck(n, passed=n < 2) for n in range(4)])
    (one,) = found.findings
    assert (one.id, one.rollouts, one.support) == ("habit:BEH004", 2, Support.CONSISTENT)
    assert "2 of 2 failures (1 task) show this (BEH004), and no passing rollout does" in one.what


def test_what_passes_do_too_is_not(tmp_path: Path) -> None:
    rows = [stuck(n, passed=False) | {"reward": float(n < 2)} for n in range(4)]
    assert all(not one.id.startswith("habit") for one in found_in(tmp_path, rows).findings)


def hand(task: str, repeat: int, ended: str, **more: Any) -> Row:
    fields: dict[str, Any] = {"tail": {"way": ended}, **more}
    return rollout(
        task, repeat=repeat, passed=ended == "dealer out", prompt="Play.", output=f"stand {repeat}", **fields
    )


def test_what_the_rows_record_of_failures_and_of_no_pass_is_told(tmp_path: Path) -> None:
    rows = [hand("t", repeat, "over" if repeat % 2 else "dealer out") for repeat in range(6)]
    (one,) = found_in(tmp_path, rows).findings
    assert 'The rows record `tail.way`: "over" in 3 of the 3 that were read; "dealer out" in 3 of the 3' in one.what
    assert one.fix == "Read t#1, t#3 and t#5 beside a passing repeat"


@pytest.mark.parametrize(
    "rows",
    [
        [hand("t", n, "over" if n % 2 else "dealer out", tail={"way": "failed" if n % 2 else "ok"}) for n in range(6)],
        [hand("t", n, "over" if n % 2 else "dealer out", tail={"way": f"over {n}"}) for n in range(6)],
        [hand(f"t{n}", 0, "over" if n % 2 else "dealer out") for n in range(6)],
    ],
    ids=["the verdict in words", "another word each", "no task with both"],
)
def test_other_words_are_not(tmp_path: Path, rows: list[Row]) -> None:
    for one in found_in(tmp_path, rows).findings:
        assert "The rows record" not in one.what
