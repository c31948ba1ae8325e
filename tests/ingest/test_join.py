"""Repeats, duplicates, what was expected and what is missing."""

import json
from pathlib import Path

import pytest

from builders import load, load_rows, outcomes, places, reasons, rollout, sample, task, without, write_eval, write_jsonl


def test_a_row_written_twice_is_counted_and_not_listed(tmp_path: Path) -> None:
    run = load_rows(tmp_path, *[rollout("a", passed=True, repeat=0)] * 3)
    assert places(run, "line") == [("a", 0, 1)]
    assert run.duplicates == 2
    assert not run.problems


def test_of_rows_that_differ_the_first_counts_and_the_rest_are_listed(tmp_path: Path) -> None:
    rows = [
        rollout("a", repeat=0, output=text, passed=passed) for text, passed in (("x", False), ("x", True), ("y", False))
    ]
    run = load_rows(tmp_path, *rows)
    assert places(run, "outcome", "line") == [("a", 0, "failed", 1)]
    assert run.duplicates == 2
    assert reasons(run) == [
        f"run.jsonl:{line}: another row of rollout a#0, with another reward or output; run.jsonl:1 counts"
        for line in (2, 3)
    ]


def test_the_higher_attempt_counts_wherever_it_stands(tmp_path: Path) -> None:
    rows = [rollout("a", repeat=0, passed=n == 2, _ng_attempt_index=n) for n in (1, 2, 0)]
    run = load_rows(tmp_path, *rows, rollout("a", repeat=0))
    assert places(run, "outcome", "attempt", "line") == [("a", 0, "passed", 2, 2)]
    assert len(run.problems) == 3


def test_answers_that_differ_are_different_outputs_where_there_is_no_trajectory(tmp_path: Path) -> None:
    rows = [{"task_id": "a", "repeat": 0, "reward": 0, "extracted_answer": answer} for answer in "xy"]
    assert len(load_rows(tmp_path, *rows).problems) == 1


def test_rows_without_a_repeat_index_are_numbered_and_never_duplicates(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("b"), rollout("a"), rollout("a"), rollout("b"), rollout("b"))
    assert places(run, "line") == [("a", 0, 2), ("a", 1, 3), ("b", 0, 1), ("b", 1, 4), ("b", 2, 5)]
    assert run.duplicates == 0


def test_numbering_goes_on_after_the_repeats_that_are_stamped(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a"), rollout("a", repeat=4), rollout("a"))
    assert places(run, "line") == [("a", 4, 2), ("a", 5, 1), ("a", 6, 3)]


def test_a_task_in_several_files_is_numbered_in_order_of_path(tmp_path: Path) -> None:
    for name in ("r2", "r1"):
        write_jsonl(tmp_path / f"{name}.jsonl", [rollout("a", agent="x")])
    (run,) = load(f"X={tmp_path}/r2.jsonl", f"X={tmp_path}/r1.jsonl")
    assert places(run, "artifact") == [("a", 0, "r1.jsonl"), ("a", 1, "r2.jsonl")]


def inputs(*pairs: tuple[int, int]) -> list[dict[str, object]]:
    return [
        {"_ng_task_index": task, "_ng_rollout_index": repeat, "responses_create_params": {}} for task, repeat in pairs
    ]


def test_inputs_say_what_was_expected_and_what_is_missing(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "run_materialized_inputs.jsonl", inputs((0, 0), (0, 1), (1, 0), (1, 1), (2, 0)))
    run = load_rows(tmp_path, rollout(index=0, repeat=1), rollout(index=1, repeat=0), rollout(index=1, repeat=1))
    assert run.expected_from == "inputs"
    assert places(run, "outcome") == [
        ("0", 0, "missing"),
        ("0", 1, "failed"),
        ("1", 0, "failed"),
        ("1", 1, "failed"),
        ("2", 0, "missing"),
    ]
    assert run.tasks["repeats_expected"].to_list() == [2, 2, 1]


def test_a_missing_rollout_has_no_artifact(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a"), expect_repeats=2)
    assert run.rollouts["artifact"].to_list() == ["run.jsonl", None]
    assert run.rollouts["reward"].to_list() == [0.0, None]


def test_the_user_is_believed_before_the_inputs(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "run_materialized_inputs.jsonl", inputs((0, 0), (1, 0)))
    run = load_rows(tmp_path, rollout(index=0, repeat=0), expect_repeats=2, expect_tasks=3)
    assert run.expected_from == "user"
    assert [(t, r) for t, r, _ in places(run, "line")] == [(t, r) for t in ("0", "1", "missing-1") for r in (0, 1)]
    assert run.tasks["repeats_expected"].to_list() == [2, 2, 2]


def test_expected_tasks_that_nothing_names_get_names_that_are_not_taken(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("missing-1"), rollout("b"), expect_tasks=4)
    assert run.tasks["task_id"].to_list() == ["b", "missing-1", "missing-2", "missing-3"]
    assert outcomes(run) == ["failed", "failed", "missing", "missing"]


def test_expected_tasks_alone_leave_the_repeats_to_the_pattern(tmp_path: Path) -> None:
    rows = [rollout(name) for name in "aabbccddeefg" if name != "g"]
    run = load_rows(tmp_path, *rows, expect_tasks=6)
    assert outcomes(run).count("missing") == 1


def test_more_than_expected_is_said_and_nothing_is_dropped(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a"), rollout("a"), rollout("b"), expect_repeats=1, expect_tasks=1)
    assert outcomes(run) == ["failed"] * 3
    assert run.tasks["repeats_expected"].to_list() == [2, 1]
    assert "1 tasks have more rollouts than expected" in run.notes
    assert "2 tasks are known where 1 were expected" in run.notes


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("aabbccddee", [2, 2, 2, 2, 2]),
        ("aabbccdde", [2, 2, 2, 2, 2]),
        ("aabbccde", None),
        ("aaabbccddee", None),
        ("abcde", None),
        ("aaaaa", [5]),
    ],
)
def test_a_number_of_repeats_is_inferred_from_a_clear_pattern_only(
    tmp_path: Path, rows: str, expected: list[int] | None
) -> None:
    run = load_rows(tmp_path, *map(rollout, rows))
    assert run.expected_from == (None if expected is None else "inferred")
    known = run.tasks["repeats_expected"].drop_nulls().to_list()
    assert known == (expected or [])
    assert outcomes(run).count("missing") == (sum(expected) - len(rows) if expected else 0)
    assert bool(run.expected_why_not) == (expected is None)


def test_duplicates_do_not_count_towards_the_pattern(tmp_path: Path) -> None:
    rows = [rollout(name, repeat=0) for name in "abcde"] * 2
    run = load_rows(tmp_path, *rows)
    assert (run.expected_from, run.duplicates) == (None, 5)


def test_a_manifest_names_tasks_and_repeats(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"benchmark": "b", "task_ids": ["a", "z"], "repeats": 2}))
    run = load_rows(tmp_path, rollout("a", repeat=1))
    assert (run.expected_from, run.benchmark) == ("manifest", "b")
    assert places(run, "outcome") == [("a", 0, "missing"), ("a", 1, "failed"), ("z", 0, "missing"), ("z", 1, "missing")]


