"""Input that nobody meant to write: nothing crashes, and what cannot be used is listed with file and line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blade.ingest.reread import reread
from blade.model.errors import BladeError
from blade.model.run import Run
from builders import (
    Row,
    call,
    kept_places,
    load,
    load_rows,
    outcomes,
    places,
    reasons,
    result,
    rollout,
    said,
    write_bytes,
    write_jsonl,
)

GOOD = json.dumps(rollout("good", passed=True)).encode()


def read_again(run: Run) -> int:
    """How many rollouts there are; everything that a rule may look at can be had of each."""
    read = reread(run, kept_places(run))
    for one in read:
        assert isinstance(one.row, dict)
        for step in one.steps or ():
            json.dumps([step.text, step.tool, step.arguments]).encode()
    for table in (run.rollouts, run.tasks, run.checks):
        table.write_json()
    return len(read)


def run_of(folder: Path, *lines: bytes) -> Run:
    (run,) = load(write_bytes(folder / "run.jsonl", b"\n".join((GOOD, *lines)) + b"\n"))
    read_again(run)
    return run


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (GOOD[:-20], "ends in the middle of a value"),
        (b"{", "ends in the middle of a value"),
        (b"5", "the line holds a number, not an object"),
        (b"[1, 2]", "the line holds a list, not an object"),
        (b'"text"', "the line holds a string, not an object"),
        (b"null", "the line holds null, not an object"),
        (b"true", "the line holds a boolean, not an object"),
        (b"NaN", "the line holds a number, not an object"),
        (b"<PLACEHOLDER ROW>", "not JSON"),
        (b"{'reward': 1}", "not JSON"),
        (GOOD + GOOD, "not JSON: Extra data"),
        (b"\x00" * 50, "not JSON"),
        (bytes(range(11, 255)), "not JSON"),
        (b'{"reward": 1, "response": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested deeper than"),
        (b'{"reward": 1, "response": ' + b'{"a":' * 100_000, "nested deeper than|ends in the middle"),
        (b'{"reward": NaN, "response": ' + b"[" * 300 + b"]" * 300 + b"}", "nested deeper than"),
    ],
)
def test_a_line_that_holds_no_row_is_listed_with_its_line(tmp_path: Path, line: bytes, reason: str) -> None:
    run = run_of(tmp_path, b"", line, GOOD)
    assert places(run, "line") == [("good", 0, 1), ("good", 1, 4)]
    (found,) = reasons(run)
    assert found.startswith("run.jsonl:3: ")
    assert any(part in found for part in reason.split("|"))


def test_a_torn_last_line_without_an_end_is_listed(tmp_path: Path) -> None:
    (run,) = load(write_bytes(tmp_path / "run.jsonl", GOOD + b"\n" + GOOD[:50]))
    assert (outcomes(run), run.problem_count) == (["passed"], 1)


def test_a_last_line_without_an_end_is_a_row(tmp_path: Path) -> None:
    (run,) = load(write_bytes(tmp_path / "run.jsonl", GOOD + b"\n" + GOOD))
    assert outcomes(run) == ["passed", "passed"]


def test_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "run.jsonl", b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n" + GOOD + b"\r\n")
    (run,) = load(path)
    assert (places(run, "line"), run.problem_count) == ([("good", 0, 1), ("good", 1, 3)], 0)
    read_again(run)


MENDED = [
    GOOD.replace(b"done", b"\xff\xfe done"),
    GOOD.replace(b"task_id", b"task_id\\ud800").replace(b"}]}]}", b'}]}], "x": "\\udfff"}'),
    GOOD.replace(b"done", b"\\ud83d alone"),
    GOOD.replace(b"done", b"tab\there"),
    b'{"task_id": "m", "reward": 1.0, "response": {"output": [{"type": "message", "content": "x"}], "usage": {"input_tokens": NaN}}}',
    b'{"task_id": "m", "reward": 1.0, "response": {"output": "x", "top_p": Infinity}, "question": -Infinity}',
    b'{"task_id": "m", "reward": 1.0, "response": {"output": [{"type": "function_call", "arguments": {"n": '
    + b"9" * 9000
    + b"}}]}}",
    b'{"task_id": ' + b"9" * 6000 + b', "reward": 1.0, "response": {"output": "x", "temperature": 1e999}}',
]


@pytest.mark.parametrize("line", MENDED, ids=lambda line: repr(line[:0]) + str(len(line)))
def test_values_that_json_cannot_hold_are_mended_and_said(tmp_path: Path, line: bytes) -> None:
    run = run_of(tmp_path, line)
    assert outcomes(run) == ["passed", "passed"]
    (found,) = reasons(run)
    assert found.startswith(
        ("run.jsonl:2: values that standard JSON cannot hold", "run.jsonl:2: invalid UTF-8 replaced")
    )


def test_of_duplicate_keys_the_last_counts(tmp_path: Path) -> None:
    run = run_of(tmp_path, b'{"task_id": "d", "reward": 0, "reward": 1, "response": {"output": "a", "output": "b"}}')
    assert outcomes(run) == ["passed", "passed"]
    (read,) = reread(run, [("d", 0)])
    assert [step.text for step in read.steps or ()] == ["b"]


def test_a_very_long_line_is_a_row(tmp_path: Path) -> None:
    run = run_of(tmp_path, json.dumps(rollout("long", output="x" * 8_000_000)).encode(), b'"' + b"y" * 8_000_000)
    assert places(run, "agent_chars") == [("good", 0, 4), ("long", 0, 8_000_000)]
    assert run.problem_count == 1


def test_nesting_that_can_be_read_is_read(tmp_path: Path) -> None:
    deep: Any = "bottom"
    for _ in range(150):
        deep = [deep]
    run = load_rows(tmp_path, rollout("a", output=[deep], question=deep))
    read_again(run)
    assert run.rollouts["steps"].to_list() == [1]


ODD_VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "text",
    [],
    [None],
    [[1]],
    {},
    {"a": None},
    "\u202e\x00\U0001f600",
    2**70,
    [{"role": 5}],
]
NAMES = [
    "response",
    "responses_create_params",
    "messages",
    "agent_ref",
    "skills_ref",
    "usage",
    "metadata",
    "verifier_metadata",
    "task_id",
    "model",
    "error",
    "stop_reason",
    "expected_answer",
    "expected_actions",
    "evaluation_criteria",
    "tests",
    "criteria",
    "instruction_id_list",
    "duration",
    "tools",
    "trajectory",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_field_may_hold_anything(tmp_path: Path, name: str) -> None:
    rows = [rollout(f"t{n}") | {name: value} for n, value in enumerate(ODD_VALUES)]
    assert sum(read_again(run) for run in load(write_jsonl(tmp_path / "run.jsonl", rows))) == len(ODD_VALUES)


@pytest.mark.parametrize(
    "name", ["output", "usage", "model", "status", "error", "incomplete_details", "metadata", "temperature"]
)
def test_any_field_of_the_response_may_hold_anything(tmp_path: Path, name: str) -> None:
    rows = [rollout(f"t{n}", response={"output": [said("x")]} | {name: value}) for n, value in enumerate(ODD_VALUES)]
    assert sum(read_again(run) for run in load(write_jsonl(tmp_path / "run.jsonl", rows))) == len(ODD_VALUES)


@pytest.mark.parametrize("value", ["words", ["a", "b"], 5, None, True, [said("x")]])
def test_a_response_of_any_shape(tmp_path: Path, value: object) -> None:
    run = load_rows(tmp_path, rollout("a", response=value))
    assert outcomes(run) == ["failed"]
    read_again(run)


def test_only_bad_rows_are_one_clear_error(tmp_path: Path) -> None:
    path = write_bytes(tmp_path / "run.jsonl", b'{"task_id": "a", "rewar": "high", "r": {"output": 3}}\n5\n')
    with pytest.raises(BladeError) as caught:
        load(path)
    assert caught.value.hint


# A valid row in which anything may be missing or replaced.

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["", "a#1:2/3", "error", "\ud800"])
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)

VALID: Row = {
    "_ng_task_index": 0,
    "_ng_rollout_index": 1,
    "_ng_attempt_index": 1,
    "task_id": "a",
    "reward": 1.0,
    "agent_ref": {"name": "x"},
    "skills_ref": {"hash": "h", "skills": [{"name": "s"}]},
    "responses_create_params": {
        "input": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": [{"type": "input_text", "text": "u"}]},
        ],
        "metadata": {"task_id": "b"},
        "tools": [{"name": "f"}],
        "temperature": 0.5,
    },
    "response": {
        "model": "m",
        "status": "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"},
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "r"}]},
            call("f", '{"a": 1}'),
            result("Error: x"),
            {
                "role": "assistant",
                "content": "c",
                "tool_calls": [{"id": "1", "function": {"name": "g", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "1", "content": "t"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "2", "name": "h", "input": {"a": 1}}]},
            said("done"),
        ],
    },
    "question": "q",
    "expected_actions": [{"name": "delete", "kwargs": {"a": 1}}],
    "expected_outputs": ["1"],
    "extracted_answer": "4",
    "expected_answer": "4",
    "verifier_metadata": {"level": 1, "score": 2},
    "tests": [{"name": "one", "passed": True}],
    "duration": 1.0,
    "level": "high",
}


def spots(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [spot for name, item in inner for spot in spots(item, (*path, name))]


SPOTS = spots(VALID)


@st.composite
def mutated(draw: st.DrawFn) -> Row:
    row: Row = json.loads(json.dumps(VALID))
    for path in draw(st.lists(st.sampled_from(SPOTS), max_size=5)):
        holder: Any = row
        for name in path[:-1]:
            holder = holder[name] if _has(holder, name) else None
        if not _has(holder, path[-1]):
            continue
        if draw(st.booleans()):
            del holder[path[-1]]
        else:
            holder[path[-1]] = draw(ANYTHING)
    return row


def _has(holder: object, name: object) -> bool:
    if isinstance(holder, dict):
        return name in holder
    return isinstance(holder, list) and isinstance(name, int) and name < len(holder)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(mutated(), min_size=1, max_size=6))
def test_rows_that_went_wrong_anywhere_never_raise(tmp_path: Path, rows: list[Row]) -> None:
    path = write_bytes(tmp_path / "run.jsonl", b"\n".join(json.dumps(row).encode() for row in [VALID, *rows]))
    runs = load(path)
    kept = sum(run.rollouts["artifact"].count() + run.duplicates for run in runs)
    assert kept + max(run.problem_count for run in runs) >= len(rows) + 1
    for run in runs:
        read_again(run)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(st.text(max_size=6) | st.sampled_from(list(VALID)), ANYTHING, max_size=6), max_size=5))
def test_any_objects_never_raise_anything_but_one_clear_error(tmp_path: Path, rows: list[Row]) -> None:
    path = write_bytes(tmp_path / "run.jsonl", b"\n".join(json.dumps(row).encode() for row in rows))
    for run in runs_or_none(path):
        read_again(run)


def runs_or_none(path: Path) -> list[Run]:
    try:
        return load(path)
    except BladeError as error:
        return [] if error.hint else pytest.fail("an error without a hint")
