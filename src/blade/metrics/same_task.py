"""Which tasks of two runs are the same: by marks, each step only on marks that are unique on both sides."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

COMPARABLE = 0.5
"""Share of the smaller run's tasks that must be joined before two runs can be compared."""

_STEPS = (
    ("key+prompt", ("key_fp", "prompt_fp")),
    ("key+id", ("key_fp", "id_mark")),
    ("key", ("key_fp",)),
    ("prompt", ("prompt_fp",)),
    ("id", ("id_mark",)),
)


@dataclass(frozen=True, kw_only=True)
class SameTasks:
    """Joined tasks and how each pair was found."""

    pairs: tuple[tuple[str, str], ...]
    """Task ids in the first and in the second run, in the order of the first."""
    joined_by: dict[str, int]
    key_changed: tuple[tuple[str, str], ...]
    """Joined by prompt although the keys differ."""
    unproven: tuple[tuple[str, str], ...]
    """Joined by id alone."""
    id_conflict: tuple[str, ...]
    """Ids that stand for another key and another prompt; never joined."""
    comparable: bool


def same_tasks(first: pl.DataFrame, second: pl.DataFrame) -> SameTasks:
    """Join two task tables."""
    conflicts = _conflicts(first, second)
    left, right = first, second
    pairs: dict[str, tuple[str, str]] = {}
    for step, marks in _STEPS:
        # Unique in the whole run: the last task left with a common key is not the only one that has it.
        found = _join(_unique(first, marks), _unique(second, marks), left, right, marks)
        if step == "id":
            found = [pair for pair in found if pair[0] not in conflicts]
        pairs |= {a: (b, step) for a, b in found}
        left = left.filter(~pl.col("task_id").is_in([a for a, _ in found]))
        right = right.filter(~pl.col("task_id").is_in([b for _, b in found]))
    ordered = [(task, *pairs[task]) for task in first["task_id"] if task in pairs]
    smaller = min(first.height, second.height)
    return SameTasks(
        pairs=tuple((a, b) for a, b, _ in ordered),
        joined_by={step: n for step, _ in _STEPS if (n := sum(s == step for _, _, s in ordered))},
        key_changed=tuple((a, b) for a, b, s in ordered if s == "prompt" and _keys_differ(first, second, a, b)),
        unproven=tuple((a, b) for a, b, s in ordered if s == "id"),
        id_conflict=tuple(sorted(conflicts)),
        comparable=smaller > 0 and len(ordered) >= COMPARABLE * smaller,
    )


def _join(
    first: pl.DataFrame, second: pl.DataFrame, left: pl.DataFrame, right: pl.DataFrame, marks: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Pairs of tasks with the same marks, of those that are left on both sides."""
    first, second = first.join(left, on="task_id", how="semi"), second.join(right, on="task_id", how="semi")
    joined = first.join(second, on=list(marks), suffix="_other", maintain_order="left")
    return list(joined.select("task_id", "task_id_other").iter_rows())


def _unique(tasks: pl.DataFrame, marks: tuple[str, ...]) -> pl.DataFrame:
    known = tasks.drop_nulls(list(marks)).select("task_id", *marks)
    return known.filter(pl.len().over(list(marks)) == 1)


def _conflicts(first: pl.DataFrame, second: pl.DataFrame) -> set[str]:
    """Ids whose key differs and whose prompt differs (what neither side has does not differ)."""
    marks = ("id_mark", "key_fp", "prompt_fp")
    both = (
        first.drop_nulls("id_mark")
        .select("task_id", *marks)
        .join(second.drop_nulls("id_mark").select(*marks), on="id_mark", suffix="_other")
    )
    differ = (pl.col("key_fp") != pl.col("key_fp_other")) & (pl.col("prompt_fp") != pl.col("prompt_fp_other"))
    return set(both.filter(differ)["task_id"])


def _keys_differ(first: pl.DataFrame, second: pl.DataFrame, a: str, b: str) -> bool:
    keys = [side.filter(pl.col("task_id") == task)["key_fp"].item() for side, task in ((first, a), (second, b))]
    return keys[0] is not None and keys[1] is not None and keys[0] != keys[1]
