"""The data of a split beside the rollouts: what is written where, with which rows and numbers, and taken again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gym_endpoint import KEY, Endpoint, serving
from gym_lab import endpoint_words, here, keys, lab, read, task, write

PROMPT = "user: What is {number} + {number}?\nsystem: You add.\n"
AGENT = {"type": "responses_api_agents", "name": "sums_simple_agent"}


def shelf(folder: Path) -> Path:
    """The sums with two training sets: one with prompts, twice each; one that asks already, hotter, with a tool."""
    lab(folder, tasks=1)
    home = folder / "resources_servers" / "sums"
    write(home / "data" / "plain.jsonl", [{"number": n, "expected_answer": str(2 * n)} for n in (1, 2)])
    tool = {"type": "function", "name": "add", "parameters": {}}
    params = {"input": "What is 3 + 3?", "temperature": 0.5, "tools": [tool, {**tool, "name": "more"}]}
    write(home / "data" / "asked.jsonl", [{"responses_create_params": params, "expected_answer": "6"}])
    (folder / "prompt.yaml").write_text(PROMPT)
    config = home / "configs" / "sums.yaml"
    config.write_text(
        config.read_text()
        + """
        - {name: plain, type: train, license: MIT, jsonl_fpath: resources_servers/sums/data/plain.jsonl,
           num_repeats: 2, prompt_config: prompt.yaml}
        - {name: asked, type: train, license: MIT, jsonl_fpath: resources_servers/sums/data/asked.jsonl}
"""
    )
    return home / "data"


def run(folder: Path, *words: str | Path) -> tuple[int, str, str]:
    with serving(Endpoint()) as endpoint:
        given = endpoint_words(folder, endpoint.url, KEY)
        return here("eval", "run", *given, "--split", "train", "-o", folder / "results" / "r.jsonl", *words)


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_split_is_collated_beside_its_data_and_beside_the_rollouts(tmp_path: Path) -> None:
    data = shelf(tmp_path)
    code, _, err = run(tmp_path, "--limit", "2")
    assert code == 0, err
    plain, asked = read(data / "plain_prepare.jsonl"), read(data / "asked_prepare.jsonl")
    assert [row["number"] for row in plain] == [1, 1, 2, 2]
    assert plain[0]["responses_create_params"]["input"] == [
        {"role": "system", "content": "You add."},
        {"role": "user", "content": "What is 1 + 1?"},
    ]
    assert {json.dumps(row["agent_ref"]) for row in plain + asked} == {json.dumps(AGENT)}
    folder = tmp_path / "results" / "r" / "preprocessed_datasets"
    assert sorted(path.name for path in folder.iterdir()) == ["train.jsonl", "train_metrics.json"]
    assert read(folder / "train.jsonl") == plain + asked, "all rows, whatever --limit says"
    assert keys(read(tmp_path / "results" / "r.jsonl")) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_metrics_of_a_data_set_and_of_a_split(tmp_path: Path) -> None:
    data = shelf(tmp_path)
    assert run(tmp_path)[0] == 0
    plain = document(data / "plain_metrics.json")
    assert (plain["name"], plain["type"], plain["num_repeats"], plain["license"]) == ("plain", "train", 2, "MIT")
    assert plain["Number of examples"] == 4
    assert (plain["Number of tools"]["Total # non-null values"], plain["Number of tools"]["Average"]) == (0, None)
    split = document(tmp_path / "results" / "r" / "preprocessed_datasets" / "train_metrics.json")
    assert split["Number of examples"] == 5
    assert split["Number of tools"] == {
        "Total # non-null values": 1,
        "Average": 2.0,
        "Min": 2.0,
        "Max": 2.0,
        "Median": 2.0,
        "Standard deviation": None,
    }
    assert (split["Temperature"]["Total # non-null values"], split["Temperature"]["Median"]) == (1, 0.5)
    assert (split["Number of turns"]["Total # non-null values"], split["Number of turns"]["Standard deviation"]) == (
        5,
        0.0,
    )
    words = split["Json-dumped number of words (proxy for token count)"]
    assert words["Median"] == 14.0, "keys and roles 7, `You add.` 2, the question 5"


def test_collated_rows_are_taken_again(tmp_path: Path) -> None:
    data = shelf(tmp_path)
    assert run(tmp_path)[0] == 0
    before = read(tmp_path / "results" / "r.jsonl")
    (data / "plain.jsonl").unlink()
    assert run(tmp_path)[0] == 2, "the data set is gone"
    reuse = "+reuse_existing_data_preparation=true"
    code, _, err = run(tmp_path, reuse)
    assert (code, "--overwrite" in err) == (2, True), "rollouts of other data are not thrown away by mistake"
    code, _, err = run(tmp_path, reuse, "--overwrite")
    assert code == 0, err
    assert keys(read(tmp_path / "results" / "r.jsonl")) == keys(before) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    code, _, err = run(tmp_path, reuse, "--num-repeats", "3")
    assert (code, "repeated already" in err) == (2, True)
    write(data / "plain.jsonl", [{"number": 4, "expected_answer": "8"}])
    folder = tmp_path / "results" / "r" / "preprocessed_datasets"
    (folder / "train.jsonl").unlink()
    assert run(tmp_path, reuse, "--overwrite")[0] == 0, "nothing is there to be taken: it is made"
    assert [row.get("number") for row in read(folder / "train.jsonl")] == [4, 4, None]


def test_a_folder_that_cannot_be_written_is_said_and_is_no_reason_to_stop(tmp_path: Path) -> None:
    data = shelf(tmp_path)
    for name in ("plain_prepare.jsonl", "plain_metrics.json"):
        (data / name).mkdir()
        (data / name / "in the way").touch()
    code, _, err = run(tmp_path)
    assert code == 0, err
    assert "nothing is collated beside resources_servers/sums/data/plain.jsonl" in err
    assert len(read(tmp_path / "results" / "r" / "preprocessed_datasets" / "train.jsonl")) == 5


def test_rows_from_a_file_and_examples_are_not_collated(tmp_path: Path) -> None:
    lab(tmp_path, tasks=1)
    rows = write(tmp_path / "mine.jsonl", [task(1)])
    for words in (("--split", "example"), ("--input", rows)):
        with serving(Endpoint()) as endpoint:
            given = endpoint_words(tmp_path, endpoint.url, KEY)
            assert here("eval", "run", *given, *words, "-o", tmp_path / "results" / "r.jsonl", "--overwrite")[0] == 0
        assert not (tmp_path / "results" / "r").exists()
    assert not list(tmp_path.rglob("*_prepare.jsonl"))
