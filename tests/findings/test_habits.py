"""Habits: what rollouts do or leave out, tested within tasks and in one family."""

from __future__ import annotations

from pathlib import Path

from blade.findings.diagnose import diagnose
from blade.findings.habits import usual_before
from blade.model.diagnosis import Support
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
            checked = repeat % 2 == 0
            tools = ("get_user", "cancel_order") if checked else ("cancel_order",)
            rows.append(rollout(f"t{task}", repeat=repeat, passed=checked, output=steps(*tools)))
    run = load(write_jsonl(tmp_path / "rollouts.jsonl", rows))[0]
    found = {habit.id: habit for habit in diagnose(run).habits}
    never = found["never:get_user"]
    assert never.support is Support.SHOWN
    assert (never.with_failed, never.with_passed, never.without_failed, never.without_passed) == (16, 0, 0, 16)
    assert never.informative == 8
    blind = found["blind:cancel_order:get_user"]
    assert (blind.support, blind.with_failed) == (Support.SHOWN, 16)
    assert "never:cancel_order" not in found
    assert usual_before(run, "cancel_order") == [("get_user", 16, 16)]


def test_without_calls_or_with_few_tasks_nothing_is_tested(tmp_path: Path) -> None:
    talk = [rollout(f"t{n}", repeat=0, passed=n % 2 == 0) for n in range(10)]
    assert diagnose(load(write_jsonl(tmp_path / "talk.jsonl", talk))[0]).habits == ()
    few = [rollout(f"t{n}", repeat=0, passed=n == 0, output=steps("get_user")) for n in range(3)]
    assert diagnose(load(write_jsonl(tmp_path / "few.jsonl", few))[0]).habits == ()


def test_the_first_call_of_a_tool_decides_what_came_before(tmp_path: Path) -> None:
    """The look-up comes after the first change and before the second: the change was still made blindly."""
    orders = {True: ("get_user", "cancel_order", "cancel_order"), False: ("cancel_order", "get_user", "cancel_order")}
    rows = [
        rollout(f"t{task}", repeat=repeat, passed=repeat < 2, output=steps(*orders[repeat < 2]))
        for task in range(6)
        for repeat in range(4)
    ]
    found = {habit.id: habit for habit in diagnose(load(write_jsonl(tmp_path / "rollouts.jsonl", rows))[0]).habits}
    blind = found["blind:cancel_order:get_user"]
    assert (blind.with_failed, blind.with_passed, blind.without_failed, blind.without_passed) == (12, 0, 0, 12)
    assert found.keys() == {"blind:cancel_order:get_user"}


def test_rollouts_that_nobody_judged_are_not_counted(tmp_path: Path) -> None:
    """Every task has two judged rollouts and an unscored one, which alone calls nothing and never looks up."""
    rows = []
    for task in range(6):
        tools = (("get_user", "cancel_order"), ("cancel_order",))
        rows += [rollout(f"t{task}", repeat=n, passed=n == 0, output=steps(*tools[n])) for n in range(2)]
        rows.append(rollout(f"t{task}", repeat=2, reward=None, output=[said("done")]))
    found = {habit.id: habit for habit in diagnose(load(write_jsonl(tmp_path / "rollouts.jsonl", rows))[0]).habits}
    never = found["never:get_user"]
    assert (never.with_failed, never.with_passed, never.without_failed, never.without_passed) == (6, 0, 0, 6)
    assert "calls-nothing" not in found


def test_of_many_tools_those_that_most_rollouts_call_are_looked_at(tmp_path: Path) -> None:
    often, seldom = [f"get_{number}" for number in range(12)], "get_rare"
    rows = []
    for task in range(12):
        for repeat in range(2):
            # The rare one is called often in few rollouts, which does not make it common.
            mine = [seldom] * 30 if task >= 7 and repeat else []
            tools = [*(tool for place, tool in enumerate(often) if (place + task + repeat) % 2), *mine]
            rows.append(rollout(f"t{task}", repeat=repeat, passed=not repeat, output=steps(*tools)))
        rows.append(rollout(f"t{task}", repeat=2, reward=None, output=steps(seldom)))
    found = {habit.id for habit in diagnose(load(write_jsonl(tmp_path / "rollouts.jsonl", rows))[0]).habits}
    assert found == {f"never:{tool}" for tool in often}
