"""Which tasks of two runs are the same: by marks, step by step, only where a mark is unique on both sides."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.stats.task_matching import SameTasks, may_be_comparable, same_tasks

SCHEMA = {"task_id": pl.String, "id_mark": pl.String, "key_fp": pl.UInt64, "prompt_fp": pl.UInt64}

Task = tuple[str, str | None, int | None, int | None]
"""Name, id, key and prompt."""


def tasks(*rows: Task) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


def joined(left: list[Task], right: list[Task]) -> SameTasks:
    return same_tasks(tasks(*left), tasks(*right))


@pytest.mark.parametrize(
    ("left", "right", "step"),
    [
        (("a", None, 1, 2), ("b", None, 1, 2), "key+prompt"),
        (("a", "x", 1, 2), ("b", "x", 1, 3), "key+id"),
        (("a", "x", 1, 2), ("b", "y", 1, 3), "key"),
        (("a", "x", 1, None), ("b", None, 1, None), "key"),
        (("a", "x", 1, 2), ("b", "y", 3, 2), "prompt"),
        (("a", "x", None, 2), ("b", "y", None, 2), "prompt"),
        (("a", "x", None, None), ("b", "x", None, None), "id"),
        (("a", "x", 1, None), ("b", "x", None, 2), "id"),
        (("a", "x", None, 1), ("b", "x", None, 2), "id"),
        (("a", "x", 1, None), ("b", "x", 2, None), "id"),
    ],
)
def test_the_first_step_that_applies_joins(left: Task, right: Task, step: str) -> None:
    found = joined([left], [right])
    assert found.pairs == (("a", "b"),)
    assert found.joined_by == {step: 1}
    assert found.comparable


def test_joined_by_prompt_with_another_key_is_listed() -> None:
    found = joined([("a", None, 1, 2), ("b", None, None, 3)], [("a", None, 5, 2), ("b", None, 6, 3)])
    assert found.key_changed == (("a", "a"),)
    assert found.joined_by == {"prompt": 2}


def test_joined_by_id_alone_is_unproven() -> None:
    assert joined([("a", "x", None, None)], [("b", "x", 1, 2)]).unproven == (("a", "b"),)


def test_the_same_id_with_another_key_and_another_prompt_is_a_conflict() -> None:
    found = joined([("a", "x", 1, 2), ("b", "y", 3, 4)], [("a", "x", 8, 9), ("b", "y", 3, 4)])
    assert found.pairs == (("b", "b"),)
    assert found.id_conflict == ("a",)


def test_a_mark_that_is_not_unique_joins_nothing() -> None:
    twins: list[Task] = [("a", None, 1, 2), ("b", None, 1, 2)]
    assert joined(twins, [("c", None, 1, 2)]).pairs == ()
    assert joined([("c", None, 1, 2)], twins).pairs == ()


def test_a_later_step_tells_twins_apart() -> None:
    left: list[Task] = [("a", "x", 1, 2), ("b", "y", 1, 2)]
    found = joined(left, [("p", "y", 1, 2), ("q", "x", 1, 2)])
    assert found.pairs == (("a", "q"), ("b", "p"))
    assert found.joined_by == {"key+id": 2}


def test_a_key_that_several_tasks_have_joins_none_of_them_even_when_one_is_left() -> None:
    left: list[Task] = [("a", None, 1, 2), ("b", None, 1, 3)]
    right: list[Task] = [("c", None, 1, 2), ("d", None, 1, 4)]
    found = joined(left, right)
    assert found.pairs == (("a", "c"),)
    assert found.joined_by == {"key+prompt": 1}


def test_nothing_is_joined_by_the_name_of_a_task() -> None:
    found = joined([("0", None, 1, 2)], [("0", None, 3, 4)])
    assert (found.pairs, found.comparable) == ((), False)


@pytest.mark.parametrize(("shared", "comparable"), [(1, False), (2, True), (4, True)])
def test_half_of_the_smaller_run_must_be_joined(shared: int, comparable: bool) -> None:
    left: list[Task] = [(f"l{n}", None, n, n) for n in range(4)]
    right: list[Task] = [(f"r{n}", None, n if n < shared else n + 100, n if n < shared else n + 100) for n in range(9)]
    assert joined(left, right).comparable is comparable


def test_no_tasks_are_not_comparable() -> None:
    assert not joined([], [("a", "x", 1, 2)]).comparable


MARK = st.none() | st.integers(0, 4)
ID = st.none() | st.sampled_from("uvwxyz")


def run_of(rows: list[tuple[str | None, int | None, int | None]]) -> list[Task]:
    return [(f"t{n}", *row) for n, row in enumerate(rows)]


# Within a run an id names one task.
RUNS = st.lists(st.tuples(ID, MARK, MARK), max_size=6, unique_by=lambda row: row[0] or object()).map(run_of)


@given(RUNS, RUNS)
def test_no_task_is_joined_twice_and_sides_can_be_exchanged(left: list[Task], right: list[Task]) -> None:
    one, other = joined(left, right), joined(right, left)
    assert len({a for a, _ in one.pairs}) == len({b for _, b in one.pairs}) == len(one.pairs)
    assert set(one.pairs) == {(a, b) for b, a in other.pairs}
    assert one.comparable == other.comparable
    assert may_be_comparable(tasks(*left), tasks(*right)) or not joined(left, right).comparable


def test_runs_without_a_common_mark_are_seen_at_once() -> None:
    left, right = run_of([("a", 1, 2), ("b", 3, None)]), run_of([("c", 4, 5), (None, None, 6)])
    assert not may_be_comparable(tasks(*left), tasks(*right))
    assert may_be_comparable(tasks(*left), tasks(*right, *run_of([("d", 3, None)])))


@given(RUNS)
def test_a_run_shares_every_named_task_with_itself(rows: list[Task]) -> None:
    found = joined(rows, rows)
    assert all(a == b for a, b in found.pairs)
    assert {name for name, mark, _, _ in rows if mark is not None} <= {a for a, _ in found.pairs}
    assert (found.key_changed, found.id_conflict) == ((), ())
