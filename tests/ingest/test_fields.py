"""The column table: which foreign field wins, proved with rows whose every field holds a different value."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blade.ingest import fields
from blade.ingest.fields import BY_NAME, TABLE
from blade.ingest.reread import reread
from blade.model.run import Run
from builders import Row, call, load_rows, reasons, rollout, said, task

BLANK: Row = {"task_id": "blank", "reward": 0.0, "response": {"output": []}}
"""A second row, so that what a field says of one rollout is not taken for what the whole run says."""


def put(row: Row, path: str, value: object) -> None:
    *outer, last = path.split(".")
    for name in outer:
        row = row.setdefault(name, {})
    row[last] = value


def filled(paths: tuple[str, ...], values: list[Any]) -> Row:
    row: Row = {}
    for path, value in zip(paths, values, strict=True):
        put(row, path, value)
    return row


def rollout_column(name: str) -> Callable[[Run], object]:
    return lambda run: run.rollouts.row(0, named=True)[name]


def task_column(name: str) -> Callable[[Run], object]:
    return lambda run: run.tasks.row(0, named=True)[name]


def said_texts(run: Run) -> object:
    row = run.rollouts.row(0, named=True)
    (read,) = reread(run, [(row["task_id"], row["repeat"])])
    return (read.steps or (said,))[0].text  # type: ignore[union-attr]


def error_of(run: Run) -> object:
    row = run.rollouts.row(0, named=True)
    (read,) = reread(run, [(row["task_id"], row["repeat"])])
    return read.error


TEXTS = [f"value-{n}" for n in range(40)]
NUMBERS = list(range(101, 141))
ACTIONS = [[{"name": "delete_it"}] * (n % 2 + 1) for n in range(40)]

READ: dict[str, tuple[list[Any], Callable[[Run], object], list[Any]]] = {
    "id": (TEXTS, task_column("id_mark"), TEXTS),
    "index": (NUMBERS, task_column("index"), NUMBERS),
    "repeat": (NUMBERS, rollout_column("repeat"), NUMBERS),
    "attempt": (NUMBERS, rollout_column("attempt"), NUMBERS),
    "reward": (NUMBERS, rollout_column("reward"), NUMBERS),
    "model": (TEXTS, lambda run: run.model, TEXTS),
    "agent": (TEXTS, lambda run: run.agent, TEXTS),
    "skills": (TEXTS, lambda run: run.settings.get("skills"), TEXTS),
    "trajectory": ([[said(text)] for text in TEXTS], said_texts, TEXTS),
    "expected": (TEXTS, task_column("expected"), TEXTS),
    "error": (TEXTS, error_of, TEXTS),
    "stop": (TEXTS, rollout_column("stop"), TEXTS),
    "input_tokens": (NUMBERS, rollout_column("input_tokens"), NUMBERS),
    "output_tokens": (NUMBERS, rollout_column("output_tokens"), NUMBERS),
    "seconds": (NUMBERS, rollout_column("seconds"), NUMBERS),
    "cost": (NUMBERS, rollout_column("cost"), NUMBERS),
    "answer": (TEXTS, rollout_column("answer"), TEXTS),
}
"""For each line that gives one value: values to put in, how the value is read back, what it must be."""

ELSEWHERE = {"prompt", "key", "expected_actions", "expected_statements", "tools", "sampling", "script"}
"""Lines that do not give one value; each has a test of its own below."""


def test_every_line_of_the_table_is_tested() -> None:
    assert {field.name for field in TABLE} == READ.keys() | ELSEWHERE
    assert len({field.name for field in TABLE}) == len(TABLE)


@pytest.mark.parametrize(
    ("name", "skip"), [(field.name, n) for field in TABLE if field.name in READ for n in range(len(field.paths))]
)
def test_the_first_path_that_holds_a_value_wins(tmp_path: Path, name: str, skip: int) -> None:
    values, read, wanted = READ[name]
    paths = BY_NAME[name].paths
    given = [None] * skip + values[skip : len(paths)]
    base: Row = {} if name in ("id", "reward") else {"task_id": "a"}
    base |= {} if name == "reward" else {"reward": 0.0}
    base |= {"label": "x"} if name == "answer" else {}
    row = base | filled(paths, given)
    if name == "trajectory" and paths[skip] == "messages":
        row["messages"] = [{"role": "user", "content": "?"}, {"role": "assistant", "content": wanted[skip]}]
    assert read(load_rows(tmp_path, row)) == wanted[skip]


def test_an_answer_that_is_the_key_is_not_what_was_extracted(tmp_path: Path) -> None:
    keyed = {"reward": 0.0, "ground_truth": "1932", "answer": "1932"}
    run = load_rows(tmp_path, {"task_id": "a", "extracted_answer": None, **keyed}, {"task_id": "b", **keyed})
    assert run.rollouts["answer"].to_list() == [None, None]
    run = load_rows(tmp_path, {"task_id": "b", **keyed})
    assert run.rollouts["answer"].to_list() == ["1932"]


@pytest.mark.parametrize(
    "fields",
    [
        {"verifier_metadata": {"expected_answer": "5"}},
        {"verifier_metadata": {"ideal": "5"}},
        {"extra_info": {"ground_truth": "5"}},
        {"reward_model": {"ground_truth": "5", "style": "rule"}},
    ],
)
def test_a_key_inside_the_metadata(tmp_path: Path, fields: Row) -> None:
    assert load_rows(tmp_path, {"task_id": "a", "reward": 0.0, **fields}).tasks["expected"].to_list() == ["5"]


def test_an_answer_alone_is_the_key(tmp_path: Path) -> None:
    run = load_rows(
        tmp_path,
        {"task_id": "a", "reward": 1, "answer": "x"},
        {"task_id": "b", "reward": 1, "answer": "y", "target": "z"},
    )
    assert run.tasks["expected"].to_list() == ["x", "z"]
    assert run.rollouts["answer"].to_list() == [None, "y"]


@pytest.mark.parametrize("skip", range(len(BY_NAME["prompt"].paths)))
def test_the_prompt(tmp_path: Path, skip: int) -> None:
    paths = BY_NAME["prompt"].paths
    values: list[Any] = [*TEXTS[:3], [{"role": "user", "content": TEXTS[3]}]]
    run = load_rows(tmp_path / "all", {"task_id": "a", "reward": 0} | filled(paths, [None] * skip + values[skip:]))
    alone = load_rows(tmp_path / "one", {"task_id": "a", "reward": 0, "prompt": TEXTS[skip]})
    assert task(run, "a")["prompt_fp"] == task(alone, "a")["prompt_fp"]


@pytest.mark.parametrize("name", fields.KEY_NAMES)
def test_every_field_of_the_key_counts(tmp_path: Path, name: str) -> None:
    whole = {"task_id": "a", "reward": 0.0} | filled(fields.KEY_NAMES, TEXTS[: len(fields.KEY_NAMES)])
    run = load_rows(tmp_path, whole, whole | {"task_id": "b", name: "other"}, whole | {"task_id": "c"})
    keys = dict(run.tasks.select("task_id", "key_fp").rows())
    assert keys["a"] == keys["c"] != keys["b"]


@pytest.mark.parametrize("skip", range(len(BY_NAME["expected_actions"].paths)))
def test_the_expected_actions(tmp_path: Path, skip: int) -> None:
    paths = BY_NAME["expected_actions"].paths
    given = [None] * skip + ACTIONS[skip : len(paths)]
    run = load_rows(tmp_path, {"task_id": "a", "reward": 0} | filled(paths, given))
    assert task(run, "a")["key_expects"] == ("one change", "several changes")[skip % 2]


@pytest.mark.parametrize("path", BY_NAME["expected_statements"].paths)
def test_the_expected_statements(tmp_path: Path, path: str) -> None:
    row: Row = {"task_id": "a", "reward": 0, "expected_actions": [{"name": "get_user"}]}
    assert task(load_rows(tmp_path / "none", row), "a")["key_expects"] == "nothing"
    put(row, path, ["the price"])
    assert task(load_rows(tmp_path / "some", row), "a")["key_expects"] == "information"


def test_sampling_is_the_requests_then_the_responses(tmp_path: Path) -> None:
    paths = BY_NAME["sampling"].paths
    run = load_rows(tmp_path / "both", {"task_id": "a", "reward": 0} | filled(paths, [0.1, 0.2, 300, 0.4, 0.5, 600]))
    assert run.settings == {"temperature": "0.1", "top_p": "0.2", "max_output_tokens": "300"}
    run = load_rows(tmp_path / "one", {"task_id": "a", "reward": 0} | filled(paths, [None, None, None, 0.4, 0.5, 600]))
    assert run.settings == {"temperature": "0.4", "top_p": "0.5", "max_output_tokens": "600"}


@pytest.mark.parametrize("skip", [0, 1])
def test_the_tools(tmp_path: Path, skip: int) -> None:
    paths = BY_NAME["tools"].paths
    given: list[Any] = [[{"name": "f"}], [{"name": "f"}, {"name": "g"}]]
    run = load_rows(tmp_path, {"task_id": "a", "reward": 0} | filled(paths, [None] * skip + given[skip:]))
    assert run.settings["tools"].startswith(("1 tools", "2 tools")[skip])


def test_all_zero_usage_is_unknown(tmp_path: Path) -> None:
    usage = {"usage": {"input_tokens": 0, "output_tokens": 0}}
    run = load_rows(tmp_path, rollout("a", response={"output": [call("f")]} | usage), BLANK)
    assert run.rollouts["input_tokens"].to_list() == [None, None]


@pytest.mark.parametrize("value", [-1, 2**40, "x", 1.5, [], {}, True])
@pytest.mark.parametrize("name", ["_ng_task_index", "_ng_rollout_index", "_ng_attempt_index"])
def test_an_index_that_is_no_place_is_unused_and_listed(tmp_path: Path, name: str, value: object) -> None:
    run = load_rows(tmp_path, rollout("a") | {name: value})
    (reason,) = reasons(run)
    assert reason.startswith("run.jsonl:1: ")
    assert reason.endswith("no place in an order: unused")
    assert run.rollouts.height == 1


@pytest.mark.parametrize("value", ["7", 7.0, 7])
def test_an_index_may_be_written_in_several_ways(tmp_path: Path, value: object) -> None:
    assert task(load_rows(tmp_path, rollout() | {"_ng_task_index": value}), "7")["index"] == 7


def test_an_agent_that_is_an_object(tmp_path: Path) -> None:
    agent = {"name": "mini", "version": "2", "model_info": {"name": "m"}}
    spent = {"n_input_tokens": 9, "n_output_tokens": 3, "cost_usd": 0.25}
    run = load_rows(tmp_path, {"task_id": "a", "reward": 1, "agent": agent, "agent_result": spent})
    assert (run.agent, run.model) == ("mini", "m")
    assert run.rollouts.select("input_tokens", "output_tokens", "cost").row(0) == (9, 3, 0.25)


def test_the_letter_of_the_right_option_is_the_key(tmp_path: Path) -> None:
    row = {"task_id": "a", "reward": 0, "gold_answer": "the second", "gold_letter": "B", "extracted_answer": "C"}
    assert load_rows(tmp_path, row).tasks["expected"].to_list() == ["B"]
