"""Pooled contrast: what rollouts do or leave out, fixed without looking at outcomes, against passing and failing.

Habits are the tools that a rollout never calls, calling nothing at all, and calling one tool without another first.
Each is tested within tasks and all of them in one family, so that trying many does not make one of them true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt
import polars as pl

from blade.core.diagnosis import Grade, Habit
from blade.core.run import Run
from blade.core.tools import changes_state
from blade.metrics.association import benjamini_hochberg
from blade.metrics.grades import grade, observe

FEWEST_TASKS = 5
_LOOKS_UP = re.compile(r"(?:^|_)(?:get|find|search|look_?up|list|read|fetch|query|retrieve|view|check)(?:_|$)")
MOST_TOOLS = 12
"""Tools whose order is looked at; with more, the commonest."""
MOST_ROLLOUTS = 200_000
MOST_WALKS = 2_000
FEWEST_WALKS = 3
USUAL = 0.6

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    id: str
    name: str
    flags: Flags


def habits(run: Run) -> tuple[Habit, ...]:
    """Every habit that can be told apart in at least five tasks, most strongly tied to failing first."""
    judged = run.rollouts.filter(pl.col("outcome").is_in(["passed", "failed"]) & pl.col("calls").is_not_null())
    if judged.is_empty() or judged.height > MOST_ROLLOUTS or not judged["calls"].sum():
        return ()
    tasks = judged["task_id"].to_numpy()
    failed = (judged["outcome"] == "failed").to_numpy()
    slices = judged.join(run.tasks.select("task_id", "key_expects"), on="task_id", how="left", maintain_order="left")
    wants = slices["key_expects"]
    chosen = wants.to_numpy() if wants.null_count() == 0 else None
    found = [one for one in _candidates(judged, run.tools) if _is_told_apart(one.flags, tasks)]
    seen = [observe(tasks, one.flags, failed, chosen) for one in found]
    tested = [n for n, one in enumerate(seen) if one.association.p_value is not None]
    values: Iterable[float] = benjamini_hochberg([seen[n].association.p_value or 0.0 for n in tested]) if tested else []
    q = dict(zip(tested, map(float, values), strict=True))
    made = [
        Habit(
            id=one.id,
            name=one.name,
            grade=grade(look, q.get(n)),
            with_failed=look.fired_failed,
            with_passed=look.fired_passed,
            without_failed=look.failed - look.fired_failed,
            without_passed=look.passed - look.fired_passed,
            risk_difference=look.association.risk_difference,
            p_value=look.association.p_value,
            q_value=q.get(n),
            informative=look.association.informative,
            mixed_in=look.mixed_in,
        )
        for n, (one, look) in enumerate(zip(found, seen, strict=True))
    ]
    return tuple(sorted(made, key=_strength))


def _strength(habit: Habit) -> tuple[int, float, str]:
    order = (Grade.SHOWN, Grade.MIXED, Grade.CONSISTENT, Grade.NOT_SETTLED, Grade.HARMLESS)
    return order.index(habit.grade), -abs(habit.risk_difference or 0.0), habit.id


def _is_told_apart(flags: Flags, tasks: npt.NDArray[np.object_]) -> bool:
    return len(set(tasks[flags])) >= FEWEST_TASKS and len(set(tasks[~flags])) >= FEWEST_TASKS


def _candidates(judged: pl.DataFrame, tools: tuple[str, ...]) -> list[_Candidate]:
    walks = [tuple(walk or ()) for walk in judged["skeleton"].to_list()]
    used = sorted({tool for walk in walks for tool in walk})
    commonest = sorted(used, key=lambda tool: (-sum(tool in walk for walk in walks), tool))[:MOST_TOOLS]
    found = [_Candidate(id="calls-nothing", name="calls nothing at all", flags=np.array([not walk for walk in walks]))]
    for tool in commonest:
        flags = np.array([tool not in walk for walk in walks])
        found.append(_Candidate(id=f"never:{tools[tool]}", name=f"never calls `{tools[tool]}`", flags=flags))
    for look, act in permutations(commonest, 2):
        if changes_state(tools[act]) and _LOOKS_UP.search(tools[look]) is not None:
            flags = np.array([_acts_blind(walk, look, act) for walk in walks])
            name = f"calls `{tools[act]}` without `{tools[look]}` before it"
            found.append(_Candidate(id=f"blind:{tools[act]}:{tools[look]}", name=name, flags=flags))
    return found


def _acts_blind(walk: tuple[int, ...], look: int, act: int) -> bool:
    return act in walk and look not in walk[: walk.index(act)]


def usual_before(run: Run, tool: str) -> list[tuple[str, int, int]]:
    """Look-ups that at least `USUAL` of the passing rollouts with `tool` make before it: name, how many, of how many."""
    if tool not in run.tools:
        return []
    act = run.tools.index(tool)
    passing = run.rollouts.filter((pl.col("outcome") == "passed") & pl.col("skeleton").list.contains(act))
    walks = [tuple(walk) for walk in passing["skeleton"].head(MOST_WALKS).to_list()]
    looks = sorted({look for walk in walks for look in walk if _LOOKS_UP.search(run.tools[look])})
    counts = [(run.tools[look], sum(look in walk[: walk.index(act)] for walk in walks), len(walks)) for look in looks]
    usual = [one for one in counts if one[2] >= FEWEST_WALKS and one[1] >= USUAL * one[2]]
    return sorted(usual, key=lambda one: (-one[1], one[0]))
