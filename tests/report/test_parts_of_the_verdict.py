"""What a reward is made of is told where a pass hides a part that does not hold."""

from __future__ import annotations

from pathlib import Path

from blade.analysis import analyze, load
from blade.model.options import Options
from blade.report.page_one import page_one
from builders import rollout, write_jsonl


def first_page(folder: Path, *parts: dict[str, float], most: float) -> str:
    """Page one of rollouts whose reward is the sum of these parts, but at most so much."""
    rows = [
        rollout(f"t{n}", reward=min(most, sum(each.values())), prompt=f"p{n}", reward_components=each)
        for n, each in enumerate(parts)
    ]
    path = write_jsonl(folder / "rollouts.jsonl", rows)
    return "\n".join(page_one(analyze(load([str(path)], Options()), Options())))


def test_a_part_that_never_holds_is_told_though_all_pass(tmp_path: Path) -> None:
    page = first_page(tmp_path, *[{"right": 1.0, "schema": 1.0, "form": 0.0}] * 5, most=1)
    assert "pass@1 **1.000**" in page
    assert "`form` in 0 of 5 (5 passed without it); `right` in 5 of 5; `schema` in 5 of 5." in page


def test_parts_that_mostly_hold_are_told_only_where_a_pass_may_mean_something_else(tmp_path: Path) -> None:
    parts = [{"right": 1.0, "form": 1.0}] * 2 + [{"right": 1.0, "form": 0.0}]
    assert "Parts of the verdict" not in first_page(tmp_path / "capped", *parts, most=1)
    page = first_page(tmp_path / "summed", *parts, most=2)
    assert "set --pass-threshold" in page
    assert "`form` in 2 of 3 (1 passed without it); `right` in 3 of 3." in page
