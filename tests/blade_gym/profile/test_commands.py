"""The two commands as a user types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from builders import gym_input, gym_row, gym_run, write_jsonl

OURS = (
    "blade/a: pass@1 0.750 (2 tasks); pass@2 1.000 (2 tasks); rollout_pass_rate 0.750 (4 rollouts); "
    "variance 0.250 (2 tasks); coverage 1.000 (4 of 4)"
)


def gym(folder: Path, *words: str, command: str = "gym") -> subprocess.CompletedProcess[str]:
    module = "blade_gym.cli" if command == "gym" else "blade.cli.main"
    started = [sys.executable, "-c", f"from {module} import main; main()", *words]
    return subprocess.run(started, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def test_profile_writes_and_prints_what_the_reference_does(tmp_path: Path) -> None:
    gym_run(tmp_path, [[1.0, 0.0], [1.0, 1.0]], name="r.v2")
    done = gym(tmp_path, "eval", "profile", "--inputs", "r.v2_materialized_inputs.jsonl", "--rollouts", "r.v2.jsonl")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "Profiling outputs:",
        "Reward profile completion: 4/4 rollout rows (100.00%)",
        "Input rows: 2 total; 2 complete; 0 partial; 0 without rollouts dropped from output.",
        "Reward profiling outputs: r.v2_reward_profiling.jsonl",
        "Agent-level metrics: r.v2_agent_metrics.json",
        OURS,
    ]
    rows = (tmp_path / "r.v2_reward_profiling.jsonl").read_text().splitlines()
    assert [json.loads(row)["mean/reward"] for row in rows] == [0.5, 1.0]
    agents = (tmp_path / "r.v2_agent_metrics.json").read_text()
    assert "\n" not in agents
    assert json.loads(agents)[0]["mean/reward"] == 0.75


@pytest.mark.parametrize("switch", [["++allow_partial_rollouts=True"], ["--allow-partial"]])
def test_partial_runs_need_the_switch(tmp_path: Path, switch: list[str]) -> None:
    write_jsonl(tmp_path / "i.jsonl", [gym_input(0, 0), gym_input(0, 1), gym_input(1, 0)])
    write_jsonl(tmp_path / "r.jsonl", [gym_row(0, 0, 1.0)])
    words = ["eval", "profile", "--inputs", "i.jsonl", "--rollouts", "r.jsonl"]
    refused = gym(tmp_path, *words)
    assert refused.returncode == 2
    assert "++allow_partial_rollouts=True" in refused.stderr
    assert not (tmp_path / "r_agent_metrics.json").exists()
    done = gym(tmp_path, *words, *switch)
    assert done.returncode == 0, done.stderr
    assert "Reward profile completion: 1/3 rollout rows (33.33%)" in done.stdout
    assert "Input rows: 2 total; 0 complete; 1 partial; 1 without rollouts dropped from output." in done.stdout


def test_inputs_are_found_beside_the_rollouts_and_overrides_name_them(tmp_path: Path) -> None:
    gym_run(tmp_path, [[1.0]])
    assert gym(tmp_path, "eval", "profile", "--rollouts", "r.jsonl").returncode == 0
    words = ["+rollouts_jsonl_fpath=r.jsonl", "+materialized_inputs_jsonl_fpath=r_materialized_inputs.jsonl"]
    assert gym(tmp_path, "eval", "profile", *words).returncode == 0


def test_aggregate_writes_and_prints_what_the_reference_does(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "s0.jsonl", [gym_row(0, 0, 1.0)])
    write_jsonl(tmp_path / "s1.jsonl", [gym_row(1, 0, 0.0)])
    write_jsonl(tmp_path / "s1_failures.jsonl", [gym_row(1, 1, 0.0, _ng_failure_class="skipped")])
    done = gym(tmp_path, "eval", "aggregate", "--input-glob", "s*.jsonl", "--output", "out/r.jsonl", "--config", "c")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:5] == [
        "Aggregating 2 shard(s):",
        "  - s0.jsonl",
        "  - s1.jsonl",
        "Loaded 2 rollout record(s) from 2 shard(s)",
        "Merging shards into out/r.jsonl",
    ]
    assert lines[5:9] == ["", "Key metrics for a:", "{", '    "mean/reward": 0.5,']
    assert "Merged rollouts: out/r.jsonl" in lines
    assert "Aggregate metrics: out/r_aggregate_metrics.json" in lines
    assert "left out: s1_failures.jsonl is the failures sidecar" in done.stderr
    text = (tmp_path / "out" / "r_aggregate_metrics.json").read_text()
    assert text.startswith('[\n  {\n    "agent_ref": {\n      "name": "a"\n    },')
    assert json.loads(text)[0]["agent_metrics"]["pass@1/accuracy"] == 50.0


@pytest.mark.parametrize("switch", ["+merge_shards=false", "--no-merge"])
def test_aggregate_may_leave_the_shards_unmerged(tmp_path: Path, switch: str) -> None:
    write_jsonl(tmp_path / "s0.jsonl", [gym_row(0, 0, 1.0)])
    done = gym(tmp_path, "eval", "aggregate", "-i", "s0.jsonl", "-o", "r.jsonl", switch)
    assert done.returncode == 0, done.stderr
    assert "Merged rollouts: <not merged>" in done.stdout
    assert not (tmp_path / "r.jsonl").exists()
    assert (tmp_path / "r_aggregate_metrics.json").exists()


def test_aggregating_a_file_onto_itself_sorts_it(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [gym_row(1, 0, 1.0), gym_row(0, 0, 1.0)])
    assert gym(tmp_path, "eval", "aggregate", "-i", "r.jsonl", "-o", "r.jsonl").returncode == 0
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [row["_ng_task_index"] for row in rows] == [0, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("profile",), "--rollouts is missing"),
        (("profile", "--rollouts", "no.jsonl"), "--rollouts: no such file: no.jsonl"),
        (("profile", "--rollouts", "alone.jsonl"), "--inputs is missing"),
        (("profile", "--rollouts", "alone.jsonl", "+allow_partial_rolouts=1"), "did you mean allow_partial_rollouts?"),
        (("profile", "--rollouts", "r.jsonl", "++allow_partial_rollouts=maybe"), "is true or false, not 'maybe'"),
        (("aggregate", "-i", "*.txt", "-o", "r.jsonl"), "No shards matched input_glob='*.txt'"),
        (("aggregate", "-i", "r.jsonl"), "--output is missing"),
        (("aggregate", "-i", "r.jsonl", "-o", "r.jsonl/x.jsonl"), "cannot write"),
        (("aggregate", "--inputs", "r.jsonl"), "No such option"),
    ],
)
def test_what_cannot_be_done_is_said_and_exits_2(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    gym_run(tmp_path, [[1.0]])
    write_jsonl(tmp_path / "alone.jsonl", [gym_row(0, 0, 1.0)])
    done = gym(tmp_path, "eval", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_lines_that_could_not_be_used_are_named_on_stderr(tmp_path: Path) -> None:
    path = gym_run(tmp_path, [[1.0]])
    path.write_bytes(path.read_bytes() + b"{torn\n" * 7)
    done = gym(tmp_path, "eval", "profile", "--rollouts", "r.jsonl")
    assert done.returncode == 0
    assert "r.jsonl:2: not JSON" in done.stderr
    assert "2 more such lines; --verbose lists them" in done.stderr
    assert len(gym(tmp_path, "eval", "profile", "--rollouts", "r.jsonl", "-v").stderr.splitlines()) == 7


def test_blade_gym_is_the_same_command(tmp_path: Path) -> None:
    gym_run(tmp_path, [[1.0]])
    done = gym(tmp_path, "gym", "eval", "profile", "--rollouts", "r.jsonl", command="blade")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Profiling outputs:")


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    gym_run(tmp_path, [[1.0, 0.25], [0.5]])
    names = ("r_reward_profiling.jsonl", "r_agent_metrics.json")
    made = []
    for _ in range(2):
        gym(tmp_path, "eval", "profile", "--rollouts", "r.jsonl")
        made.append([(tmp_path / name).read_bytes() for name in names])
    assert made[0] == made[1]
