"""D2: each check fires on what it is for, and not on two runs that can be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from blade.model.check import Check
from blade.package.checks_rollouts import rollout_checks
from blade.package.layout import find_package
from blade.package.rollouts import PackageRollouts
from builders import Row, rollout, without, write_bytes, write_jsonl
from packages import by_code


def _rows(passing: int, *, tasks: int = 6, repeats: int = 2, first: int = 0, **more: Any) -> list[Row]:
    return [
        rollout(
            f"t{first + task}",
            repeat=repeat,
            passed=task < passing,
            prompt=f"question {first + task}",
            output=f"answer {passing} of {task}, {repeat}",
            verdict="right" if task < passing else "wrong",
            category="odd" if task % 2 else "even",
            **more,
        )
        for task in range(tasks)
        for repeat in range(repeats)
    ]


def _checks(folder: Path, **files: list[Row]) -> dict[str, Check]:
    for name, rows in files.items():
        write_jsonl(folder / "rollouts" / f"{name}_rollouts.jsonl", rows)
    package = find_package(folder)
    return by_code(rollout_checks(package, PackageRollouts(package)))


def _failing(found: dict[str, Check]) -> set[str]:
    return {code for code, check in found.items() if check.passed is False}


def test_two_scored_runs_of_the_same_tasks_pass(tmp_path: Path) -> None:
    found = _checks(tmp_path, a=_rows(2), b=_rows(4))
    assert _failing(found) == set()
    assert "6 of 6 tasks" in found["D2.comparable"].found
    assert "12 of 12 rows" in found["D2.reward"].found
    assert found["D2.verifier"].found.endswith("12 of 12 rows (verdict)")


def test_one_run_is_not_enough(tmp_path: Path) -> None:
    assert _failing(_checks(tmp_path, a=_rows(2))) == {"D2.scored"}


def test_a_copy_is_no_second_run_whatever_its_bytes_are(tmp_path: Path) -> None:
    rows = _rows(2)
    again = [dict(reversed(row.items())) for row in reversed(rows)]
    found = _checks(tmp_path, a=rows, b=again)
    assert _failing(found) == {"D2.scored", "D2.copies"}
    assert "rollouts/b_rollouts.jsonl" in found["D2.copies"].found


def test_the_same_outputs_under_other_rewards_are_no_second_run(tmp_path: Path) -> None:
    long = "The answer follows from what the question says and from nothing else, and it is worth many words: "
    rows = [row | {"output": long + str(number)} for number, row in enumerate(_rows(2))]
    rows = [without(row, "response") for row in rows]
    other = [row | {"reward": 1.0 - row["reward"], "category": "new"} for row in rows]
    assert _failing(_checks(tmp_path, a=rows, b=other)) == {"D2.scored", "D2.copies"}


def test_runs_of_other_tasks_cannot_be_compared(tmp_path: Path) -> None:
    found = _checks(tmp_path, a=_rows(2), b=_rows(4, first=50))
    assert _failing(found) == {"D2.comparable"}
    assert "share 0 of 6 tasks" in found["D2.comparable"].found


def test_rewards_that_are_null_score_nothing(tmp_path: Path) -> None:
    unscored = [row | {"reward": None, "verdict": "read"} for row in _rows(4)]
    found = _checks(tmp_path, a=_rows(2), b=unscored)
    assert _failing(found) == {"D2.scored", "D2.reward"}
    assert "b_rollouts.jsonl: 0 of 12 rows" in found["D2.reward"].found


def test_each_of_the_six_things_is_missed(tmp_path: Path) -> None:
    good = _rows(2)
    for number, (field, code) in enumerate(
        (("task_id", "D2.task-id"), ("_ng_rollout_index", "D2.repeat-id"), ("verdict", "D2.verifier"))
    ):
        bad = [without(row, field) for row in _rows(4)]
        assert _failing(_checks(tmp_path / str(number), a=good, b=bad)) == {code}
    silent = [row | {"response": {"output": []}} for row in _rows(4)]
    assert "D2.output" in _failing(_checks(tmp_path / "o", a=good, b=silent))
    bare = [without(row, "category") for row in _rows(4)]
    assert _failing(_checks(tmp_path / "m", a=good, b=bare)) == {"D2.metadata"}


def test_a_repeat_id_is_asked_for_only_where_tasks_repeat(tmp_path: Path) -> None:
    once = [[without(row, "_ng_rollout_index") for row in _rows(n, repeats=1)] for n in (2, 4)]
    found = _checks(tmp_path, a=once[0], b=once[1])
    assert _failing(found) == set()
    assert "D2.repeat-id" not in found


def test_ids_of_the_reference_are_known(tmp_path: Path) -> None:
    for name in ("task_name", "_ng_task_index", "_task_index", "task_index"):
        runs = [
            [
                without(row, "task_id") | {name: number // 2 if "index" in name else row["task_id"]}
                for number, row in enumerate(_rows(n))
            ]
            for n in (2, 4)
        ]
        found = _checks(tmp_path / name, a=runs[0], b=runs[1])
        assert found["D2.task-id"].passed, name


def test_lines_that_are_no_rows_are_counted_and_listed(tmp_path: Path) -> None:
    lines = [json.dumps(row) for row in _rows(4)]
    text = "\r\n".join(["7", *lines, "{torn"])
    write_bytes(tmp_path / "rollouts" / "b_rollouts.jsonl", b"\xef\xbb\xbf" + text.encode())
    found = _checks(tmp_path, a=_rows(2))
    assert _failing(found) == set()
    package = find_package(tmp_path)
    listed = [check.found for check in rollout_checks(package, PackageRollouts(package)) if check.code == "D2.readable"]
    assert "12 rows, 2 unusable or mended lines" in listed[1]
    assert "b_rollouts.jsonl:1" in listed[1]


def test_a_file_without_rows_fails_with_its_reason(tmp_path: Path) -> None:
    write_bytes(tmp_path / "rollouts" / "b_rollouts.jsonl", b"<PLACEHOLDER ROW>\n")
    found = _checks(tmp_path, a=_rows(2))
    assert _failing(found) == {"D2.scored", "D2.readable", "D2.task-id"}
    assert "<PLACEHOLDER ROW>" in found["D2.readable"].found


def test_no_rollouts_at_all(tmp_path: Path) -> None:
    found = _checks(tmp_path)
    assert _failing(found) == {"D2.scored"}
    assert "no file in rollouts/" in found["D2.scored"].found
