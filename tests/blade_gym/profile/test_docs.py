"""The worked example of docs/gym.md, worked."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade_gym.profile.aggregate import aggregate
from builders import gym_input, gym_run, write_jsonl


def test_the_worked_example(tmp_path: Path) -> None:
    rollouts = gym_run(tmp_path, [[1.0] * 4, [0.0] * 4, [1.0, 0.0, 1.0, 0.0]])
    inputs = [gym_input(task, repeat) for task in range(4) for repeat in range(4)]
    write_jsonl(tmp_path / "r_materialized_inputs.jsonl", inputs)
    (agent,) = aggregate([rollouts]).agents
    expected = {
        "mean/reward": 0.5,
        "std/reward": 0.522,
        "pass@1/accuracy": 50.0,
        "pass@2/accuracy": 61.1,
        "pass@1[avg-of-1]/accuracy": 66.7,
        "blade/pass@1": 0.5,
        "blade/pass@1/tasks": 3,
        "blade/pass@1/all_expected": 0.375,
        "blade/coverage": 0.75,
        "blade/variance": 0.111,
    }
    found = {name: round(agent["agent_metrics"][name], 1 if "accuracy" in name else 3) for name in expected}
    assert found == pytest.approx(expected)
    assert agent["group_level_metrics"][2]["blade/pass_rate"] == 0.5
