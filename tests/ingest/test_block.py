"""Rows are read many at a time, and it does not show: an odd or a bad row changes nothing for its neighbours."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from blade.ingest import jsonl, scan
from blade.ingest.batch import UsualRows
from blade.ingest.decode import decode_row
from blade.model.finding import Detection
from blade.model.rollout import Rollout
from blade.model.run import Run
from builders import Row, call, load, load_rows, reasons, result, rollout, said, write_bytes

USUAL = [rollout(f"t{n}", repeat=0, passed=n % 2 == 0, prompt=f"q{n}", level="low") for n in range(6)]
ODD: list[Row] = [
    rollout("text") | {"response": "a text for a response"},
    rollout("list", response=[said("a list for a response")]),
    rollout("null", response=None, responses_create_params=None),
    rollout("usage", response={"output": [said("x")], "usage": [1, 2]}),
    rollout("tokens", response={"output": [said("x")], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
    rollout("failed", response={"output": [], "status": "failed", "error": {"type": "boom"}}),
    rollout("fields", answer="4", metadata={"topic": "sums"}, tests={"one": True}) | {'a "quoted" name': 1},
    rollout("key", expected_answer="5", answer="4"),
    {"score": 1, "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}], "id": 3},
    {"task_id": "no rollout"},
    rollout("reward", reward="high", repeat=-1),
    rollout("call", output=[call("find"), result("Error: nothing")]),
]
BAD = (
    b'{"reward": 1, "task_id": "surrogate", "response": {"output": "\\ud800"}}',
    b'{"reward": NaN, "task_id": "nan"}',
    b'{"reward": 1, "task_id": "bytes \xff", "level": "low"}',
    b'{"reward": 1, "task_id": "huge", "expected_answer": 1e999}',
    b'{"reward": 1, "task_id": "deep", "expected_answer": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    b'{"reward": 1, "task_id": "torn", "resp',
)


def detect(rollouts: Sequence[Rollout]) -> list[Detection]:
    return list(map(look_at, rollouts))


def look_at(one: Rollout) -> Detection:
    """Reads everything that a rule may read."""
    assert one.row["task_id" if "task_id" in one.row else "id"] is not None
    return Detection(cannot_check=() if one.steps and one.prompt else ("TST001",))


def lines() -> list[bytes]:
    plain = [json.dumps(row).encode() for row in USUAL]
    strange = [*(json.dumps(row).encode() for row in ODD), *BAD]
    return [line for n, other in enumerate(strange) for line in (plain[n % 3], other)] + plain


def read(path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> Run:
    monkeypatch.setattr(scan, "BLOCK", block)
    monkeypatch.setattr(jsonl, "TOGETHER", block)
    return load(path, detect=detect)[0]


@pytest.mark.parametrize("block", [1, 500, 3_000])
def test_rows_read_together_give_what_each_gives_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    path = write_bytes(tmp_path / "run.jsonl", b"\n".join(lines()))
    one, other = read(path, monkeypatch, 1 << 20), read(path, monkeypatch, block)
    for name in ("rollouts", "tasks", "checks"):
        assert getattr(one, name).equals(getattr(other, name))
    assert (one.settings, one.schema, one.tools) == (other.settings, other.schema, other.tools)
    assert reasons(one) == reasons(other)
    assert len(reasons(one)) > len(BAD) - 1


def test_what_a_key_wants_depends_on_the_field_that_says_it(tmp_path: Path) -> None:
    run = load_rows(tmp_path, rollout("a", expected_actions=[]), rollout("b", evaluation_criteria=[]))
    assert run.tasks["key_expects"].to_list() == ["nothing", None]


def test_a_row_is_usual_when_all_its_fields_are_known() -> None:
    usual, row = UsualRows(trajectories=True), b'{"reward": 1, "response": {"output": []}, "caf\\u00e9": [1, 2]}'
    with pytest.raises(ValueError, match="unknown field"):
        usual.decode(row)
    usual.learn([decode_row(row)[0]])
    (batch,) = [usual.batch([row], [usual.decode(row)])]
    assert bytes(batch.columns["café"][0]) == b"[1, 2]"
    assert batch.seen() == {"reward": 1, "response": 1, "café": 1}


def test_a_row_of_other_than_usual_items_is_not_usual() -> None:
    call = b'{"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c", "id": 7}'
    usual, row = UsualRows(trajectories=True), b'{"response": {"output": [%b]}}'
    assert usual.batch([b""], [usual.decode(row % call)]).trajectories[0][0].name == "f"
    for odd in (b'{"type": "mcp_call"}', b"[]", b'{"type": "message", "role": "assistant", "tool_calls": []}'):
        with pytest.raises(ValueError, match=r"response\.output"):
            usual.decode(row % odd)
        UsualRows(trajectories=False).decode(row % odd)


def test_a_file_that_brings_ever_new_fields_is_read(tmp_path: Path) -> None:
    rows = [rollout(f"t{n}") | {f"field{n}-{m}": m for m in range(40)} for n in range(600)]
    run = load_rows(tmp_path, *rows)
    assert run.rollouts.height == 600
    assert sum(field.seen for field in run.schema if field.path.startswith("field")) == 600 * 40
