"""What fields are taken for, by their values alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.ingest.roles.learn import learn_roles
from blade.ingest.roles.results import results_in, shapes_of
from blade.ingest.roles.shaped import as_items
from blade.ingest.roles.stamps import seconds_of
from blade.model.roles import Roles
from builders import load_rows

Row = dict[str, Any]


def graded(number: int, **more: Any) -> Row:
    """A rollout of one of five tasks, four times each, under names that say nothing."""
    task, repeat = divmod(number, 4)
    passed = (task + repeat) % 3 != 0
    tests = {f"test_{task}_{part}": "passed" if passed or part else "failed" for part in range(3)}
    return {
        "a": f"case-{task:03}",
        "b": repeat,
        "c": passed,
        "d": {"x": tests},
        "e": "all good, finished" if passed else "step limit hit",
        "f": f"2026-01-0{1 + task}T10:00:0{repeat}Z",
        "g": f"2026-01-0{1 + task}T10:00:1{repeat}Z",
        "h": f"2026-01-0{1 + task}T10:01:0{repeat}Z",
        "i": f"2026-01-0{1 + task}T10:01:1{repeat}Z",
        "j": f"2026-01-0{1 + task}T10:01:3{repeat}Z",
        "k": f"2026-01-0{1 + task}T10:01:4{repeat}Z",
        "l": 100.0,
        "m": 40 + task if passed else 30 + number,
        "n": 40 + task,
        "o": [{"role": "user", "content": f"Do {task}."}, {"role": "assistant", "content": f"It is {repeat}."}],
        "p": "build 7",
        **more,
    }


ROWS = [graded(number) for number in range(20)]


def by_path(roles: Roles) -> dict[str, str | None]:
    return {field.path: field.role for field in roles.fields}


def test_values_tell_what_fields_are() -> None:
    roles = learn_roles(ROWS)
    found = by_path(roles)
    assert {path: found[path] for path in ("a", "b", "c", "d.x", "e", "o")} == {
        "a": "task",
        "b": "repeat",
        "c": "reward",
        "d.x": "checks",
        "e": "status",
        "o": "trajectory",
    }
    assert (found["m"], found["n"]) == ("produced", "expected")
    assert found["p"] is None
    assert [(one.name, one.start, one.end) for one in roles.phases] == [
        ("setup", "f", "g"),
        ("agent", "g", "h"),
        ("grading", "i", "j"),
        ("total", "f", "k"),
    ]
    assert roles.undecided == ()


def test_phases_by_five_stamps_of_which_two_stand_next_to_each_other() -> None:
    short = [{name: value for name, value in row.items() if name != "k"} for row in ROWS]
    named = [("setup", "f", "g"), ("agent", "g", "h"), ("grading", "i", "j"), ("total", "f", "j")]
    near = [row | {"i": f"{row['h'][:-2]}{row['b'] + 1}Z"} for row in short]
    assert [(one.name, one.start, one.end) for one in learn_roles(near).phases] == named
    # Where grading is missing in rows of which the agent took long, the order is that of the rows that have both.
    partly = [
        row | {"i": None, "h": row["j"], "j": row["j"]} if place % 5 == 0 else row for place, row in enumerate(near)
    ]
    assert [(one.name, one.start, one.end) for one in learn_roles(partly).phases] == named
    far = learn_roles(short).phases
    assert [(one.name, one.start, one.end) for one in far] == [("total", "f", "j")]


def test_what_stands_for_nothing_is_no_path() -> None:
    rows = [graded(number, q="max_turns" if number % 9 == 0 else "n/a") for number in range(20)]
    assert by_path(learn_roles(rows))["q"] == "status"


def test_the_order_of_rows_tells_nothing() -> None:
    shuffled = random.Random(5).sample(ROWS, len(ROWS))
    assert by_path(learn_roles(shuffled)) == by_path(learn_roles(ROWS))


def test_the_tables_hold_what_the_values_say(tmp_path: Path) -> None:
    run = load_rows(tmp_path, *ROWS)
    assert (run.tasks.height, run.rollouts.height) == (5, 20)
    passed = {(row["a"], row["b"]): row["c"] for row in ROWS}
    for one in run.rollouts.iter_rows(named=True):
        assert (one["outcome"] == "passed") == passed[one["task_id"], one["repeat"]]
        assert {phase["name"]: phase["seconds"] for phase in one["phases"]} == {
            "setup": 10.0,
            "agent": 50.0,
            "grading": 20.0,
            "total": 100.0,
        }
        assert one["seconds"] == 100.0
        assert [status["field"] for status in one["statuses"]] == ["e"]
    assert run.tasks["expected"].to_list() == ["40", "41", "42", "43", "44"]
    assert run.checks.height == 60
    assert run.checks["passed"].sum() == 60 - sum(not good for good in passed.values())
    again = run["case-001", 2].account
    assert [status.value for status in again.statuses] == ["step limit hit"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": "passed", "b": "failed", "c": "skipped"}, [("a", True), ("b", False)]),
        ({"a": True, "b": False}, [("a", True), ("b", False)]),
        ({"a": 1, "b": 0}, [("a", True), ("b", False)]),
        ({"a": {"status": "ok"}, "b": {"status": "error", "log": "boom"}}, [("a", True), ("b", False)]),
        ([{"name": "a", "status": "passed"}, {"name": "b", "status": "failed"}], [("a", True), ("b", False)]),
        ([True, False, -2], [("test 1", True), ("test 2", False), ("test 3", False)]),
        ({"passed": ["a"], "failed": ["b"]}, [("a", True), ("b", False)]),
        ({"a": "Traceback (most recent call last):\nValueError: 3"}, [("a", False)]),
    ],
)
def test_results_in_every_shape(value: object, expected: list[tuple[str, bool]]) -> None:
    shapes = [shape for shape in shapes_of([value]) if shape.kind != "sides" or shape.verdict == "passed"]
    assert [(one.name, one.passed) for one in results_in(value, shapes[0])] == expected


def test_truth_values_that_never_go_with_the_verdict_are_settings() -> None:
    rows = [graded(number, q={"cache": True, "retry": False, "stream": True}) for number in range(20)]
    roles = learn_roles(rows)
    assert by_path(roles)["q.cache"] is None
    assert [text.partition(" ")[0] for text in roles.undecided] == ["q"]


def test_a_run_of_one_verdict_leaves_the_verdict_open() -> None:
    rows = [{"a": n, "x": True, "y": False, "z": 0.5} for n in range(6)]
    roles = learn_roles(rows)
    assert "reward" not in by_path(roles).values()
    assert any("--map reward=" in text for text in roles.undecided)


@pytest.mark.parametrize(("value", "seconds"), [("2026-01-01T00:00:00Z", 1767225600.0), (1767225600, 1767225600.0)])
def test_stamps_in_several_spellings(value: object, seconds: float) -> None:
    assert seconds_of(value) == seconds
    assert seconds_of(1767225600_000) == seconds


@pytest.mark.parametrize("value", ["never", "2026", 12, True, None, 10**40, -5.0, [], {}])
def test_what_is_no_stamp(value: object) -> None:
    assert seconds_of(value) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.text(max_size=4), JSON, max_size=6), max_size=8))
def test_any_rows_have_roles_and_each_path_one(rows: list[Row]) -> None:
    paths = [field.path for field in learn_roles(rows).fields]
    assert paths == sorted(set(paths))


def test_what_most_passes_have_is_no_error() -> None:
    told = "TypeError raised on timeout: HTTP 500"
    assert by_path(learn_roles([graded(n, q=told) for n in range(20)]))["q"] != "error"
    words = (
        "playwright._impl._errors.Error: BrowserType.launch: Executable does not exist at /ms/chrome, so nothing ran"
    )
    rows = [graded(n, q=words if n in (0, 6) else None) for n in range(20)]
    assert by_path(learn_roles(rows))["q"] == "error"


def test_an_amount_in_which_few_rows_agree_groups_nothing() -> None:
    rows = [
        {
            "t": f"alg-{n // 4}",
            "q": f"Solve {n // 4} + x.",
            "k": n % 4,
            "amount": 200 + 7 * n - 7 * (n == 9),
            "ok": n % 3 > 0,
        }
        for n in range(40)
    ]
    assert by_path(learn_roles(rows))["t"] == "task"


def test_of_fields_that_group_the_rows_the_task_has_a_twin() -> None:
    rows = []
    for n in range(40):
        steps = 2 * (n // 8) + n % 2
        told = {"t": f"shop.{n // 4}", "q": f"Buy {n // 4} of them", "u": f"http://h{n // 8}/"}
        rows.append({**told, "k": n % 4, "steps": steps, "how": "odd" if steps % 2 else "even", "ok": n % 3 > 0})
    assert by_path(learn_roles(rows))["t"] == "task"


def test_the_question_of_a_choice_is_no_reply() -> None:
    rows = [
        {
            "t": f"law_{n // 4}",
            "q": f"Question {n // 4}: A) one B) two C) three D) four. Answer with a letter.",
            "said": f"By rule {n} the answer is ({'ABCD'[(n // 4 + (n % 4 == 3)) % 4]})." if n % 7 else "",
            "took": "ABCD"[(n // 4 + (n % 4 == 3)) % 4] if n % 7 else "",
            "want": "ABCD"[n // 4 % 4],
            "k": n % 4,
            "ok": n % 4 < 3 and n % 7 > 0,
        }
        for n in range(40)
    ]
    found = by_path(learn_roles(rows))
    assert found["q"] != "trajectory"
    assert found["said"] == "trajectory"


def test_results_beside_results_are_checks_too() -> None:
    def sides(ok: bool) -> dict[str, list[str]]:
        return {"success": ["a", "b"] if ok else ["a"], "failure": [] if ok else ["b"]}

    rows = [graded(n, d={"new": sides((n // 4 + n % 4) % 3 != 0), "old": sides(n != 3)}) for n in range(20)]
    found = by_path(learn_roles(rows))
    assert (found["d.new"], found["d.old"]) == ("checks", "checks")


def test_calls_that_are_written_as_code_are_a_trajectory() -> None:
    def walk(n: int) -> list[Row]:
        steps = [('goto("http://shop.example/")', "[1] link Home"), (f'click("{n}")', f"[{n}] Kettle 19.00")]
        return [{"nr": place, "did": did, "saw": saw} for place, (did, saw) in enumerate(steps)]

    rows = [graded(n, o=None, w=walk(n)) for n in range(20)]
    roles = learn_roles(rows)
    assert roles.talk is not None
    assert (roles.talk.tool, roles.talk.result) == ("did", "saw")
    assert as_items(walk(3), roles.talk)[1]["content"][0]["input"] == {"arguments": '"3"'}


def test_ends_are_told_by_what_passes_have() -> None:
    def ends(n: int, usual: str, other: str) -> str:
        return usual if (n // 4 + n % 4) % 3 != 0 or n % 2 else other

    found = by_path(learn_roles([graded(n, e=ends(n, "result given", "round cap")) for n in range(20)]))
    assert found["e"] == "status"
    colors = by_path(learn_roles([graded(n, e=["red", "green", "blue"][n % 3]) for n in range(20)]))
    assert colors["e"] is None


def test_a_call_held_in_one_object_is_a_trajectory() -> None:
    def walk(n: int) -> list[Row]:
        steps = [
            ({"type": "goto", "target": "http://shop.example/"}, "Home. Search"),
            ({"type": "click", "target": f"Mug {n}"}, f"Mug {n} added to the cart"),
        ]
        return [{"why": "Look around there.", "do": did, "saw": saw} for did, saw in steps]

    roles = learn_roles([graded(n, o=None, w=walk(n)) for n in range(20)])
    assert roles.talk is not None
    assert as_items(walk(3), roles.talk)[1]["content"][1] == {
        "type": "tool_use",
        "name": "click",
        "input": {"target": "Mug 3"},
        "id": "call_1",
    }


def test_a_flag_that_shares_bear_out_is_the_verdict() -> None:
    rows = [
        {
            "t": f"kb-{n // 4}",
            "q": f"How is part {n // 4} replaced?",
            "k": n % 4,
            "m": 0.9 - n / 100 if n % 5 else 0.1,
            "fine": n % 5 > 0,
            "mean": 0.95 - n / 100 if n % 5 else 0.15,
        }
        for n in range(40)
    ]
    assert by_path(learn_roles(rows))["fine"] == "reward"


def test_what_was_produced_is_no_task_though_it_is_finer() -> None:
    rows = [
        {
            "id_of_it": f"nl{n // 4}",
            "asked": f"How many of {n // 4}?",
            "wanted": f"SELECT {n // 4}",
            "kind": n // 20,
            "gave": f"select {n // 4 + (n % 7 == 0) * 50}",
            "turn": n % 4,
            "same": n % 7 > 0,
        }
        for n in range(40)
    ]
    assert by_path(learn_roles(rows))["id_of_it"] == "task"


def test_a_list_that_passes_leave_empty_names_what_failed(tmp_path: Path) -> None:
    def row(n: int) -> Row:
        passed = (n // 4 + n % 4) % 3 != 0
        return {
            "t": f"c-{n // 4}",
            "k": n % 4,
            "reward": float(passed),
            "amiss": [] if passed else [f"cart lacks {n}"],
            "tags": ["a", "b"][: 1 + n % 2],
        }

    found = by_path(learn_roles([row(n) for n in range(20)]))
    assert (found["amiss"], found["tags"]) == ("checks", None)
    run = load_rows(tmp_path, *(row(n) for n in range(20)))
    failed = run.rollouts.filter(outcome="failed")
    assert run.checks.filter(passed=False)["name"].to_list()[0].startswith("cart lacks")
    assert failed["checks_asked"].null_count() == failed.height  # how many there are, nobody says


def test_what_test_runners_print_bears_out_a_flag_of_any_name() -> None:
    def row(n: int) -> Row:
        good = n % 3 > 0
        log = (
            "...\n3 passed in 0.12s\n"
            if good
            else "..F\nFAILED t.py::test_b - assert 1 == 2\n1 failed, 2 passed in 0.21s\n"
        )
        return {"t": f"c-{n // 4}", "k": n % 4, "settled": good, "cached": n % 2 == 0, "l": log}

    assert by_path(learn_roles([row(n) for n in range(20)]))["settled"] == "reward"


def test_texts_of_the_task_are_told_from_notes() -> None:
    rows = [
        graded(n, p="The server fails with HTTP 503. Mend it.", z="gave up" if n in (0, 6) else None) for n in range(20)
    ]
    assert learn_roles(rows).given == ("p",)


def test_the_one_text_in_which_repeats_differ_is_the_reply() -> None:
    rows = [
        {
            "t": f"ctx{n // 4}",
            "q": f"What does clause {n // 4} name?",
            "k": n % 4,
            "said": f"In take {n} it names the harbor.",
            "f1": (n % 4) / 3,
            "fine": n % 4 > 1,
        }
        for n in range(40)
    ]
    assert by_path(learn_roles(rows))["said"] == "trajectory"


def test_an_amount_that_is_written_twice_is_no_verdict() -> None:
    rows = [{"id": f"x-{n}", "m": {"spent": n / 50}, "spent": n / 50, "cost": n / 40} for n in range(20)]
    assert "reward" not in by_path(learn_roles(rows)).values()


def test_what_was_taken_out_of_the_reply_stands_in_it() -> None:
    code = "def solve(n):\n    return n + {n}\n"
    rows = [
        {
            "t": f"c{n // 4}",
            "q": f"Print the sum of {n // 4} things.",
            "k": n % 4,
            "said": f"Here it is:\n{code}".format(n=n),
            "got": code.format(n=n),
            "correct": n % 3 > 0,
        }
        for n in range(40)
    ]
    found = by_path(learn_roles(rows))
    assert (found["said"], found["got"]) == ("trajectory", "produced")
