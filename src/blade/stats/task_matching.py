"""Which tasks of two runs are the same: by fingerprints, each step only on fingerprints that are unique on both sides."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from msgspec import Struct

COMPARABLE = 0.5
"""Share of the smaller run's tasks that must be joined before two runs can be compared."""

_STEPS = (
    ("key+prompt", ("key_fp", "prompt_fp")),
    ("key+id", ("key_fp", "id_mark")),
    ("key", ("key_fp",)),
    ("prompt", ("prompt_fp",)),
    ("id", ("id_mark",)),
)

_FINGERPRINTS = ("key_fp", "prompt_fp", "id_mark")
Fingerprints = Mapping[str, int | str | None]
Fingerprint = tuple[int | str | None, ...]


class SameTasks(Struct, frozen=True, kw_only=True):
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


def may_be_comparable(first: pl.DataFrame, second: pl.DataFrame) -> bool:
    """Whether so many tasks of two runs could be joined at all; a quick look that `same_tasks` makes sure of.

    Tasks can be joined only if they have a fingerprint in common, and most runs that stand in one file have none.
    """
    common = [
        pl.col(fingerprint).is_in(second[fingerprint].drop_nulls().implode()).fill_null(value=False)
        for fingerprint in _FINGERPRINTS
    ]
    shared = int(first.select(pl.any_horizontal(common).sum()).item())
    return shared >= COMPARABLE * min(first.height, second.height)


def same_tasks(first: pl.DataFrame, second: pl.DataFrame) -> SameTasks:
    """Join two task tables."""
    one, two = _fingerprints_of(first), _fingerprints_of(second)
    conflicts = _conflicts(one, two)
    pairs: dict[str, tuple[str, str]] = {}
    taken: set[str] = set()
    for step, fingerprints in _STEPS:
        # Unique in the whole run: the last task left with a common key is not the only one that has it.
        ours, theirs = _unique(one, fingerprints), _unique(two, fingerprints)
        for fingerprint, task in ours.items():
            other = theirs.get(fingerprint)
            if other is None or task in pairs or other in taken or (step == "id" and task in conflicts):
                continue
            pairs[task] = (other, step)
            taken.add(other)
    ordered = [(task, *pairs[task]) for task in one if task in pairs]
    smaller = min(len(one), len(two))
    return SameTasks(
        pairs=tuple((a, b) for a, b, _ in ordered),
        joined_by={step: n for step, _ in _STEPS if (n := sum(s == step for _, _, s in ordered))},
        key_changed=tuple((a, b) for a, b, s in ordered if s == "prompt" and _differ(one[a], two[b], "key_fp")),
        unproven=tuple((a, b) for a, b, s in ordered if s == "id"),
        id_conflict=tuple(sorted(conflicts)),
        comparable=smaller > 0 and len(ordered) >= COMPARABLE * smaller,
    )


def _fingerprints_of(tasks: pl.DataFrame) -> dict[str, Fingerprints]:
    """The fingerprints of each task, in the order of the table."""
    rows = tasks.select("task_id", "key_fp", "prompt_fp", "id_mark").iter_rows()
    return {
        task: {"key_fp": key, "prompt_fp": prompt, "id_mark": fingerprint} for task, key, prompt, fingerprint in rows
    }


def _unique(tasks: Mapping[str, Fingerprints], fingerprints: tuple[str, ...]) -> dict[Fingerprint, str]:
    """Tasks by their fingerprints, of those that have all of them and share them with no other."""
    found: dict[Fingerprint, str | None] = {}
    for task, known in tasks.items():
        fingerprint = tuple(known[name] for name in fingerprints)
        if None not in fingerprint:
            found[fingerprint] = None if fingerprint in found else task
    return {fingerprint: task for fingerprint, task in found.items() if task is not None}


def _conflicts(one: Mapping[str, Fingerprints], two: Mapping[str, Fingerprints]) -> set[str]:
    """Ids whose key differs and whose prompt differs (what neither side has does not differ)."""
    named: dict[int | str | None, list[Fingerprints]] = {}
    for known in two.values():
        named.setdefault(known["id_mark"], []).append(known)
    return {
        task
        for task, known in one.items()
        if known["id_mark"] is not None
        for other in named.get(known["id_mark"], ())
        if _differ(known, other, "key_fp") and _differ(known, other, "prompt_fp")
    }


def _differ(one: Fingerprints, two: Fingerprints, fingerprint: str) -> bool:
    return one[fingerprint] is not None and two[fingerprint] is not None and one[fingerprint] != two[fingerprint]
