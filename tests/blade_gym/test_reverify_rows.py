"""Stored rollouts of another program: rows without an agent or an index, another program's agents, torn lines, order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_lab import here, lab, read, task, write

AGENT = "sums_simple_agent"
SLOW_FIRST = """
import asyncio

class Session:
    def __init__(self, row): self.row = row
    async def verify(self, response):
        await asyncio.sleep(0.2 if self.row["expected_answer"] == "0" else 0)
        return {"reward": 1.0}

class Own:
    def open(self, row): return Session(row)
    def gold(self, row): return None

def environment(config): return Own()
"""


def rollout(number: int, said: str, **more: Any) -> dict[str, Any]:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
    return {**task(number), "response": {"output": [message]}, "reward": 0.0, **more}


def reverify(folder: Path, *words: str | Path) -> tuple[int, str, str]:
    named = ("--resources-server", "sums", "--search-dir", folder, "--disable-aggregation")
    return here("eval", "reverify", "--rollouts", folder / "r.jsonl", *named, *words)


def test_rows_without_agent_and_index_get_the_only_agent_and_their_order(tmp_path: Path) -> None:
    lab(tmp_path)
    write(tmp_path / "r.jsonl", [rollout(3, "6"), rollout(4, "9"), rollout(5, "10")])
    code, out, err = reverify(tmp_path)
    assert code == 0, err
    assert "3 rollouts re-judged: 2 rewards went up, 0 went down" in out
    rows = read(tmp_path / "r_reverified.jsonl")
    assert [(row["_ng_task_index"], row["_ng_rollout_index"], row["reward"]) for row in rows] == [
        (0, 0, 1.0),
        (1, 0, 0.0),
        (2, 0, 1.0),
    ]
    assert {row["agent_ref"]["name"] for row in rows} == {AGENT}


def test_numbers_that_rows_bring_are_kept_and_not_given_twice(tmp_path: Path) -> None:
    lab(tmp_path)
    stamped = rollout(3, "6", _ng_task_index=1, _ng_rollout_index=4)
    write(tmp_path / "r.jsonl", [rollout(2, "4"), stamped, rollout(5, "10")])
    write(tmp_path / "r_materialized_inputs.jsonl", [task(9, _ng_task_index=0, _ng_rollout_index=0)])
    assert reverify(tmp_path)[0] == 0
    rows = read(tmp_path / "r_reverified.jsonl")
    assert [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows] == [(0, 0), (1, 4), (2, 0)]
    assert [row["reward"] for row in rows] == [1.0] * 3, "a number by order is no key of the materialized inputs"


def test_a_row_of_another_agent_is_refused_with_its_line_unless_one_is_chosen(tmp_path: Path) -> None:
    lab(tmp_path)
    write(tmp_path / "r.jsonl", [rollout(3, "6"), rollout(4, "8", agent_ref={"name": "theirs"})])
    code, _, err = reverify(tmp_path)
    assert (code, "r.jsonl:2: the row belongs to the agent theirs" in err, "--agent" in err) == (2, True, True)
    assert not (tmp_path / "r_reverified.jsonl").exists()
    assert "no agent is called nobody" in reverify(tmp_path, "--agent", "nobody")[2]
    code, _, err = reverify(tmp_path, "--agent", AGENT)
    assert code == 0, err
    assert [row["agent_ref"]["name"] for row in read(tmp_path / "r_reverified.jsonl")] == [AGENT] * 2


@pytest.mark.parametrize(("line", "told"), [('{"response": {"out', "not JSON"), ("[1]", "not an object")])
def test_a_torn_line_is_named(tmp_path: Path, line: str, told: str) -> None:
    lab(tmp_path)
    write(tmp_path / "r.jsonl", [rollout(3, "6")])
    with (tmp_path / "r.jsonl").open("a") as file:
        file.write(line)
    code, _, err = reverify(tmp_path)
    assert (code, f"r.jsonl:2: {told}" in err) == (2, True)


def test_the_output_keeps_the_order_of_the_rollouts(tmp_path: Path) -> None:
    lab(tmp_path)
    (tmp_path / "resources_servers/sums/app.py").write_text(SLOW_FIRST)
    write(tmp_path / "r.jsonl", [rollout(number, "") for number in range(12)])
    assert reverify(tmp_path)[0] == 0
    first = (tmp_path / "r_reverified.jsonl").read_bytes()
    assert [json.loads(line)["_ng_task_index"] for line in first.splitlines()] == list(range(12))
    assert reverify(tmp_path, "--overwrite")[0] == 0
    assert (tmp_path / "r_reverified.jsonl").read_bytes() == first


def test_inputs_that_belong_to_no_rollout_are_refused(tmp_path: Path) -> None:
    lab(tmp_path)
    write(tmp_path / "r.jsonl", [rollout(3, "6")])
    data = write(tmp_path / "d.jsonl", [task(3)])
    code, _, err = reverify(tmp_path, "--inputs", data)
    assert (code, "d.jsonl belongs to a rollout of" in err, "_ng_task_index" in err) == (2, True, True)
