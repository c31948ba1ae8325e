"""The pass@k family against values worked out by hand, and ours beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade_gym.profile.honest import Tried, of_agent, of_tasks
from blade_gym.profile.passes import family


def table(tasks: Sequence[Sequence[float | None]]) -> Any:
    width = max(map(len, tasks), default=0)
    return np.array([[*task, *[None] * (width - len(task))] for task in tasks], dtype=np.float64).reshape(
        len(tasks), width
    )


def tried(tasks: Sequence[Sequence[float | None]], **more: Any) -> Tried:
    return Tried(rewards=table(tasks), rows=np.array([len(task) for task in tasks]), **({"expected": None} | more))


def passes(tasks: Sequence[Sequence[float | None]]) -> dict[str, Any]:
    return {name.removesuffix("/accuracy"): value for name, value in family(table(tasks)).items()}


BINARY = [[1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0]]


def test_binary_rewards() -> None:
    found = passes(BINARY)
    assert [found[f"pass@{k}"] for k in range(1, 5)] == pytest.approx([50.0, 550 / 9, 200 / 3, 200 / 3])
    assert [found[f"pass@1[avg-of-{k}]"] for k in range(1, 5)] == pytest.approx([200 / 3, 50.0, 500 / 9, 50.0])
    assert found["per_sample_aggregate"] == {"accuracy": pytest.approx([200 / 3, 100 / 3, 200 / 3, 100 / 3])}
    whole = family(table(BINARY))
    spread = [whole[f"pass@1[avg-of-{k}]/accuracy/std_dev_across_runs"] for k in (2, 3, 4)]
    assert spread == pytest.approx([23.570226, 19.245009, 19.245009], abs=1e-6)
    error = [whole[f"pass@1[avg-of-{k}]/accuracy/std_err_across_runs"] for k in (2, 3, 4)]
    assert error == pytest.approx([16.666667, 11.111111, 9.622504], abs=1e-6)
    within = [whole[f"pass@1[avg-of-{k}]/accuracy/avg_sample_std_dev"] for k in (2, 3, 4)]
    assert within == pytest.approx([0.235702, 0.192450, 0.192450], abs=1e-6)


def test_average_of_two() -> None:
    assert passes([[1, 0], [0, 1], [1, 1]])["pass@1[avg-of-2]"] == pytest.approx(200 / 3)


def test_uneven_tasks_drop_out_as_the_reference_has_it_and_ours_says_so() -> None:
    found = passes([[1, 0, 0], [0]])
    assert [found[f"pass@{k}"] for k in (1, 2, 3)] == pytest.approx([50 / 3, 200 / 3, 100.0])
    assert [found[f"pass@1[avg-of-{k}]"] for k in (1, 2, 3)] == pytest.approx([50.0, 25.0, 50 / 3])
    ours = of_agent(tried([[1, 0, 0], [0]]))
    assert [ours[f"blade/pass@{k}/tasks"] for k in (1, 2, 3)] == [2, 1, 1]
    assert ours["blade/pass@1"] == pytest.approx(1 / 6)


def test_ten_rollouts_three_passes() -> None:
    found = passes([[1, 1, 1, 0, 0, 0, 0, 0, 0, 0]])
    expected = [30, 53.3333, 70.8333, 83.3333, 91.6667, 96.6667, 99.1667, 100, 100, 100]
    assert [found[f"pass@{k}"] for k in range(1, 11)] == pytest.approx(expected, abs=1e-4)


def test_minus_one_is_no_failure_for_the_reference_and_is_one_for_us() -> None:
    found = passes([[-1, 1, -1, 1, 1]])
    assert (found["pass@1"], found["pass@2"], found["pass@1[avg-of-5]"]) == (-100.0, 100.0, 20.0)
    assert of_agent(tried([[-1, 1, -1, 1, 1]]))["blade/pass@1"] == 0.6


def test_a_reward_a_hair_below_one_passes_for_us() -> None:
    assert of_agent(tried([[0.9999999999999998]]))["blade/pass@1"] == 1.0


def test_the_threshold_decides() -> None:
    assert of_agent(tried([[0.4, 0.6]], threshold=0.5))["blade/pass@1"] == 0.5


def test_one_repeat_has_no_spread_and_nothing_gives_nothing() -> None:
    assert not [name for name in family(table([[1], [0]])) if "std" in name]
    assert family(table([])) == {}
    assert family(table([[None, None]])) == {}


def test_what_has_no_reward_takes_its_place_and_no_value() -> None:
    found = passes([[None, 1, 0]])
    assert (found["pass@1"], found["pass@2"]) == (50.0, 100.0)
    assert "pass@3" not in found
    assert "pass@1[avg-of-1]" not in found
    assert (found["pass@1[avg-of-2]"], found["pass@1[avg-of-3]"]) == (100.0, 50.0)


def test_what_cannot_be_known_is_none_with_a_reason() -> None:
    ours = of_agent(tried([[1.0]]))
    assert ours["blade/coverage"] is None
    assert ours["blade/reasons"]["blade/coverage"] == "no materialized inputs say what was expected"
    assert ours["blade/reasons"]["blade/variance"] == "no task has two judged rollouts"


def test_variance_is_the_mean_over_tasks_with_two_rewards() -> None:
    ours = of_agent(tried([[1, 0], [1, 1], [1]]))
    assert (ours["blade/variance"], ours["blade/variance/tasks"]) == (0.25, 2)


def test_a_task_with_fewer_rollouts_has_no_pass_at_the_largest_k() -> None:
    assert [row["blade/pass@3"] for row in of_tasks(tried([[1, 0, 0], [1]]))] == [1.0, None]


def test_pass_at_1_has_an_interval_over_tasks() -> None:
    low, high = of_agent(tried(BINARY))["blade/pass@1/ci"]
    assert 0 <= low < 0.5 < high <= 1


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 0.5]), min_size=1, max_size=5), min_size=1, max_size=6))
def test_the_order_of_tasks_does_not_matter(tasks: list[list[float]]) -> None:
    assert family(table(tasks)) == family(table(tasks[::-1]))
