"""What makes two rows rows of one task, and what the task is called."""

from pathlib import Path
from typing import Any

import pytest

from blade.ingest.frames import natural
from blade.model.run import Run
from builders import Row, load, load_rows, places, rollout, task, without, write_jsonl


def known_by(run: Run) -> dict[str, str]:
    return dict(run.tasks.select("task_id", "id_kind").rows())


@pytest.mark.parametrize(
    "name", ["task_id", "instance_id", "problem_id", "question_id", "sample_id", "uuid", "id", "example_id", "qid"]
)
def test_a_task_is_its_id(tmp_path: Path, name: str) -> None:
    run = load_rows(tmp_path, *(rollout() | {name: value} for value in ("x", 7, "x")))
    assert known_by(run) == {"7": "id", "x": "id"}
    assert places(run) == [("7", 0), ("x", 0), ("x", 1)]


def test_an_id_may_stand_in_the_metadata_of_the_request(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout(responses_create_params={"input": "?", "metadata": {"instance_id": "m"}}))
    assert known_by(run) == {"m": "id"}


@pytest.mark.parametrize("value", ["", "  ", True, 1.5, {"a": 1}, ["x"], None])
def test_what_cannot_name_a_task_is_no_id(tmp_path: Path, value: object) -> None:
    run = load_rows(tmp_path, rollout(task_id=value, uuid="u"))
    assert known_by(run) == {"u": "id"}


@pytest.mark.parametrize("value", ["a#1:2", "a/b/c", "a:b", "é\u202e", "9" * 5000, "x" * 10_000, "line\nbreak"])
def test_any_other_text_is_an_id_as_it_stands(tmp_path: Path, value: str) -> None:
    run = load_rows(tmp_path, rollout(value), rollout("b"))
    assert value in run.tasks["task_id"].to_list()


def test_an_id_shared_by_different_tasks_is_none(tmp_path: Path) -> None:
    rows = [rollout("0", question=text, prompt=text) for text in ("one", "two", "one")]
    run = load_rows(tmp_path, *rows)
    assert sorted(run.tasks["id_kind"]) == ["key+prompt"] * 2
    assert sorted(run.rollouts.group_by("task_id").len()["len"]) == [1, 2]


def test_one_id_shared_by_different_tasks_leaves_the_others_alone(tmp_path: Path) -> None:
    rows = [
        rollout(name, question=text, prompt=text) for name, text in (("a", "1"), ("a", "1"), ("b", "2"), ("b", "2"))
    ]
    odd = [rollout("c", question="3", prompt="3"), rollout("c", question="4", prompt="4")]
    run = load_rows(tmp_path, *rows, *odd)
    assert sorted(known_by(run).values()) == ["id", "id", "key+prompt", "key+prompt"]


def test_rows_of_an_id_that_agree_in_the_key_may_differ_in_the_prompt(tmp_path: Path) -> None:
    rows = [rollout(name, expected_answer=name, prompt=f"hello {number}") for number, name in enumerate("aabbcc")]
    run = load_rows(tmp_path, *rows)
    assert known_by(run) == dict.fromkeys("abc", "id")
    assert run.tasks["prompt_fp"].null_count() == 3


def test_rows_of_an_id_that_agree_in_the_prompt_may_differ_in_the_key(tmp_path: Path) -> None:
    rows = [rollout(name, solution=str(number), prompt=name) for number, name in enumerate("aabbcc")]
    run = load_rows(tmp_path, *rows)
    assert known_by(run) == dict.fromkeys("abc", "id")
    assert run.tasks["key_fp"].null_count() == 3
    assert run.tasks["prompt_fp"].null_count() == 0


