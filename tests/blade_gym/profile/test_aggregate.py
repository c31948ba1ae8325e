"""`gym eval aggregate` as values: which files are shards, how they are put together, what is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blade.model.errors import ArtifactError, RequestError
from blade_gym.profile.aggregate import Aggregate, aggregate, find_shards, write_merged
from builders import gym_input, gym_row, gym_run, write_bytes, write_jsonl

OUT = Path("nowhere/rollouts.jsonl")


def touch(folder: Path, *names: str) -> None:
    for name in names:
        write_bytes(folder / name, b"")


def found(patterns: str, output: Path = OUT) -> list[str]:
    return [path.name for path in find_shards(patterns, output).files]


def test_globs_are_sorted_trimmed_and_given_once(tmp_path: Path) -> None:
    touch(tmp_path, "b.jsonl", "a.jsonl", "x/c.jsonl")
    assert found(f"{tmp_path}/a.jsonl") == ["a.jsonl"]
    assert found(f"{tmp_path}/*.jsonl") == ["a.jsonl", "b.jsonl"]
    assert found(f"{tmp_path}/b.jsonl , {tmp_path}/*.jsonl") == ["b.jsonl", "a.jsonl"]
    assert found(f",{tmp_path}/x/*.jsonl,,") == ["c.jsonl"]


def test_a_glob_does_not_swallow_sidecars(tmp_path: Path) -> None:
    names = ("_failures.jsonl", "_materialized_inputs.jsonl", "_reward_profiling.jsonl", "_aggregate_metrics.json")
    touch(tmp_path, "r.jsonl", *(f"r{name}" for name in names))
    shards = find_shards(f"{tmp_path}/r*", OUT)
    assert [path.name for path in shards.files] == ["r.jsonl"]
    assert len(shards.left_out) == 4


def test_an_earlier_merge_is_left_out_unless_it_is_named(tmp_path: Path) -> None:
    touch(tmp_path, "all.jsonl", "r1.jsonl")
    assert found(f"{tmp_path}/*.jsonl", tmp_path / "all.jsonl") == ["r1.jsonl"]
    assert found(f"{tmp_path}/all.jsonl", tmp_path / "all.jsonl") == ["all.jsonl"]
    assert found(f"{tmp_path}/a*.jsonl", tmp_path / "all.jsonl") == ["all.jsonl"]


def test_no_shard_is_an_error_that_says_what_was_matched(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="No shards matched input_glob="):
        found(f"{tmp_path}/*.jsonl")
    touch(tmp_path, "r_failures.jsonl")
    with pytest.raises(RequestError) as refused:
        found(f"{tmp_path}/*.jsonl")
    assert "r_failures.jsonl (the failures sidecar)" in refused.value.hint


def shards(folder: Path) -> list[Path]:
    return [
        write_jsonl(folder / "s2.jsonl", [gym_row(5, 1, 0.0), gym_row(10, 0, 1.0)]),
        write_jsonl(folder / "s1.jsonl", [gym_row(5, 0, 1.0)]),
    ]


def metrics(made: Aggregate) -> dict[str, Any]:
    (agent,) = made.agents
    return dict(agent["agent_metrics"])


def test_shards_are_merged_in_order_of_task_and_repeat(tmp_path: Path) -> None:
    made = aggregate(shards(tmp_path))
    write_merged(made, tmp_path / "deep" / "all.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "deep" / "all.jsonl").read_text().splitlines()]
    assert [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows] == [(5, 0), (5, 1), (10, 0)]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["all.jsonl"]


def test_compressed_shards_and_a_byte_order_mark_are_merged_too(tmp_path: Path) -> None:
    rows = [json.dumps(gym_row(task, 0, 1.0)).encode() + b"\n" for task in range(4)]
    files = [
        write_bytes(tmp_path / "a.jsonl.gz", rows[1]),
        write_bytes(tmp_path / "b.jsonl.zst", rows[3] + rows[0]),
        write_bytes(tmp_path / "c.jsonl", b"\xef\xbb\xbf" + rows[2].strip()),
    ]
    write_merged(aggregate(files), tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl").read_bytes() == b"".join(rows)


def test_task_indices_need_not_be_contiguous(tmp_path: Path) -> None:
    (agent,) = aggregate(shards(tmp_path)).agents
    assert [row["_ng_task_index"] for row in agent["group_level_metrics"]] == [5, 10]
    assert agent["group_level_metrics"][0]["sample"] == {"agent_ref": {"name": "agent"}}
    assert list(agent) == ["agent_ref", "agent_metrics", "key_metrics", "group_level_metrics"]


def test_key_metrics_are_the_means_and_a_few_of_ours(tmp_path: Path) -> None:
    (agent,) = aggregate([gym_run(tmp_path, [[1.0, 0.0], [1.0, 1.0]])]).agents
    assert agent["key_metrics"] == {
        "mean/reward": 0.75,
        "blade/pass@1": 0.75,
        "blade/pass@2": 1.0,
        "blade/rollout_pass_rate": 0.75,
        "blade/coverage": 1.0,
    }


def test_agents_are_summed_up_apart_and_may_share_indices(tmp_path: Path) -> None:
    rows = [gym_row(0, 0, 1.0, agent="z"), gym_row(0, 0, 0.0, agent="b", extra=1)]
    made = aggregate([write_jsonl(tmp_path / "r.jsonl", rows)])
    assert [(one["agent_ref"]["name"], one["agent_metrics"]["mean/reward"]) for one in made.agents] == [
        ("b", 0.0),
        ("z", 1.0),
    ]
    assert "mean/extra" not in made.agents[1]["agent_metrics"]


def test_rollouts_that_never_came_are_seen_from_the_inputs(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r_materialized_inputs.jsonl", [gym_input(t, r) for t in range(2) for r in range(2)])
    write_jsonl(tmp_path / "r_failures.jsonl", [gym_row(0, 1, 0.0, _ng_failure_class="timeout_exceeded")])
    made = metrics(aggregate([write_jsonl(tmp_path / "r.jsonl", [gym_row(0, 0, 1.0)])]))
    assert made["pass@1/accuracy"] == 100.0
    assert (made["blade/coverage"], made["blade/pass@1/all_expected"]) == (0.25, 0.25)
    assert (made["blade/errored_rollouts"], made["blade/missing_rollouts"]) == (1, 2)


def test_rows_without_an_agent_are_named_by_the_inputs_beside_them(tmp_path: Path) -> None:
    rollouts = gym_run(tmp_path, [[1.0]], agent="known")
    rows = [{name: value for name, value in gym_row(0, 0, 1.0).items() if name != "agent_ref"}]
    (agent,) = aggregate([write_jsonl(rollouts, rows)]).agents
    assert agent["agent_ref"] == {"name": "known"}
    (nobody,) = aggregate([write_jsonl(tmp_path / "alone.jsonl", rows)]).agents
    assert nobody["agent_ref"] == {"name": "agent"}


def test_one_shard_without_inputs_leaves_the_expectation_open(tmp_path: Path) -> None:
    one = gym_run(tmp_path, [[1.0]], name="s1")
    other = write_jsonl(tmp_path / "s2.jsonl", [gym_row(9, 0, 1.0)])
    made = metrics(aggregate([one, other]))
    assert made["blade/coverage"] is None
    assert made["blade/expected_rollouts"] is None


def test_shards_that_claim_the_same_rollouts_are_refused(tmp_path: Path) -> None:
    files = [write_jsonl(tmp_path / f"s{n}.jsonl", [gym_row(0, 0, float(n))]) for n in (0, 1)]
    with pytest.raises(ArtifactError, match=r"task 0, rollout 0, in .*s0\.jsonl:1 and .*s1\.jsonl:1") as refused:
        aggregate(files)
    assert "distinct _ng_task_index" in refused.value.hint


def test_a_shard_given_twice_under_two_names_counts_once(tmp_path: Path) -> None:
    files = [write_jsonl(tmp_path / name, [gym_row(0, 0, 1.0)]) for name in ("s.jsonl", "copy.jsonl")]
    made = aggregate(files)
    assert (made.copies, metrics(made)["blade/judged_rollouts"]) == (1, 1)


def test_torn_and_blank_lines_do_not_stop_it(tmp_path: Path) -> None:
    good = json.dumps(gym_row(0, 0, 1.0)).encode()
    made = aggregate([write_bytes(tmp_path / "r.jsonl", good + b'\n\n{"_ng_task_index": 1, "rew')])
    assert [problem.source.line for problem in made.problems] == [3]
    assert metrics(made)["mean/reward"] == 1.0


def test_files_without_any_usable_row_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no usable rollout among 2 line"):
        aggregate([write_bytes(tmp_path / "r.jsonl", b"<PLACEHOLDER ROW>\n" * 2)])


def test_an_empty_file_has_no_agents(tmp_path: Path) -> None:
    assert aggregate([write_bytes(tmp_path / "r.jsonl", b"")]).agents == []
