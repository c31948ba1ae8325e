"""The example runs are what their generator writes, and their recorded numbers are what their rows give."""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
DESK = EXAMPLES / "desk_assistant"
MODELS = ("sparrow-8b", "heron-70b")
GENERATED = ("arithmetic", "desk_assistant")
WRITTEN = sorted(path.relative_to(EXAMPLES) for name in GENERATED for path in (EXAMPLES / name).rglob("*.json*"))

Row = dict[str, Any]


def rows_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rollouts(model: str) -> list[Row]:
    return rows_of(DESK / f"{model}_rollouts.jsonl")


def recorded(model: str) -> Row:
    entries = json.loads((DESK / f"{model}_rollouts_aggregate_metrics.json").read_text(encoding="utf-8"))
    assert len(entries) == 1
    entry: Row = entries[0]
    return entry


def rewards_by_task(model: str) -> list[list[float]]:
    tasks: dict[int, dict[int, float]] = defaultdict(dict)
    for row in rollouts(model):
        tasks[row["_ng_task_index"]][row["_ng_rollout_index"]] = row["reward"]
    return [[task[repeat] for repeat in sorted(task)] for _, task in sorted(tasks.items())]


@pytest.fixture(scope="module")
def regenerated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    subprocess.run([sys.executable, EXAMPLES / "generate.py", "--out", folder], check=True)
    return folder


def test_the_generator_writes_these_files_and_no_others(regenerated: Path) -> None:
    written = sorted(path.relative_to(regenerated) for path in regenerated.rglob("*") if path.is_file())
    assert written == WRITTEN
    assert len(written) == 9


@pytest.mark.parametrize("name", WRITTEN, ids=str)
def test_regenerating_gives_the_same_bytes(regenerated: Path, name: Path) -> None:
    assert (regenerated / name).read_bytes() == (EXAMPLES / name).read_bytes()


@pytest.mark.parametrize("model", MODELS)
def test_rollout_files_stay_small(model: str) -> None:
    assert (DESK / f"{model}_rollouts.jsonl").stat().st_size < 700_000


@pytest.mark.parametrize("model", MODELS)
def test_recorded_statistics_are_those_of_the_rows(model: str) -> None:
    metrics = recorded(model)["agent_metrics"]
    rows = rollouts(model)
    for name in ("reward", "num_changes", "num_tool_errors", "agent_run_time"):
        values = [float(row[name]) for row in rows]
        assert metrics[f"mean/{name}"] == pytest.approx(sum(values) / len(values))
        assert metrics[f"max/{name}"] == max(values)
        assert metrics[f"min/{name}"] == min(values)
        assert metrics[f"median/{name}"] == statistics.median(values)
        mean = sum(values) / len(values)
        variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
        assert metrics[f"std/{name}"] == pytest.approx(variance**0.5)
    totals = [row["response"]["usage"]["total_tokens"] for row in rows]
    assert metrics["mean/total_tokens"] == pytest.approx(sum(totals) / len(totals))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_recorded_pass_at_k_is_the_share_of_draws_with_a_pass(model: str, k: int) -> None:
    metrics = recorded(model)["agent_metrics"]
    tasks = rewards_by_task(model)
    shares = []
    for task in tasks:
        draws = list(itertools.combinations(task, k))
        if draws:
            shares.append(sum(1.0 in draw for draw in draws) / len(draws))
    assert metrics[f"pass@{k}/accuracy"] == pytest.approx(100 * sum(shares) / len(shares))
    averages = [sum(task[:k]) / len(task[:k]) for task in tasks]
    assert metrics[f"pass@1[avg-of-{k}]/accuracy"] == pytest.approx(100 * sum(averages) / len(averages))


@pytest.mark.parametrize("model", MODELS)
def test_recorded_task_rows_agree_with_the_rollouts(model: str) -> None:
    groups = recorded(model)["group_level_metrics"]
    tasks = rewards_by_task(model)
    assert [group["num_rollouts"] for group in groups] == [len(task) for task in tasks]
    assert [group["mean/reward"] for group in groups] == pytest.approx([sum(task) / len(task) for task in tasks])
    assert [[info["reward"] for info in group["rollout_infos"]] for group in groups] == tasks


def test_buckets_are_those_that_the_readme_tells() -> None:
    def buckets(model: str) -> list[int]:
        tasks = rewards_by_task(model)
        always, never = sum(map(all, tasks)), sum(not any(task) for task in tasks)
        return [always, len(tasks) - always - never, never]

    assert buckets("sparrow-8b") == [6, 13, 5]
    assert buckets("heron-70b") == [12, 10, 2]


def test_a_rollout_lost_for_good_is_only_in_the_failures_file() -> None:
    failed = rows_of(DESK / "sparrow-8b_rollouts_failures.jsonl")
    lost = [(row["task_id"], row["_ng_rollout_index"]) for row in failed if row.get("_ng_failure_terminal")]
    places = {(row["task_id"], row["_ng_rollout_index"]) for row in rollouts("sparrow-8b")}
    inputs = {
        (row["task_id"], row["_ng_rollout_index"])
        for row in rows_of(DESK / "sparrow-8b_rollouts_materialized_inputs.jsonl")
    }
    assert lost == [("tickets-2", 3)]
    assert inputs - places == set(lost)


@pytest.mark.parametrize("model", MODELS)
def test_every_call_has_its_result_and_every_reward_its_reason(model: str) -> None:
    for row in rollouts(model):
        items = row["response"]["output"]
        calls = [item["call_id"] for item in items if item["type"] == "function_call"]
        results = [item["call_id"] for item in items if item["type"] == "function_call_output"]
        assert sorted(calls) == sorted(results)
        assert row["reward"] == float(row["db_match"])


def test_arithmetic_scores_follow_from_the_answers() -> None:
    rows = rows_of(EXAMPLES / "arithmetic" / "arithmetic.jsonl")
    assert len(rows) == 40
    assert [row["score"] for row in rows] == [int(row["extracted_answer"] == row["expected_answer"]) for row in rows]
    assert sum(row["score"] for row in rows) == 26