def test_an_id_that_varies_within_a_position_gives_way_to_the_position(tmp_path: Path) -> None:
    rows = [rollout(index=n // 2, uuid=f"u{n}") for n in range(4)]
    run = load_rows(tmp_path, *rows)
    assert known_by(run) == {"0": "position", "1": "position"}


def test_an_id_that_some_rows_of_a_position_lack_is_theirs_too(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a", index=0), rollout(index=0))
    assert places(run) == [("a", 0), ("a", 1)]


def test_an_id_at_two_positions_of_one_file_is_none(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a", index=0), rollout("a", index=1), rollout("b", index=2))
    assert known_by(run) == {"0": "position", "1": "position", "b": "id"}


def test_two_positions_with_equal_marks_are_two_tasks_and_said(tmp_path: Path) -> None:
    run = load_rows(tmp_path, *(rollout(index=n, question="same", prompt="same") for n in (0, 1, 2)), rollout(index=3))
    assert known_by(run) == dict.fromkeys("0123", "position")
    assert "1 group of tasks with the same key and prompt (duplicate tasks): 0 = 1 = 2" in run.notes


KEYED = {"question": "q"}
PROMPTED: Row = {"responses_create_params": {"input": "p"}}


@pytest.mark.parametrize(
    ("marks", "kind"),
    [(KEYED | PROMPTED, "key+prompt"), (KEYED, "key"), (PROMPTED, "prompt")],
)
def test_without_id_and_position_marks_decide(tmp_path: Path, marks: dict[str, Any], kind: str) -> None:
    other = {"question": "r", "responses_create_params": {"input": "r"}}
    run = load_rows(tmp_path, rollout() | marks, rollout(passed=True) | marks, rollout() | other)
    assert sorted(run.tasks["id_kind"]) == sorted((kind, "key+prompt"))
    assert all(len(name) == 8 for name in run.tasks["task_id"])
    assert sorted(run.rollouts.group_by("task_id").len()["len"]) == [1, 2]


def test_without_any_mark_a_task_is_its_line(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout(), rollout())
    assert known_by(run) == {"line1": "line", "line2": "line"}


@pytest.mark.parametrize("prompt", ["", " \n", [], None, [{"role": "user", "content": ""}]])
def test_an_empty_prompt_is_no_mark(tmp_path: Path, prompt: object) -> None:
    run = load_rows(tmp_path, rollout() | {"responses_create_params": {"input": prompt}})
    assert known_by(run) == {"line1": "line"}


@pytest.mark.parametrize("value", [None, ""])
def test_an_empty_key_is_no_mark(tmp_path: Path, value: object) -> None:
    run = load_rows(tmp_path, rollout(question=value, prompt="a"), rollout(question=value, prompt="b"))
    assert set(run.tasks["id_kind"]) == {"prompt"}


def test_an_answer_alone_names_no_task(tmp_path: Path) -> None:
    run = load_rows(tmp_path, *({"reward": 1.0, "label": n % 3, "category": f"c{n}"} for n in range(9)))
    assert (run.tasks.height, set(known_by(run).values())) == (9, {"line"})


def test_white_space_and_later_turns_do_not_change_a_prompt(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "What is\n two?"}, {"role": "assistant", "content": "2"}]
    rows = [rollout(prompt="What is two?"), rollout() | {"responses_create_params": {"input": chat}}]
    assert load_rows(tmp_path, *rows).tasks.height == 1


def test_a_field_that_changes_among_repeats_is_a_result_and_no_key(tmp_path: Path) -> None:
    rows = [rollout(index=n // 2, question=f"q{n // 2}", verifier_metadata={"seed": n}) for n in range(8)]
    run = load_rows(tmp_path / "a", *rows)
    bare = load_rows(tmp_path / "b", *(without(row, "verifier_metadata") for row in rows))
    assert run.tasks["key_fp"].to_list() == bare.tasks["key_fp"].to_list()
    assert run.tasks["key_fp"].n_unique() == 4


def test_a_row_that_lacks_a_field_has_the_key_of_its_task(tmp_path: Path) -> None:
    rows = [rollout("a", question="q", expected_answer="x"), rollout("a", question="q")]
    assert known_by(load_rows(tmp_path, *rows)) == {"a": "id"}


def test_shards_that_both_begin_at_0_keep_their_tasks_apart(tmp_path: Path) -> None:
    for name, texts in (("r1", "ab"), ("r2", "cd")):
        rows = [rollout(index=n, repeat=0, question=text, agent="x") for n, text in enumerate(texts)]
        write_jsonl(tmp_path / f"{name}.jsonl", rows)
    (run,) = load(tmp_path)
    assert sorted(known_by(run)) == ["0", "0~2", "1", "1~2"]


def test_between_files_marks_decide_and_not_the_position(tmp_path: Path) -> None:
    for repeat, texts in enumerate(("ab", "ba")):
        rows = [rollout(index=n, repeat=repeat, question=text, agent="x") for n, text in enumerate(texts)]
        write_jsonl(tmp_path / f"r{repeat}.jsonl", rows)
    (run,) = load(tmp_path)
    assert places(run, "artifact") == [
        ("0", 0, "r0.jsonl"),
        ("0", 1, "r1.jsonl"),
        ("1", 0, "r0.jsonl"),
        ("1", 1, "r1.jsonl"),
    ]
    assert len({task(run, name)["key_fp"] for name in "01"}) == 2


def test_names_sort_as_people_count() -> None:
    names = ["task10", "task9", "task09", "a", "10", "9", "task9b", "1" * 6000]
    assert sorted(names, key=natural) == ["9", "10", "1" * 6000, "a", "task09", "task9", "task9b", "task10"]
    assert natural("07") != natural("7")


def test_fields_that_only_the_inputs_have_are_no_part_of_the_key(tmp_path: Path) -> None:
    rows = [rollout(index=n, repeat=k, expected_answer=str(n)) for n in range(3) for k in range(2)]
    alone = load_rows(tmp_path / "alone", *rows)
    given = [{"_ng_task_index": n, "responses_create_params": {}, "solution": f"s{n}"} for n in range(3)]
    (tmp_path / "beside").mkdir()
    write_jsonl(tmp_path / "beside" / "run_materialized_inputs.jsonl", given)
    beside = load_rows(tmp_path / "beside", *rows)
    assert beside.tasks["key_fp"].to_list() == alone.tasks["key_fp"].to_list()
    assert alone.tasks["key_fp"].null_count() == 0


def test_tasks_with_one_rollout_do_not_say_that_a_field_is_the_tasks_own(tmp_path: Path) -> None:
    rows = [rollout(index=0, repeat=k, solution=str(k)) for k in range(2)]
    run = load_rows(tmp_path, *rows, *(rollout(index=n, repeat=0, solution=str(n)) for n in (1, 2, 3)))
    assert run.tasks["key_fp"].null_count() == 4


def test_only_tasks_that_share_key_and_prompt_are_called_duplicates(tmp_path: Path) -> None:
    asked = {"t1": "x", "t10": "y", "t9": "y", "t3": "z"}
    run = load_rows(tmp_path, *(rollout(name, prompt=text, expected_answer=text) for name, text in asked.items()))
    (said,) = [note for note in run.notes if "duplicate tasks" in note]
    assert said == "1 group of tasks with the same key and prompt (duplicate tasks): t9 = t10"
