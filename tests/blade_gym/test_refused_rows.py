"""Rows that cannot be run or judged are named by file and line before a model is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_endpoint import KEY, Endpoint, serving
from gym_lab import endpoint_words, here, lab, read, task, write

PICKY = """
from blade_gym.environment import NoVerdict

def verify(row, text, config):
    if row.get("odd"):
        raise NoVerdict("the row is odd", failure_class="skipped", terminal=True)
    return float(text == row["expected_answer"])

def gold(row): return row["expected_answer"]
"""


def run(folder: Path, endpoint: Endpoint, data: Path) -> tuple[int, str, str]:
    words = endpoint_words(folder, endpoint.url, KEY)
    return here("eval", "run", *words, "--input", data, "--output", folder / "r.jsonl")


def refused(folder: Path, data: Path) -> str:
    """What is said of rows that no run starts with."""
    with serving(Endpoint()) as endpoint:
        code, _, err = run(folder, endpoint, data)
    assert (code, endpoint.bodies, (folder / "r.jsonl").exists()) == (2, [], False), err
    return err


def picky(folder: Path, rows: list[dict[str, Any]]) -> Path:
    lab(folder)
    (folder / "resources_servers/sums/app.py").write_text(PICKY)
    return write(folder / "d.jsonl", rows)


def test_a_row_without_its_key_is_named_with_the_missing_field(tmp_path: Path) -> None:
    row = task(2)
    del row["expected_answer"]
    err = refused(tmp_path, picky(tmp_path, [row]))
    assert "d.jsonl:1: the verifier of sums_simple_agent fails on gold(row) of this row" in err
    assert "KeyError: 'expected_answer'; the row has no such field" in err
    assert "gym env test" not in err


def test_no_run_starts_where_no_row_can_be_judged(tmp_path: Path) -> None:
    err = refused(tmp_path, picky(tmp_path, [task(n, odd=True) for n in range(30)]))
    assert "of the first 21 rows for sums_simple_agent, 21 cannot be judged" in err
    assert "d.jsonl:1: the row is odd" in err


def test_a_run_says_how_many_rows_cannot_be_judged(tmp_path: Path) -> None:
    data = picky(tmp_path, [task(n, odd=n < 2) for n in range(5)])
    with serving(Endpoint()) as endpoint:
        code, _, err = run(tmp_path, endpoint, data)
    assert code == 1
    assert "of the first 5 rows for sums_simple_agent, 2 cannot be judged; " in err
    assert len(read(tmp_path / "r.jsonl")) == 3


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_file_in_another_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    lab(tmp_path)
    text = json.dumps(task(1)) + "\n"
    data = tmp_path / "d.jsonl"
    data.write_bytes(("" if encoding == "utf-16" else "\ufeff").encode(encoding) + text.encode(encoding))
    assert "d.jsonl: the file is not UTF-8 (it looks like UTF-16)" in refused(tmp_path, data)


@pytest.mark.parametrize(("row", "hint"), [("", "each line is"), ('{"responses_create_params": 3}', '{"input": [')])
def test_rows_that_ask_nothing_get_a_hint(tmp_path: Path, row: str, hint: str) -> None:
    lab(tmp_path)
    data = tmp_path / "d.jsonl"
    data.write_text(row)
    assert f"hint: {hint}" in refused(tmp_path, data).replace(
        "hint: it holds the request to the model, such as ", "hint: "
    )


def test_rows_of_another_agent_name_their_file_once_and_the_way_out(tmp_path: Path) -> None:
    lab(tmp_path)
    data = write(tmp_path / "d.jsonl", [task(n, agent_ref={"name": "theirs"}) for n in range(5)])
    err = refused(tmp_path, data)
    assert err.count("d.jsonl") == 1
    assert "has lines 1, 2, 3, 4, 5 for theirs" in err
    assert "remove agent_ref and give --agent NAME" in err


def test_recorded_messages_with_a_type_answer_prompts_without_one(tmp_path: Path) -> None:
    lab(tmp_path, tasks=1)
    row = task(0)
    row["responses_create_params"]["input"][0]["type"] = "message"
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "0"}]}
    recorded = write(tmp_path / "old.jsonl", [{**row, "response": {"output": [said]}, "reward": 1.0}])
    words = ("--resources-server", "sums", "--search-dir", tmp_path, "--model-type", "replay_model", "-m", recorded)
    code, _, err = here("eval", "run", *words, "--split", "example", "--num-repeats", "1", "-o", tmp_path / "r.jsonl")
    assert code == 0, err
    assert [row["reward"] for row in read(tmp_path / "r.jsonl")] == [1.0]
