"""`gym eval profile` as values: the reference's numbers by hand, and what it does with input that is not clean."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from blade.model.errors import ArtifactError
from blade_gym.profile.profile import Profile, profile
from builders import gym_input, gym_row, gym_run, write_bytes, write_jsonl


def made(folder: Path, inputs: list[Any], rows: list[Any], **options: Any) -> Profile:
    rollouts = write_jsonl(folder / "r.jsonl", rows)
    return profile(rollouts, write_jsonl(folder / "r_materialized_inputs.jsonl", inputs), **options)


def reference(row: dict[str, Any]) -> dict[str, Any]:
    """Only what the reference writes."""
    return {name: value for name, value in row.items() if not name.startswith("blade/")}


def test_three_tasks_of_two_rollouts(tmp_path: Path) -> None:
    keys = [(task, repeat) for task in range(3) for repeat in range(2)]
    rows = [gym_row(t, r, float(r), flag=r == 0, usage={"abc usage": 1}) for t, r in keys]
    found = made(tmp_path, [gym_input(t, r, x=t) for t, r in keys], rows)
    assert [row["_ng_task_index"] for row in found.tasks] == [0, 1, 2]
    for row in found.tasks:
        for field in ("reward", "flag"):
            stats = [row[f"{stat}/{field}"] for stat in ("mean", "max", "min", "median", "std")]
            assert stats == [0.5, 1.0, 0.0, 0.5, 0.7071067811865476]
        assert (row["mean/abc usage"], row["std/abc usage"]) == (1.0, 0.0)
        assert not any("_ng_" in name for name in row if "/" in name)
    (agent,) = found.agents
    assert (agent["mean/reward"], agent["std/reward"]) == (0.5, 0.5477225575051661)
    assert agent["agent_ref"] == {"name": "a"}


def test_keys_stand_in_the_order_of_the_reference(tmp_path: Path) -> None:
    found = made(tmp_path, [gym_input(0, 0)], [gym_row(0, 0, 1.0, terminated=True, usage={"total_tokens": 7})])
    fields = ["reward", "terminated", "total_tokens"]
    stats = [f"{stat}/{field}" for stat in ("mean", "max", "min", "median", "std") for field in fields]
    counts = ["num_rollouts", "expected_num_rollouts", "missing_num_rollouts", "reward_profile_completion_pct"]
    assert list(reference(found.tasks[0])) == ["_ng_task_index", *stats, "sample", *counts, "rollout_infos"]
    assert list(reference(found.agents[0])) == [*stats, "agent_ref"]


def test_rows_without_any_reward_are_described(tmp_path: Path) -> None:
    row = gym_row(0, 0, 1.0, usage={"total_tokens": 7})
    del row["reward"]
    found = made(tmp_path, [gym_input(0, 0)], [row])
    assert "mean/reward" not in found.tasks[0]
    assert "reward" not in found.tasks[0]["rollout_infos"][0]
    assert found.tasks[0]["blade/pass_rate"] is None
    assert found.agents[0]["blade/reasons"]["blade/pass@1"] == "no rollout was judged"


def test_rollout_infos_are_sorted_and_the_row_goes_before_usage(tmp_path: Path) -> None:
    rows = [
        gym_row(0, 1, 1.0, verifier_score=3.5, usage={"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}),
        gym_row(0, 0, 0.0, verifier_score=1.5, usage={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}),
    ]
    (task,) = made(tmp_path, [gym_input(0, 0), gym_input(0, 1)], rows).tasks
    assert task["rollout_infos"] == [
        {
            "rollout_id": f"0:{repeat}",
            "_ng_task_index": 0,
            "_ng_rollout_index": repeat,
            "reward": reward,
            "input_tokens": tokens[0],
            "output_tokens": tokens[1],
            "total_tokens": tokens[2],
            "verifier_score": score,
        }
        for repeat, reward, tokens, score in ((0, 0.0, (3, 4, 7), 1.5), (1, 1.0, (5, 7, 12), 3.5))
    ]
    assert (task["mean/input_tokens"], task["mean/verifier_score"], task["num_rollouts"]) == (4.0, 2.5, 2)


def test_usage_goes_before_the_row_in_statistics_and_after_it_in_infos(tmp_path: Path) -> None:
    (task,) = made(tmp_path, [gym_input(0, 0)], [gym_row(0, 0, 1.0, steps=3, usage={"steps": 9})]).tasks
    assert task["mean/steps"] == 9.0
    assert task["rollout_infos"][0]["steps"] == 3


def test_integers_stay_integers_only_where_every_number_is_one(tmp_path: Path) -> None:
    inputs = [gym_input(0, 0), gym_input(0, 1)]
    (whole,) = made(tmp_path, inputs, [gym_row(0, 0, 0), gym_row(0, 1, 1)]).tasks
    assert repr([whole["max/reward"], whole["min/reward"], whole["median/reward"]]) == "[1, 0, 0.5]"
    (mixed,) = made(tmp_path, inputs, [gym_row(0, 0, 0), gym_row(0, 1, 1, seconds=0.5)]).tasks
    assert repr(mixed["max/reward"]) == "1.0"


def test_sample_is_the_first_input_without_its_indices(tmp_path: Path) -> None:
    rollouts = gym_run(tmp_path, [[1.0]])
    (task,) = profile(rollouts, tmp_path / "r_materialized_inputs.jsonl").tasks
    assert list(task["sample"]) == ["responses_create_params", "agent_ref"]


def test_missing_rollouts_are_refused_and_the_switch_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="1 of 2 materialized inputs have no rollout: 0:1") as refused:
        made(tmp_path, [gym_input(0, 0), gym_input(0, 1)], [gym_row(0, 0, 1.0)])
    assert "++allow_partial_rollouts=True" in refused.value.hint


def test_partial_runs_count_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    inputs = [gym_input(task, repeat) for task in range(3) for repeat in range(2)]
    rows = [gym_row(0, 0, 1.0), gym_row(0, 1, 1.0), gym_row(1, 0, 1.0)]
    found = made(tmp_path, inputs, rows, allow_partial=True)
    names = ("_ng_task_index", "num_rollouts", "expected_num_rollouts", "missing_num_rollouts")
    assert [[row[name] for name in names] for row in found.tasks] == [[0, 2, 2, 0], [1, 1, 2, 1]]
    assert [row["reward_profile_completion_pct"] for row in found.tasks] == [100.0, 50.0]
    done = found.completion
    assert (done.expected, done.completed, done.percent) == (6, 3, 50.0)
    assert (done.tasks, done.complete, done.partial, done.without) == (3, 1, 1, 1)
    agent = found.agents[0]
    assert (agent["blade/coverage"], agent["blade/missing_rollouts"], agent["blade/tasks/missing"]) == (0.5, 3, 1)
    assert (agent["blade/pass@1"], agent["blade/pass@1/tasks"]) == (1.0, 2)
    assert agent["blade/pass@1/all_expected"] == 0.5


def test_no_rollout_at_all_is_an_empty_profile(tmp_path: Path) -> None:
    found = made(tmp_path, [gym_input(0, 0)], [], allow_partial=True)
    assert (found.tasks, found.agents, found.completion.percent) == ([], [], 0.0)


def test_a_rollout_without_input_is_refused_also_in_part(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"1 rollout.s. have no materialized input: 7:0"):
        made(tmp_path, [gym_input(0, 0)], [gym_row(0, 0, 1.0), gym_row(7, 0, 1.0)], allow_partial=True)


def test_columns_that_only_some_tasks_have(tmp_path: Path) -> None:
    rows = [
        gym_row(0, 0, None, first_col=1.0, usage={"abc usage": 1}),
        gym_row(1, 0, None, second_col=2.0, usage={"abc usage": 1}),
    ]
    found = made(tmp_path, [gym_input(0, 0), gym_input(1, 0)], rows)
    assert found.tasks[0]["std/first_col"] == 0.0
    assert "mean/second_col" not in found.tasks[0]
    assert found.tasks[1]["std/second_col"] == 0.0
    spreads = {name: value for name, value in found.agents[0].items() if name.startswith("std/")}
    assert spreads == {"std/abc usage": 0.0}


def test_two_different_rows_of_one_rollout_are_refused_with_their_places(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"task 0, rollout 0, in .*r\.jsonl:1 and .*r\.jsonl:2"):
        made(tmp_path, [gym_input(0, 0)], [gym_row(0, 0, 1.0), gym_row(0, 0, 0.0)])
    with pytest.raises(ArtifactError, match=r"inputs\.jsonl:2 has the key of line 1"):
        made(tmp_path, [gym_input(0, 0), gym_input(0, 0)], [gym_row(0, 0, 1.0)])


def test_a_row_that_stands_twice_counts_once(tmp_path: Path) -> None:
    found = made(tmp_path, [gym_input(0, 0)], [gym_row(0, 0, 1.0), gym_row(0, 0, 1.0)])
    assert (found.copies, found.tasks[0]["num_rollouts"]) == (1, 1)


def test_torn_lines_and_odd_rows_are_listed_and_the_rest_counts(tmp_path: Path) -> None:
    good = b'{"_ng_task_index":0,"_ng_rollout_index":0,"reward":1.0,"response":null}\n'
    bad = b'\n[1]\n{"reward":1.0}\n{"_ng_task_index":"x","_ng_rollout_index":0}\n{"_ng_task_index":1,"_ng_rol'
    rollouts = write_bytes(tmp_path / "r.jsonl", good + bad)
    inputs = write_jsonl(tmp_path / "i.jsonl", [gym_input(0, 0), gym_input(1, 0)])
    found = profile(rollouts, inputs, allow_partial=True)
    assert found.completion.completed == 1
    assert [problem.source.line for problem in found.problems] == [3, 4, 5, 6]
    assert "torn write" in found.problems[-1].reason


@pytest.mark.parametrize("reward", [b"null", b"NaN", b'"good"', b"[1]"])
def test_a_reward_that_is_no_number_is_not_judged(tmp_path: Path, reward: bytes) -> None:
    line = b'{"_ng_task_index":0,"_ng_rollout_index":%d,"reward":%s,"response":{}}\n'
    rollouts = write_bytes(tmp_path / "r.jsonl", line % (0, b"1.0") + line % (1, reward))
    inputs = write_jsonl(tmp_path / "i.jsonl", [gym_input(0, 0), gym_input(0, 1)])
    found = profile(rollouts, inputs)
    assert found.tasks[0]["mean/reward"] == 1.0
    assert (found.tasks[0]["blade/judged"], found.tasks[0]["blade/pass_rate"]) == (1, 1.0)
    assert found.agents[0]["blade/unscored_rollouts"] == 1


def test_agents_are_named_by_the_inputs_and_sorted(tmp_path: Path) -> None:
    inputs = [gym_input(0, 0, agent="z"), gym_input(1, 0, agent="b")]
    found = made(tmp_path, inputs, [gym_row(0, 0, 1.0, agent="other"), gym_row(1, 0, 0.0, agent="other")])
    assert [(entry["agent_ref"]["name"], entry["mean/reward"]) for entry in found.agents] == [("b", 0.0), ("z", 1.0)]


def test_failures_beside_the_rollouts_are_errored_and_not_missing(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r_failures.jsonl", [gym_row(0, 1, 0.0, _ng_failure_class="judge_failed")])
    found = made(tmp_path, [gym_input(0, repeat) for repeat in range(3)], [gym_row(0, 0, 1.0)], allow_partial=True)
    agent = found.agents[0]
    assert (agent["blade/errored_rollouts"], agent["blade/missing_rollouts"]) == (1, 1)


def test_compressed_rollouts_give_the_same(tmp_path: Path) -> None:
    plain = gym_run(tmp_path, [[1.0, 0.0], [0.5, 0.25]])
    inputs = tmp_path / "r_materialized_inputs.jsonl"
    packed = write_bytes(tmp_path / "r.jsonl.zst", plain.read_bytes())
    assert profile(packed, inputs).agents == profile(plain, inputs).agents


def test_documentation_example(tmp_path: Path) -> None:
    rollouts = gym_run(tmp_path, [[1.0] * 4, [0.0] * 4, [1.0, 0.0, 1.0, 0.0]])
    found = profile(rollouts, tmp_path / "r_materialized_inputs.jsonl")
    assert found.agents[0]["mean/reward"] == 0.5
    assert found.agents[0]["std/reward"] == pytest.approx(0.522, abs=5e-4)
    assert [row["std/reward"] for row in found.tasks] == [0.0, 0.0, pytest.approx(math.sqrt(1 / 3))]
    assert [row["blade/variance"] for row in found.tasks] == [0.0, 0.0, pytest.approx(1 / 3)]
    assert [row["blade/pass_rate"] for row in found.tasks] == [1.0, 0.0, 0.5]
    assert [row["blade/bucket"] for row in found.tasks] == ["always_pass", "never_pass", "sometimes_pass"]
