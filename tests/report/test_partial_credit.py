"""Reports of runs whose verifier gives partial credit: what can be gained is of the score that leads."""

from __future__ import annotations

from pathlib import Path

from blade.analysis import analyze, load
from blade.model.options import Options
from blade.report.sections import report
from builders import rollout, write_jsonl


def told(folder: Path, rewards: list[float], **fields: list[str]) -> str:
    """The report on tasks with one rollout each, of which those below 1 give a wrong answer."""
    rows = [
        rollout(
            f"t{n}", reward=reward, prompt=f"p{n}", extracted_answer="A" if reward >= 1 else "B", expected_answer="A"
        )
        | {name: values[n] for name, values in fields.items()}
        for n, reward in enumerate(rewards)
    ]
    path = write_jsonl(folder / "rollouts.jsonl", rows)
    return report(analyze(load([str(path)], Options()), Options()))


def test_points_are_what_the_mean_reward_lacks(tmp_path: Path) -> None:
    page = told(tmp_path, [0.0, 0.875, 0.75, 1.0, 0.0])
    assert "mean reward over tasks **0.525**" in page
    assert "up to 47.5 points" in page
    assert "where a fixed one gets a reward of 1" in page
    assert "80.0" not in page


def test_gains_of_another_scale_are_in_units_of_the_reward(tmp_path: Path) -> None:
    page = told(tmp_path, [0.5, 0.0, 10.0, 7.0, 4.0])
    assert "up to 3.900 in units of the reward" in page
    assert "where a fixed one gets the highest reward seen" in page


def test_the_slice_that_divides_the_tasks_most_stands_out(tmp_path: Path) -> None:
    page = told(tmp_path, [0.25, 0.5] * 5 + [1.0] * 4 + [0.5], category=["maps"] * 10 + ["sums"] * 5)
    assert "Scores differ most by `category`: maps: 0.375 (0 of 10 passed, 10 tasks); sums: 0.900" in page


def test_what_stands_out_is_measured_on_the_scale_of_the_rewards(tmp_path: Path) -> None:
    category = ["maps"] * 10 + ["sums"] * 5
    near = told(tmp_path / "near", [40.0, 45.0] * 5 + [40.0, 43.0, 45.0, 47.0, 50.0], category=category)
    assert "divides the tasks most" not in near
    far = told(tmp_path / "far", [4.0, 5.0] * 5 + [40.0, 43.0, 45.0, 47.0, 50.0], category=category)
    assert "maps: 4.500 (10 of 10 passed, 10 tasks); sums: 45.000" in far
