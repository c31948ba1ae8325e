"""Our aggregate and profile of public rollouts against the numbers that NeMo Gym shipped beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blade_gym.profile.aggregate import aggregate
from blade_gym.profile.profile import profile

pytestmark = pytest.mark.conformance

EXAMPLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "gym_examples"
AGGREGATED = ("blackjack", "circle_count", "cvdp", "proof_judge", "asr_with_pc")
PROFILED = ("asr_with_pc", "circle_click")
STATS = ("mean/", "max/", "min/", "median/", "std/")
NAME = "example_rollouts"


def rollouts(folder: str) -> Path:
    path = EXAMPLES / folder / f"{NAME}.jsonl"
    if not path.exists():
        pytest.skip(f"needs {folder}/{path.name} beside the repository")
    return path


def stats(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name.startswith(STATS)}


@pytest.mark.parametrize("folder", AGGREGATED)
def test_aggregate_metrics_are_the_recorded_ones_to_the_last_digit(folder: str) -> None:
    path = rollouts(folder)
    recorded = json.loads(path.with_name(f"{NAME}_aggregate_metrics.json").read_text())
    made = {entry["agent_ref"]["name"]: entry for entry in aggregate([path]).agents}
    for entry in recorded:
        mine = made[entry["agent_ref"]["name"]]
        assert stats(mine["agent_metrics"]) == stats(entry["agent_metrics"])
        assert list(map(stats, mine["group_level_metrics"])) == list(map(stats, entry["group_level_metrics"]))


@pytest.mark.parametrize("folder", PROFILED)
def test_reward_profiles_are_the_recorded_ones_to_the_last_digit(folder: str) -> None:
    path = rollouts(folder)
    made = profile(path, path.with_name(f"{NAME}_materialized_inputs.jsonl"))
    lines = path.with_name(f"{NAME}_reward_profiling.jsonl").read_text().splitlines()
    assert list(map(stats, made.tasks)) == [stats(json.loads(line)) for line in lines]
    agents = json.loads(path.with_name(f"{NAME}_agent_metrics.json").read_text())
    assert list(map(stats, made.agents)) == list(map(stats, agents))
