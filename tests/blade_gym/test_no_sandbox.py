"""Where a machine has no sandbox, programs of models are refused: before a model is asked, with exit code 2 and a reason."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gym_endpoint import KEY, Endpoint, serving
from gym_lab import ROOT, free_port, gym, write

AGENT = "code_gen_simple_agent"


def bare(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """`gym` with a PATH on which there is neither bwrap nor unshare."""
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    return gym(*words, cwd=folder, PATH=str(empty))


def refused(done: subprocess.CompletedProcess[str]) -> None:
    lines = done.stderr.strip().splitlines()
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert [line for line in lines if line.startswith("error: ")] == [lines[-2]]
    assert "this machine has no sandbox for them" in lines[-2]
    assert "--unsafe-sandbox" in lines[-1]
    assert "Traceback" not in done.stderr


def code_words(url: str) -> list[str]:
    model = ["--model-type", "openai_model", "-m", "m", "--model-url", url, "--model-api-key", KEY]
    return ["--resources-server", "code_gen", *model]


def stored(folder: Path) -> Path:
    """A rollout of code_gen with its right answer."""
    row = json.loads((ROOT / "resources_servers" / "code_gen" / "data" / "example.jsonl").read_text().splitlines()[0])
    text = f"```python\n{row['canonical_solution']}\n```"
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    stamps = {"_ng_task_index": 0, "_ng_rollout_index": 0, "agent_ref": {"name": AGENT}, "reward": 0.0}
    return write(folder / "r.jsonl", [{**row, **stamps, "response": {"output": [message]}}])


def test_a_run_is_refused_before_a_model_is_asked(tmp_path: Path) -> None:
    with serving(Endpoint()) as endpoint:
        words = [*code_words(endpoint.url), "--split", "example", "-o", "out/r.jsonl"]
        refused(bare(tmp_path, "eval", "run", *words))
        assert endpoint.bodies == []
    assert not (tmp_path / "out").exists()


def test_servers_are_not_started(tmp_path: Path) -> None:
    refused(bare(tmp_path, "env", "start", *code_words("http://127.0.0.1:9/v1"), "--head-port", str(free_port())))


def test_stored_rollouts_are_not_judged_unless_that_is_allowed(tmp_path: Path) -> None:
    words = ("eval", "reverify", "--rollouts", stored(tmp_path), "--resources-server", "code_gen")
    refused(bare(tmp_path, *words))
    assert not (tmp_path / "r_reverified.jsonl").exists()
    allowed = bare(tmp_path, *words, "--unsafe-sandbox", "--disable-aggregation")
    assert allowed.returncode == 0, allowed.stderr
    assert "warning: programs that a model wrote run without a sandbox" in allowed.stderr
    assert json.loads((tmp_path / "r_reverified.jsonl").read_text())["reward"] == 1.0


@pytest.mark.slow
def test_more_tests_are_not_made_unless_that_is_allowed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "benchmarks" / "evalplus", tmp_path / "benchmarks" / "evalplus", ignore=lambda *_: ["data"])
    words = ("eval", "prepare", "--benchmark", "evalplus", "--search-dir", tmp_path)
    refused(bare(tmp_path, *words))
    assert not list(tmp_path.rglob("evalplus*.jsonl"))
    few = "+prepare_script_args.most=1"
    allowed = bare(tmp_path, *words, "--unsafe-sandbox", few)
    assert allowed.returncode == 0, allowed.stderr


def test_gold_answers_that_cannot_be_tried_are_named(tmp_path: Path) -> None:
    words = ("env", "test", "--resources-server", "code_gen", "--limit", "1")
    done = bare(tmp_path, *words)
    assert (done.returncode, "this machine has no sandbox for them" in done.stderr) == (2, True)
    assert "gold answer" not in done.stderr
    assert bare(tmp_path, *words, "--unsafe-sandbox").returncode == 0
