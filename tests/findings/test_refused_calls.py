"""Calls that break the schema which the request itself gives for their tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import blade
from blade.model.diagnosis import Diagnosis
from blade.model.tools import Offered
from builders import Row, call, response, result, rollout, write_jsonl

CLICK = {
    "type": "object",
    "properties": {
        "x": {"type": "integer"},
        "y": {"type": "integer"},
        "button": {"type": "string", "enum": ["left", "right"]},
        "note": {"type": ["string", "null"]},
        "where": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "speed": {"type": "number"},
    },
    "required": ["x", "y"],
    "additionalProperties": False,
}

CALLS = [
    ('{"x": 1, "y": 2}', None),
    ('{"x": 1.0, "y": 2, "speed": 3}', None),
    ('{"x": 1, "y": 2, "button": null, "note": null, "where": [3]}', None),
    ('{"x": [1, 2], "y": 2}', "x"),
    ('{"x": 1, "y": "2"}', "y"),
    ('{"x": 1.5, "y": 2}', "x"),
    ('{"x": true, "y": 2}', "x"),
    ('{"x": null, "y": 2}', "x"),
    ('{"x": 1, "y": 2, "button": "middle"}', "button"),
    ('{"x": 1, "y": 2, "speed": "fast"}', "speed"),
    ('{"x": 1, "y": 2, "z": 3}', "z"),
    ('{"x": 1}', "y"),
    ("[1, 2]", "arguments"),
    ('{"x": 1, "y"', None),
    ("", None),
    ('{"x": 1e999, "y": 2}', None),
]


@pytest.mark.parametrize(("arguments", "argument"), CALLS)
def test_the_argument_that_a_schema_refuses(arguments: str, argument: str | None) -> None:
    assert Offered({"click": CLICK}).refused("click", arguments) == argument


def test_open_schemas_take_what_they_do_not_name() -> None:
    offered = Offered({"click": {"properties": {"x": {"type": "integer"}}}})
    assert offered.refused("click", '{"z": 1}') is None
    assert offered.refused("press", '{"x": []}') is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(schema=json_values, arguments=json_values)
def test_no_schema_and_no_arguments_break_it(schema: Any, arguments: Any) -> None:
    for parameters in (schema, {"properties": {"a": schema}, "required": schema, "additionalProperties": False}):
        refused = Offered({"t": parameters}).refused("t", json.dumps(arguments))
        assert refused is None or isinstance(refused, str)


def clicked(task: str, arguments: str, *, passed: bool = False, **more: Any) -> Row:
    asked = {"input": f"click {task}", "tools": [{"type": "function", "name": "click", "parameters": CLICK}]}
    output = [call("click", arguments), result("clicked")]
    return rollout(task, passed=passed, response=response(output), responses_create_params=asked, **more)


def diagnosed(folder: Path, *rows: Row) -> Diagnosis:
    diagnosis = blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0].diagnosis
    assert diagnosis is not None
    return diagnosis


def test_what_nothing_else_explains_is_put_down_to_the_call(tmp_path: Path) -> None:
    found = diagnosed(
        tmp_path,
        clicked("a", '{"x": 1, "y": 2}', passed=True),
        clicked("b", '{"x": [1, 2], "y": 2}'),
        clicked("c", '{"x": [3, 4], "y": 2}'),
    )
    assert [(mode.id, mode.rollouts) for mode in found.partition.modes] == [("malformed-arguments", 2)]
    (finding,) = found.findings
    assert (finding.id, finding.rollouts) == ("malformed-arguments:click", 2)
    assert 'b#0:0 calls `click` `{"x": [1, 2], "y": 2}`, where `x` breaks the schema.' in finding.against
    assert {cause.cause for cause in found.causes.values()} == {"behavior"}


def test_tools_of_chat_completions_are_read_too(tmp_path: Path) -> None:
    row = clicked("b", '{"x": [1, 2], "y": 2}')
    row["responses_create_params"]["tools"] = [{"type": "function", "function": {"name": "click", "parameters": CLICK}}]
    assert [mode.id for mode in diagnosed(tmp_path, row).partition.modes] == ["malformed-arguments"]


def test_what_passing_rollouts_do_as_well_explains_nothing(tmp_path: Path) -> None:
    lax = [clicked(f"p{n}", '{"x": "1", "y": 2}', passed=True) for n in range(6)]
    found = diagnosed(tmp_path, clicked("a", '{"x": "1", "y": 2}'), *lax)
    assert [mode.id for mode in found.partition.modes] == ["unattributed"]


def test_another_reason_comes_first(tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"expected_answer": "4", "extracted_answer": "5"}
    found = diagnosed(tmp_path, clicked("a", '{"x": "1", "y": 2}', **wrong))
    assert [mode.id for mode in found.partition.modes] == ["wrong-answer"]
    assert [finding.id for finding in found.findings] == ["wrong-answer:off by one"]
