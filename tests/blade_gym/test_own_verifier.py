"""A verifier that somebody else writes: the page's examples run as printed, near misses work, faults are told before a run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gym_endpoint import KEY, Endpoint, serving
from gym_lab import ROOT, endpoint_words, here, lab, read

PAGE = (ROOT / "docs/gym.md").read_text("utf-8").split("\n## Verifiers\n")[1].split("\n## ")[0]
FILES = dict(re.findall(r"^```\w+\n# (resources_servers/\S+)\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL))
ROWS = next(iter(re.findall(r"^```json\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)))


def written(folder: Path, server: str) -> Path:
    """The page's files of a server; the config and rows are the first example's, under its name."""
    home = folder / "resources_servers" / server
    (home / "configs").mkdir(parents=True)
    (home / "data").mkdir()
    (home / "app.py").write_text(FILES[f"resources_servers/{server}/app.py"])
    config = FILES["resources_servers/near_number/configs/near_number.yaml"].replace("near_number", server)
    (home / "configs" / f"{server}.yaml").write_text(config)
    (home / "data" / "example.jsonl").write_text(ROWS)
    return folder


def run(folder: Path, server: str, endpoint: Endpoint) -> tuple[int, str, str]:
    words = [server if word == "sums" else word for word in endpoint_words(folder, endpoint.url, KEY)]
    return here("eval", "run", *words, "--split", "example", "--output", folder / "r.jsonl")


@pytest.mark.parametrize(
    ("server", "told"), [("near_number", {"extracted_answer": "4.0"}), ("adding", {"calls_made": 1})]
)
def test_the_examples_of_the_page_prove_themselves_and_run(
    tmp_path: Path, server: str, told: dict[str, object]
) -> None:
    written(tmp_path, server)
    code, out, err = here("env", "test", "--resources-server", server, "--search-dir", tmp_path)
    assert (code, err) == (0, "")
    assert f"ok      {server}: 2 of 2 gold answers pass" in out
    with serving(Endpoint(use_tool=server == "adding")) as endpoint:
        code, out, err = run(tmp_path, server, endpoint)
    assert code == 0, err
    rows = {row["id"]: row for row in read(tmp_path / "r.jsonl")}
    assert {name: row["reward"] for name, row in rows.items()} == {"near-1": 1.0, "near-2": 1.0}
    assert {name: rows["near-1"][name] for name in told} == told


def own(folder: Path, code: str, tasks: int = 3) -> Path:
    """The sums of the lab with another `app.py`."""
    lab(folder, tasks=tasks)
    (folder / "resources_servers" / "sums" / "app.py").write_text(code)
    return folder


SESSION = """
class Session:
    def __init__(self, row): self.row = row
    def call(self, tool, arguments): return {"sum": 1}
    def verify(self, response):
        texts = [part["text"] for item in response["output"] for part in item["content"]]
        return {"reward": texts[-1] == self.row["expected_answer"], "said": texts[-1]}

class Own:
    def open(self, row): return Session(row)
    def gold(self, row): return row["expected_answer"]

def environment(config): return Own()
"""
FUNCTIONS = {
    "a session of plain functions, a mapping and a text": SESSION,
    "a number": "def verify(row, text, config): return text == row['expected_answer']\n",
    "async": "async def verify(row, text, config): return {'reward': float(text == row['expected_answer'])}\n",
    "an object": "class Own:\n    def verify(self, row, text, config): return 1.0\n\ndef environment(config): return Own()\n",
}


@pytest.mark.parametrize("code", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_near_misses_are_taken_for_what_they_mean(tmp_path: Path, code: str) -> None:
    own(tmp_path, code)
    with serving(Endpoint()) as endpoint:
        done, _, err = run(tmp_path, "sums", endpoint)
    assert done == 0, err
    assert [row["reward"] for row in read(tmp_path / "r.jsonl")] == [1.0] * 6


BROKEN = {
    "None": ("def verify(row, text, config): pass", 'verify gives a Verdict, or {"reward": number'),
    "no number": (
        "def verify(row, text, config): return {'reward': 'good'}",
        "a reward is a finite number, not str 'good'",
    ),
    "no JSON": (
        "def verify(row, text, config): return {'reward': 1, 'why': object()}",
        "the fields of a verdict are JSON",
    ),
    "raises": ("\ndef verify(row, text, config): return {'reward': float(text)}", "app.py:2"),
    "other arguments": ("def verify(row, text): return 1.0", "verify takes (row, text, config), not (row, text)"),
    "nothing": ("x = 1", "has neither environment(config) nor verify(row, text, config)"),
    "no environment": ("def environment(config): return 3", "environment(config) gave int 3"),
    "fails": ("def environment(config): return config['nobody']", "app.py:1: KeyError: 'nobody'"),
    "no Python": ("def verify(:", "app.py:1: "),
    "no module": ("import nobody_has_this", "app.py:1: ModuleNotFoundError"),
    "odd gold": ("def verify(row, text, config): return 1.0\ndef gold(row): return 4", "gold(row) gives a text"),
}


@pytest.mark.parametrize(("code", "told"), BROKEN.values(), ids=list(BROKEN))
def test_what_cannot_judge_is_told_before_the_model_is_asked(tmp_path: Path, code: str, told: str) -> None:
    own(tmp_path, code + "\n")
    with serving(Endpoint()) as endpoint:
        done, _, err = run(tmp_path, "sums", endpoint)
    assert (done, endpoint.bodies) == (2, [])
    assert told in err
    assert not (tmp_path / "r.jsonl").exists()


def test_a_verifier_that_raises_fails_its_proof_with_the_line(tmp_path: Path) -> None:
    own(tmp_path, "def verify(row, text, config): return float(text)\n\ndef gold(row): return row['expected_answer']\n")
    code, out, _ = here("env", "test", "--resources-server", "sums", "--search-dir", tmp_path)
    assert code == 1
    assert "an empty answer: ValueError: could not convert string to float: ''" in out
    assert "app.py:1" in out


def test_a_server_without_rows_is_not_proven(tmp_path: Path) -> None:
    config = tmp_path / "resources_servers/sums/configs/sums.yaml"
    lab(tmp_path)
    config.write_text(config.read_text().partition("      datasets:")[0])
    code, out, err = here("env", "test", "--resources-server", "sums", "--search-dir", tmp_path)
    assert code == 1
    assert "skipped sums: it can be made, and no data set is there to test it on" in out
    assert "nothing was tested: it can be made" in err


def test_missing_data_is_the_reason_that_is_told(tmp_path: Path) -> None:
    lab(tmp_path)
    (tmp_path / "resources_servers/sums/data/example.jsonl").unlink()
    code, _, err = here("env", "test", "--resources-server", "sums", "--search-dir", tmp_path)
    assert code == 1
    assert "nothing was tested: resources_servers/sums/data/example.jsonl not found" in err


@pytest.mark.parametrize("server", ["simpleqa", "xstest", "equivalence_llm_judge"])
def test_a_server_that_needs_a_judge_is_skipped(server: str) -> None:
    code, out, err = here("env", "test", "--resources-server", server)
    assert (code, err) == (0, "")
    assert out.startswith("skipped ")
    assert "needs a judge" in out
