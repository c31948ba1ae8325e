"""Habits: what rollouts do or leave out, tested within tasks and in one family."""

from __future__ import annotations

from pathlib import Path

from blade.core.diagnosis import Grade
from blade.diagnose.diagnose import diagnose
from blade.diagnose.habits import usual_before
from builders import call, load, result, rollout, said, write_jsonl


def steps(*tools: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for place, tool in enumerate(tools):
        found += [call(tool, "{}", f"c{place}"), result("ok", f"c{place}")]
    return [*found, said("done")]


def test_a_look_up_that_failing_rollouts_leave_out_is_shown(tmp_path: Path) -> None:
    rows = []
    for task in range(8):
        for repeat in range(4):
            looked = repeat % 2 == 0
            tools = ("get_user", "cancel_order") if looked else ("cancel_order",)
            rows.append(rollout(f"t{task}", repeat=repeat, passed=looked, output=steps(*tools)))
    run = load(write_jsonl(tmp_path / "rollouts.jsonl", rows))[0]
    found = {habit.id: habit for habit in diagnose(run).habits}
    never = found["never:get_user"]
    assert never.grade is Grade.SHOWN
    assert (never.with_failed, never.with_passed, never.without_failed, never.without_passed) == (16, 0, 0, 16)
    assert never.informative == 8
    blind = found["blind:cancel_order:get_user"]
    assert (blind.grade, blind.with_failed) == (Grade.SHOWN, 16)
    assert "never:cancel_order" not in found
    assert usual_before(run, "cancel_order") == [("get_user", 16, 16)]


def test_without_calls_or_with_few_tasks_nothing_is_tested(tmp_path: Path) -> None:
    talk = [rollout(f"t{n}", repeat=0, passed=n % 2 == 0) for n in range(10)]
    assert diagnose(load(write_jsonl(tmp_path / "talk.jsonl", talk))[0]).habits == ()
    few = [rollout(f"t{n}", repeat=0, passed=n == 0, output=steps("get_user")) for n in range(3)]
    assert diagnose(load(write_jsonl(tmp_path / "few.jsonl", few))[0]).habits == ()
