"""Scores, headline, buckets, baselines, funnel, usage and recorded numbers, against values worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace

import blade
from blade.model.analysis import Metrics, RunAnalysis
from blade.stats.counts import NO_GROUP, count
from blade.stats.pass_at_k import ONE_REPEAT


def analyzed(folder: Path, rows: list[dict[str, Any]], **options: Any) -> RunAnalysis:
    path = folder / "rollouts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return blade.analyze(blade.load_run(path, **options)).runs[0]


def row(task: str, repeat: int, reward: object, **more: object) -> dict[str, Any]:
    return {"task_id": task, "_ng_rollout_index": repeat, "reward": reward, "messages": [], **more}


def score(metrics: Metrics, name: str) -> float | None:
    return next(one.value for one in metrics.scores if one.name == name)


def test_each_task_counts_once_and_each_expected_rollout_too(tmp_path: Path) -> None:
    rows = [row("a", 0, 1), row("a", 1, 0), row("b", 0, 1), row("b", 1, None), row("c", 0, None), row("c", 1, None)]
    metrics = analyzed(tmp_path, rows).metrics
    assert metrics.measures["pass_at_1"].value == (0.5 + 1) / 2
    assert metrics.measures["pass_at_1_all_expected"].value == (0.5 + 0.5 + 0) / 3
    assert metrics.measures["rollout_pass_rate"].value == 2 / 3
    assert metrics.measures["coverage"].value == 3 / 6
    assert dict(metrics.buckets) == {"always_pass": 1, "sometimes_pass": 1, "never_pass": 0, "missing": 1}


@pytest.mark.parametrize(("partial", "headline"), [(1, "pass_at_1"), (2, "mean_reward")])
def test_mean_reward_leads_from_a_tenth_of_partial_rewards_on(tmp_path: Path, partial: int, headline: str) -> None:
    rows = [row(f"t{i}", 0, 0.5 if i < partial else i % 2) for i in range(11)]
    assert analyzed(tmp_path, rows).metrics.headline == headline


def test_partial_credit_has_buckets_by_thirds_of_the_range(tmp_path: Path) -> None:
    rows = [row(f"t{i}", 0, reward) for i, reward in enumerate((0.0, 1 / 3, 0.5, 2 / 3, 1.0))]
    assert dict(analyzed(tmp_path, rows).metrics.buckets) == {"high": 2, "mixed": 1, "low": 2, "missing": 0}


def test_what_was_not_judged_takes_the_lowest_reward_where_that_is_negative(tmp_path: Path) -> None:
    rows = [row("a", 0, -0.5), row("a", 1, 0.25), row("b", 0, 0.75), row("b", 1, None)]
    metrics = analyzed(tmp_path, rows).metrics
    assert metrics.headline == "mean_reward"
    assert score(metrics, "judged") == pytest.approx((-0.125 + 0.75) / 2)
    assert score(metrics, "all_expected") == pytest.approx((-0.125 + (0.75 - 0.5) / 2) / 2)


def test_the_usual_number_of_repeats_is_the_smaller_of_two_that_are_as_common(tmp_path: Path) -> None:
    rows = [row("a", i, 1) for i in range(2)] + [row("b", i, i % 2) for i in range(3)]
    metrics = analyzed(tmp_path, rows).metrics
    assert metrics.k == 2
    assert metrics.measures["pass_at_k"].value == pytest.approx((1 + (1 - 1 / 3)) / 2)
    assert metrics.measures["consistency"].value == pytest.approx((1 + 0) / 2)
    assert metrics.measures["retry_value"].value == pytest.approx(((1 - 1) + (2 / 3 - 1 / 3)) / 2)


def test_machinery_that_a_rule_sees_is_left_out_of_one_reading(tmp_path: Path) -> None:
    broken = {"output": [], "error": {"code": "server_error", "message": "upstream closed"}}
    rows = [row(f"t{i}", 0, i % 2) for i in range(6)] + [row("x", 0, 0, response=broken)]
    metrics = analyzed(tmp_path, rows).metrics
    assert metrics.counts["errored_rollouts"] == 1
    assert score(metrics, "as_recorded") == pytest.approx(3 / 7)
    assert score(metrics, "infra_excluded") == pytest.approx(3 / 6)


def test_the_best_constant_answer_and_doing_nothing(tmp_path: Path) -> None:
    rows = [row(f"t{i}", 0, 0, expected_answer="BA"[i % 3 == 0], extracted_answer="C") for i in range(6)]
    nothing, constant = analyzed(tmp_path, rows).metrics.baselines
    assert (nothing.value, nothing.reason) == (None, "no key is a list of actions")
    assert (constant.value, constant.n, constant.method) == (4 / 6, 6, "always answering 'b'")
    calls = [[], [{"name": "get_user", "arguments": {}}], [{"name": "cancel_order", "arguments": {}}]]
    keyed = [row(f"t{i}", 0, int(i < 2), expected_actions=call) for i, call in enumerate(calls)]
    assert analyzed(tmp_path, keyed).metrics.baselines[0].value == 2 / 3
    refused = [row(f"t{i}", 0, 0, expected_actions=call) for i, call in enumerate(calls)]
    assert analyzed(tmp_path, refused).metrics.baselines[0].value == 0, "doing nothing was tried, and never passed"


def test_what_no_rollout_shows_is_no_baseline(tmp_path: Path) -> None:
    acts = [{"type": "function_call", "name": "cancel_order", "arguments": "{}", "call_id": "c"}]
    keys: list[list[object]] = [[], [{"name": "cancel_order", "arguments": {}}]]
    rows = [row(f"t{i}", 0, 0, expected_actions=key) | {"response": {"output": acts}} for i, key in enumerate(keys)]
    nothing = analyzed(tmp_path, rows).metrics.baselines[0]
    assert (nothing.value, nothing.reason) == (None, "no rollout shows what doing nothing scores")
    loses = [row(f"t{i}", 0, 0, expected_answer="B", extracted_answer="B") for i in range(3)]
    constant = analyzed(tmp_path, loses).metrics.baselines[1]
    assert constant.value is None
    assert "none of 3 rollouts that did passed" in (constant.reason or "")


def test_a_label_is_no_constant_answer_where_no_answer_is_extracted(tmp_path: Path) -> None:
    constant = analyzed(tmp_path, [row(f"t{i}", 0, 1, label="safe") for i in range(4)]).metrics.baselines[1]
    assert constant.value is None


def test_the_last_stages_of_the_funnel_are_the_counts_of_the_score(tmp_path: Path) -> None:
    rows = [row("a", 0, 1), row("a", 1, 0), row("b", 0, None), row("b", 1, 1)]
    stages = {stage.name: (stage.rollouts, stage.share) for stage in analyzed(tmp_path, rows).metrics.funnel.stages}
    assert stages == {
        "expected": (4, None),
        "environment ready": (4, 1.0),
        "agent started": (4, 1.0),
        "agent acted": (4, 1.0),
        "agent finished": (4, 1.0),
        "graded": (3, 0.75),
        "passed": (2, 2 / 3),
    }


def test_spending_is_set_passing_against_failing_and_zero_cost_is_none(tmp_path: Path) -> None:
    rows = [row(f"t{i}", 0, i % 2, usage={"input_tokens": 10 * i, "output_tokens": i}, cost=0.0) for i in range(1, 6)]
    usage = {one.name: one for one in analyzed(tmp_path, rows).metrics.usage}
    assert (usage["output_tokens"].total, usage["output_tokens"].median) == (15, 3)
    assert (usage["output_tokens"].passed_median, usage["output_tokens"].failed_median) == (3, 3)
    assert "cost" not in usage


def test_a_number_that_cannot_be_made_again_is_shown(tmp_path: Path) -> None:
    stated = [{"agent_metrics": {"mean/reward": 0.5, "pass@1/accuracy": 75.0, "mean/wer": 3.0}}]
    (tmp_path / "rollouts_aggregate_metrics.json").write_text(json.dumps(stated), encoding="utf-8")
    found = analyzed(tmp_path, [row("a", 0, 1), row("b", 0, 0)]).recorded
    assert [(one.name, one.recomputed, one.agrees) for one in found] == [
        ("mean/reward", 0.5, True),
        ("pass@1/accuracy", 50.0, False),
    ]


@pytest.mark.parametrize(("rewards", "noted"), [((0, 0), False), ((0, 0.5), True), ((0.5, 0.5), True), ((0, 3), True)])
def test_a_pass_that_may_not_mean_a_pass_is_noted(tmp_path: Path, rewards: tuple[float, ...], noted: bool) -> None:
    rows = [row(f"t{i}", 0, reward) for i, reward in enumerate(rewards)]
    assert bool(analyzed(tmp_path, rows).metrics.doubts) == noted


def test_leaving_a_task_out_does_not_accuse_the_sidecar(tmp_path: Path) -> None:
    stated = [{"agent_metrics": {"mean/reward": 0.5}}]
    (tmp_path / "rollouts_aggregate_metrics.json").write_text(json.dumps(stated), encoding="utf-8")
    analyzed(tmp_path, [row("a", 0, 1), row("b", 0, 0)])
    one = blade.analyze(tmp_path / "rollouts.jsonl", exclude=("task:a",)).runs[0]
    assert one.metrics.measures["pass_at_1"].value == 0
    assert [entry.agrees for entry in one.recorded] == [True]


def test_the_measures_of_the_usual_repeats_are_those_of_that_many(tmp_path: Path) -> None:
    rows = [row("a", i, 1) for i in range(2)] + [row("b", i, i % 2) for i in range(2)]
    metrics = analyzed(tmp_path, rows).metrics
    assert (metrics.measures["pass_at_k"].value, metrics.measures["consistency"].value) == (1.0, 0.5)
    assert metrics.measures["consistency"].interval == metrics.pass_hat[2].interval
    assert {name for name, one in metrics.measures.items() if one.name != name} == set()


def test_one_rollout_a_task_says_nothing_of_repeats(tmp_path: Path) -> None:
    metrics = analyzed(tmp_path, [row("a", 0, 1), row("b", 0, 0)]).metrics
    for name in ("pass_at_k", "consistency", "retry_value"):
        assert (metrics.measures[name].value, metrics.measures[name].reason) == (None, ONE_REPEAT)


def test_a_task_without_any_row_is_counted_with_nothing(tmp_path: Path) -> None:
    """Tasks that the rows name stand before and after one that only the manifest names."""
    (tmp_path / "manifest.json").write_text(json.dumps({"task_ids": ["a", "b", "c"], "repeats": 2}))
    one = analyzed(tmp_path, [row("c", 0, 1), row("a", 0, 0.25), row("a", 1, 1)])
    counts = count(one.run)
    assert counts.tasks == ("a", "b", "c")
    assert [counts.rows.tolist(), counts.missing.tolist(), counts.judged.tolist()] == [[2, 0, 1], [0, 2, 1], [2, 0, 1]]
    assert [counts.reward_sum.tolist(), counts.recorded_passed.tolist()] == [[1.25, 0, 1], [1, 0, 1]]


def test_rollouts_that_are_left_out_leave_their_tasks_with_nothing(tmp_path: Path) -> None:
    run = analyzed(tmp_path, [row("a", 0, 1), row("b", 0, 0.5), row("c", 0, None), row("c", 1, 0)]).run
    counts = count(replace(run, rollouts=run.rollouts.filter(pl.col("task_id") != "b")))
    assert [counts.rows.tolist(), counts.passed.tolist()] == [[1, 0, 2], [1, 0, 0]]
    assert [counts.unscored.tolist(), counts.failed.tolist()] == [[0, 0, 1], [0, 0, 1]]
    assert [counts.recorded.tolist(), counts.reward_sum.tolist()] == [[1, 0, 1], [1, 0, 0]]
    none = count(replace(run, rollouts=run.rollouts.clear()))
    assert [none.rows.tolist(), none.reward_sum.tolist()] == [[0, 0, 0], [0, 0, 0]]


def test_what_failed_attempts_record_is_left_out_of_what_was_recorded(tmp_path: Path) -> None:
    failed = row("b", 0, 1) | {"_ng_failure_class": "x"}
    (tmp_path / "rollouts_failures.jsonl").write_text(json.dumps(failed) + "\n", encoding="utf-8")
    counts = count(analyzed(tmp_path, [row("a", 0, 1)]).run)
    assert [counts.tasks, counts.rows.tolist(), counts.recorded.tolist()] == [("a", "b"), [1, 1], [1, 0]]
    assert [counts.recorded_passed.tolist(), counts.recorded_sum.tolist()] == [[1, 0], [1, 0]]


def test_a_task_without_a_group_is_in_a_group_of_that_name(tmp_path: Path) -> None:
    run = analyzed(tmp_path, [row(name, 0, 1) for name in "abc"]).run
    assert count(run).groups is None
    tasks = run.tasks.with_columns(pl.Series("group", ["x", None, "y"]))
    assert count(replace(run, tasks=tasks)).groups == ("x", NO_GROUP, "y")
