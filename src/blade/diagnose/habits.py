"""Pooled contrast: what rollouts do or leave out, fixed without looking at outcomes, against passing and failing.

Habits are the tools that a rollout never calls, calling nothing at all, and calling one tool without another first.
Each is tested within tasks and all of them in one family, so that trying many does not make one of them true.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import Struct

from blade.core.diagnosis import Grade, Habit
from blade.core.pattern import pattern_of
from blade.core.run import Run
from blade.core.tools import changes_state
from blade.metrics.counts import ranked
from blade.metrics.grades import Graded, Slices, grade, observe

FEWEST_TASKS = 5
_LOOKS_UP = pattern_of(r"(?:^|_)(?:get|find|search|look_?up|list|read|fetch|query|retrieve|view|check)(?:_|$)")
MOST_TOOLS = 12
"""Tools whose order is looked at; with more, the commonest."""
NEVER = 1 << 40
MOST_WALKS = 2_000
FEWEST_WALKS = 3
USUAL = 0.6

Flags = npt.NDArray[np.bool_]


class Candidate(Struct, frozen=True, kw_only=True):
    """A habit before it is tested."""

    id: str
    name: str
    flags: Flags


def observed(run: Run) -> list[tuple[Candidate, Graded]]:
    """Every habit that can be told apart in at least five tasks, with how it goes with failing."""
    if not run.rollouts["calls"].sum():
        return []
    rows = run.rollouts.select("task_id", "outcome", "calls", "skeleton")
    judged = rows.filter(pl.col("outcome").is_in(["passed", "failed"]) & pl.col("calls").is_not_null())
    if judged.is_empty() or not judged["calls"].sum():
        return []
    tasks, failed, slices = rollout_facts(judged, run)
    found = [one for one in _candidates(judged, run.tools) if _is_told_apart(one.flags, tasks)]
    return [(one, observe(tasks, one.flags, failed, slices)) for one in found]


def rollout_facts(judged: pl.DataFrame, run: Run) -> tuple[npt.NDArray[np.int64], Flags, Slices | None]:
    """Of judged rollouts: the task as a number, whether it failed, and what its key wants where all keys say."""
    _, tasks = ranked(judged["task_id"])
    failed = (judged["outcome"] == "failed").to_numpy()
    keys = run.tasks.select("task_id", "key_expects")
    wants = judged.select("task_id").join(keys, on="task_id", how="left", maintain_order="left")["key_expects"]
    return tasks, failed, _slices(wants) if wants.null_count() == 0 else None


def _slices(wants: pl.Series) -> Slices:
    names = wants.unique().sort()
    return Slices(names=tuple(names), codes=wants.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64))


def habits(seen: Sequence[tuple[Candidate, Graded]], q: Sequence[float | None]) -> tuple[Habit, ...]:
    """Habits with their grades, most strongly tied to failing first; `q` is each one's value in the whole family."""
    return tuple(sorted((_habit(one, look, value) for (one, look), value in zip(seen, q, strict=True)), key=_strength))


def _habit(one: Candidate, look: Graded, q: float | None) -> Habit:
    return Habit(
        id=one.id,
        name=one.name,
        grade=grade(look, q),
        with_failed=look.fired_failed,
        with_passed=look.fired_passed,
        without_failed=look.failed - look.fired_failed,
        without_passed=look.passed - look.fired_passed,
        risk_difference=look.association.risk_difference,
        p_value=look.association.p_value,
        q_value=q,
        informative=look.association.informative,
        mixed_in=look.mixed_in,
    )


def _strength(habit: Habit) -> tuple[int, float, str]:
    order = (Grade.SHOWN, Grade.MIXED, Grade.CONSISTENT, Grade.NOT_SETTLED, Grade.HARMLESS)
    return order.index(habit.grade), -abs(habit.risk_difference or 0.0), habit.id


def _is_told_apart(flags: Flags, tasks: npt.NDArray[np.int64]) -> bool:
    return all(np.count_nonzero(np.bincount(tasks[some])) >= FEWEST_TASKS for some in (flags, ~flags))


def _candidates(judged: pl.DataFrame, tools: tuple[str, ...]) -> list[Candidate]:
    first = _first_uses(judged)
    often = list(first)
    nothing = judged["calls"].to_numpy() == 0
    found = [Candidate(id="calls-nothing", name="calls nothing at all", flags=nothing)]
    for tool in often:
        name = tools[tool]
        found.append(Candidate(id=f"never:{name}", name=f"never calls `{name}`", flags=first[tool] == NEVER))
    for look, act in permutations(often, 2):
        if changes_state(tools[act]) and _LOOKS_UP.search(tools[look]) is not None:
            name = f"calls `{tools[act]}` without `{tools[look]}` before it"
            blind = (first[act] < NEVER) & (first[look] > first[act])
            found.append(Candidate(id=f"blind:{tools[act]}:{tools[look]}", name=name, flags=blind))
    return found


def _first_uses(judged: pl.DataFrame) -> dict[int, npt.NDArray[np.int64]]:
    """For each of the commonest tools, the place of its first call in every rollout; `NEVER` where it is not called."""
    walks = judged.select("skeleton").with_row_index("rollout").drop_nulls("skeleton")
    calls = walks.with_columns(pl.int_ranges(pl.col("skeleton").list.len()).alias("place")).explode("skeleton", "place")
    uses = calls.group_by("skeleton", "rollout").agg(pl.col("place").min())
    often = (
        uses.group_by("skeleton").len().sort(["len", "skeleton"], descending=[True, False])["skeleton"].head(MOST_TOOLS)
    )
    found = {}
    for tool in often:
        rows = uses.filter(pl.col("skeleton") == tool)
        first = np.full(judged.height, NEVER, dtype=np.int64)
        first[rows["rollout"].to_numpy()] = rows["place"].to_numpy()
        found[int(tool)] = first
    return found


def usual_before(run: Run, tool: str) -> list[tuple[str, int, int]]:
    """Look-ups that at least `USUAL` of the passing rollouts with `tool` make before it: name, how many, of how many."""
    if tool not in run.tools:
        return []
    act = run.tools.index(tool)
    walked = run.rollouts.select("outcome", "skeleton")
    passing = walked.filter((pl.col("outcome") == "passed") & pl.col("skeleton").list.contains(act))
    walks = [tuple(walk) for walk in passing["skeleton"].head(MOST_WALKS).to_list()]
    looks = sorted({look for walk in walks for look in walk if _LOOKS_UP.search(run.tools[look])})
    counts = [(run.tools[look], sum(look in walk[: walk.index(act)] for walk in walks), len(walks)) for look in looks]
    usual = [one for one in counts if one[2] >= FEWEST_WALKS and one[1] >= USUAL * one[2]]
    return sorted(usual, key=lambda one: (-one[1], one[0]))
