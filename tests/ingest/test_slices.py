"""Which fields may cut the tasks into slices."""

from pathlib import Path
from typing import Any

import pytest

from blade.model.run import Run
from builders import Row, load, load_rows, rollout, slice_names, write_jsonl


def rows(tasks: int = 12, repeats: int = 2, **fields: Any) -> list[Row]:
    """Tasks that pass in the first repeat where their number is divisible by 4; each field is made from task and repeat."""
    return [
        rollout(f"t{n}", repeat=k, passed=n % 4 == 0 and k == 0) | {name: make(n, k) for name, make in fields.items()}
        for n in range(tasks)
        for k in range(repeats)
    ]


def loaded(folder: Path, *, tasks: int = 12, repeats: int = 2, **fields: Any) -> Run:
    return load_rows(folder, *rows(tasks, repeats, **fields))


def half(n: int, k: int) -> str:
    return "left" if n % 2 else "right"


def test_a_field_that_is_the_same_in_every_repeat_is_the_tasks_own(tmp_path: Path) -> None:
    run = loaded(tmp_path, side=half)
    assert slice_names(run) == ["side"]
    assert run.tasks["slice.side"].value_counts().sort("slice.side").rows() == [("left", 6), ("right", 6)]


def test_a_field_that_changes_among_repeats_is_not(tmp_path: Path) -> None:
    assert slice_names(loaded(tmp_path, side=lambda n, k: half(n + k, 0))) == []


def test_with_one_repeat_only_known_names_speak_of_the_task(tmp_path: Path) -> None:
    assert slice_names(loaded(tmp_path, repeats=1, side=half, difficulty=half)) == ["difficulty"]


def test_with_one_repeat_a_field_that_is_the_same_in_every_run_does_too(tmp_path: Path) -> None:
    both = rows(repeats=1, side=half, changing=half)
    other = [row | {"model": "b", "changing": half(n // 2, 0)} for n, row in enumerate(both)]
    path = write_jsonl(tmp_path / "run.jsonl", [row | {"model": "a"} for row in both] + other)
    assert [slice_names(run) for run in load(path)] == [["side"], ["side"]]


@pytest.mark.parametrize(
    "name",
    ["is_correct", "resolved", "passed", "status", "verdict", "hit_at_1", "judge_label", "f1", "_private", "seed"],
)
def test_verdict_words_are_barred(tmp_path: Path, name: str) -> None:
    assert slice_names(loaded(tmp_path, **dict[str, Any]({name: half}))) == []


@pytest.mark.parametrize(
    "name", ["reward", "extracted_answer", "expected_answer", "error", "stop_reason", "duration", "cost"]
)
def test_fields_that_the_tables_use_are_barred(tmp_path: Path, name: str) -> None:
    assert slice_names(loaded(tmp_path, **dict[str, Any]({name: half}))) == []


def test_a_field_that_fixes_the_outcome_is_the_verdict_in_disguise(tmp_path: Path) -> None:
    many = [
        rollout(f"t{n}", repeat=k, passed=n < 6, thumb="up" if n < 6 else "down", side=half(n, 0))
        for n in range(12)
        for k in (0, 1)
    ]
    assert slice_names(load_rows(tmp_path, *many)) == ["side"]


@pytest.mark.parametrize("values", [1, 3, 13])
def test_two_to_twelve_values_with_five_tasks_each(tmp_path: Path, values: int) -> None:
    run = loaded(tmp_path, tasks=65, kind=lambda n, k: f"v{n % values}")
    assert slice_names(run) == (["kind"] if values == 3 else [])


def test_a_value_of_four_tasks_is_too_few(tmp_path: Path) -> None:
    assert slice_names(loaded(tmp_path, kind=lambda n, k: "rare" if n < 4 else "common")) == []


def test_long_strings_and_objects_are_no_values(tmp_path: Path) -> None:
    run = loaded(
        tmp_path,
        long=lambda n, k: half(n, k) * 10,
        thing=lambda n, k: {"a": half(n, k)},
        fits=lambda n, k: half(n, k) * 8,
    )
    assert slice_names(run) == ["fits"]


def test_numbers_are_cut_in_thirds(tmp_path: Path) -> None:
    run = loaded(tmp_path, tasks=30, size=lambda n, k: n * 10, grade=lambda n, k: n % 3)
    counts = dict(run.tasks["slice.size"].value_counts().rows())
    assert counts == {"below 100": 10, "100 to 200": 10, "200 and above": 10}
    assert sorted(set(run.tasks["slice.grade"])) == ["0", "1", "2"]


def test_at_most_eight_and_known_names_first(tmp_path: Path) -> None:
    names = [f"a{n}" for n in range(10)] + ["difficulty"]
    fields: dict[str, Any] = dict.fromkeys(names, half)
    run = loaded(tmp_path, **fields)
    assert slice_names(run) == ["difficulty", *names[:7]]


def test_metadata_may_hold_slices(tmp_path: Path) -> None:
    run = loaded(tmp_path, metadata=lambda n, k: {"side": half(n, k), "score": half(n, k), "task_id": n})
    assert slice_names(run) == ["metadata.side"]


def test_fields_of_the_inputs_need_no_repeats(tmp_path: Path) -> None:
    inputs = [{"_ng_task_index": n, "_ng_rollout_index": 0, "side": half(n, 0)} for n in range(10)]
    write_jsonl(tmp_path / "run_materialized_inputs.jsonl", inputs)
    run = load_rows(tmp_path, *(rollout(index=n, repeat=0, other=half(n, 0)) for n in range(10)))
    assert slice_names(run) == ["side"]


def test_rows_that_bring_ever_new_fields_are_bounded(tmp_path: Path) -> None:
    many = [row | {f"x{n}-{m}": m for m in range(20)} for n, row in enumerate(rows(tasks=50, side=half))]
    assert slice_names(load_rows(tmp_path, *many)) == ["side"]


@pytest.mark.parametrize(
    "name",
    ["strict_pass", "answer_em", "verifier_pass_rate", "judge_rating", "compiled", "tool_calls", "turns_used"],
)
def test_grades_and_amounts_of_a_rollout_are_no_slices_though_repeats_agree(tmp_path: Path, name: str) -> None:
    fields: Row = {name: lambda n, k: n % 2}
    assert slice_names(loaded(tmp_path, **fields)) == []


def test_fractions_in_the_rows_are_results_though_repeats_agree(tmp_path: Path) -> None:
    assert slice_names(loaded(tmp_path, f2p=lambda n, k: n % 2 / 2)) == []
    assert slice_names(loaded(tmp_path, hops=lambda n, k: float(n % 2))) == ["hops"]
    assert slice_names(loaded(tmp_path, level=lambda n, k: n % 2 / 2)) == ["level"]


def test_a_known_property_of_the_input_may_decide_the_outcome(tmp_path: Path) -> None:
    rows = [
        rollout(f"t{n}", repeat=k, passed=n < 10, context_length=2 ** (13 + n // 5))
        for n in range(15)
        for k in range(2)
    ]
    run = load_rows(tmp_path, *rows)
    assert slice_names(run) == ["context_length"]
    assert sorted(set(run.tasks["slice.context_length"])) == ["16384", "32768", "8192"]
