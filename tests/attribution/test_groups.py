"""Groups of rollouts that share a difference, and the modes of failures, from differences written by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from msgspec.structs import replace

import blade
from blade.attribution.groups import FailureGroup, groups
from blade.attribution.modes import partition
from blade.findings.diagnose import diagnose
from blade.model.finding import Differs
from blade.stats.rollout_index import RolloutIndex, index_rollouts
from builders import call, load, rollout, said, write_jsonl

Difference = tuple[str, str, str]
"""Kind, name and detail."""
NOTE: Difference = (Differs.EXTRA, "add_note", "")
SEAT: Difference = (Differs.EXTRA, "book_seat", "")


def differing(folder: Path, *rollouts: tuple[bool, list[Difference]]) -> RolloutIndex:
    """One task for each, with what differs; `True` is a pass."""
    output = [call("add_note"), said("done")]
    rows = [rollout(f"t{place}", passed=passed, output=output) for place, (passed, _) in enumerate(rollouts)]
    run = load(write_jsonl(folder / "rollouts.jsonl", rows))[0]
    fields = ("kind", "name", "detail", "step")
    told = [[dict(zip(fields, (*one, 1), strict=True)) for one in found] for _, found in rollouts]
    differs = pl.Series("differs", told, dtype=run.rollouts.schema["differs"])
    return index_rollouts(replace(run, rollouts=run.rollouts.with_columns(differs)))


def by_id(rollouts: RolloutIndex) -> dict[str, FailureGroup]:
    return {group.id: group for group in groups(partition(rollouts), rollouts)}


def test_a_rollout_that_differs_twice_alike_is_counted_once(tmp_path: Path) -> None:
    found = by_id(differing(tmp_path, (False, [NOTE, NOTE]), (False, [SEAT, NOTE]), (False, [SEAT, SEAT])))
    assert {name: group.failing.named() for name, group in found.items()} == {
        "extra:add_note": ("t0#0", "t1#0"),
        "extra:book_seat": ("t1#0", "t2#0"),
    }
    assert found["extra:add_note"].alone.named() == ("t0#0",)
    assert found["extra:book_seat"].alone.named() == ("t2#0",)


def test_passing_rollouts_that_share_a_difference_stand_beside(tmp_path: Path) -> None:
    found = by_id(differing(tmp_path, *[(False, [NOTE])] * 6, (True, [NOTE, NOTE]), (True, [])))
    assert found["extra:add_note"].passing.named() == ("t6#0",)
    assert len(found["extra:add_note"].failing) == 6


def test_what_two_passes_share_is_set_aside_and_what_one_has_twice_is_not(tmp_path: Path) -> None:
    rollouts = differing(tmp_path, *[(False, [NOTE, SEAT])] * 4, (True, [NOTE, SEAT, SEAT]), (True, [NOTE]))
    assert partition(rollouts).set_aside == {NOTE}
    assert by_id(rollouts).keys() == {"extra:book_seat"}


def test_largest_groups_come_first(tmp_path: Path) -> None:
    many: list[tuple[bool, list[Difference]]] = [(False, [(Differs.EXTRA, f"tool_{n % 4}", "")]) for n in range(10)]
    assert list(by_id(differing(tmp_path, *many))) == ["extra:tool_0", "extra:tool_1", "extra:tool_2", "extra:tool_3"]
    assert list(by_id(differing(tmp_path, *many[2:]))) == [
        "extra:tool_0",
        "extra:tool_1",
        "extra:tool_2",
        "extra:tool_3",
    ]


def test_of_several_limits_the_first_is_the_mode(tmp_path: Path) -> None:
    steps, tokens = (Differs.CUT, "steps", "stop"), (Differs.CUT, "tokens", "stop")
    rollouts = differing(tmp_path, (False, [steps, tokens]), (False, [tokens, steps]), (False, [NOTE]), (False, []))
    assert partition(rollouts).table["mode"].to_list() == ["cut-steps", "cut-tokens", "more-than-due", "not-explained"]


def test_a_mode_that_only_tasks_have_that_are_not_read_is_quoted(tmp_path: Path) -> None:
    wrong = [said("It is 7.")]
    rows = [rollout(f"t{task}", output=wrong, extracted_answer="7", expected_answer="42") for task in range(45)]
    rows.append(rollout("t99", output=[said("I cannot help with that.")], extracted_answer="", expected_answer="42"))
    found = diagnose(blade.load_run(write_jsonl(tmp_path / "rollouts.jsonl", rows)))
    assert found.cut == ("of 46 never-pass tasks the first 40 were read",)
    assert all(mode.evidence is not None for mode in found.partition.modes)
    assert len(found.partition.modes) == 2