def test_a_manifest_of_other_names_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"task_ids": ["x", "y"], "repeats": 1}))
    run = load_rows(tmp_path, rollout("a"))
    assert run.expected_from is None
    assert any("none of them is a task of the rows" in note for note in run.notes)


def test_epochs_of_an_inspect_log_are_expected(tmp_path: Path) -> None:
    spec = {"task": "t", "model": "m", "dataset": {"sample_ids": [1, 2]}, "config": {"epochs": 2}}
    path = write_eval(tmp_path / "log.eval", {"eval": spec}, [sample(1), sample(1, epoch=2, value="I"), sample(2)])
    (run,) = load(path)
    assert run.expected_from == "inspect"
    assert places(run, "outcome") == [("1", 0, "passed"), ("1", 1, "failed"), ("2", 0, "passed"), ("2", 1, "missing")]


def test_failures_are_rows_of_their_tasks(tmp_path: Path) -> None:
    write_jsonl(
        tmp_path / "run_failures.jsonl", [without(rollout("b", repeat=1), "response") | {"_ng_failure_class": "x"}]
    )
    run = load_rows(tmp_path, rollout("a", repeat=0), rollout("a", repeat=1), rollout("b", repeat=0))
    assert (run.expected_from, task(run, "b")["repeats_expected"]) == ("inferred", 2)


def test_what_a_manifest_expects_is_believed_before_what_it_says_of_shards_that_are_not_here(tmp_path: Path) -> None:
    manifest = {"task_ids": ["a", "b"], "repeats": 2, "missing_tasks": {"a": 7, "b": 5, "c": 1, "d": 10**9}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    run = load_rows(tmp_path, rollout("a", repeat=0))
    assert run.tasks.select("task_id", "repeats_expected").rows() == [("a", 2), ("b", 2), ("c", 1)]
    assert outcomes(run) == ["failed", *["missing"] * 4]
    assert "2 tasks are of shards that are not here" in run.notes


def test_shards_that_are_not_here_add_to_the_tasks_that_are(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"missing_tasks": {"a": 7, "c10": 2, "c9": 1}}))
    run = load_rows(tmp_path, rollout("a"), rollout("a"), rollout("b"))
    assert run.tasks.select("task_id", "repeats_expected").rows() == [("a", 2), ("b", 1), ("c9", 1), ("c10", 2)]
    assert outcomes(run) == [*["failed"] * 3, *["missing"] * 3]


def test_missing_rollouts_of_runs_in_one_file_are_their_own(tmp_path: Path) -> None:
    rows = [rollout(f"t{n}", repeat=k, model=model) for model in "xy" for n in (10, 9, 2, 1, 3) for k in (1, 0)]
    lost = [("x", "t2", 0), ("y", "t10", 1)]
    kept = [row for row in rows if (row["response"]["model"], row["task_id"], row["_ng_rollout_index"]) not in lost]
    runs = load(write_jsonl(tmp_path / "run.jsonl", kept))
    names = [f"t{n}" for n in (1, 2, 3, 9, 10)]
    for run, (model, name, repeat) in zip(runs, lost, strict=True):
        assert places(run) == [(each, k) for each in names for k in (0, 1)]
        missing = run.rollouts.filter(run.rollouts["outcome"] == "missing")
        assert missing.select("task_id", "repeat", "model", "line").rows() == [(name, repeat, None, None)]
        assert set(run.rollouts["model"].drop_nulls()) == {model}
