"""Pooled contrast: what rollouts do or leave out, fixed without looking at outcomes, against passing and failing.

Habits are the tools that a rollout never calls, calling nothing at all, and calling one tool without another first.
Each is tested within tasks and all of them in one family, so that trying many does not make one of them true.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import polars as pl
from msgspec import Struct

from blade.model.diagnosis import Habit, Support
from blade.model.pattern import pattern_of
from blade.model.run import Run
from blade.model.tools import changes_state
from blade.stats.association import Strata
from blade.stats.rollout_index import Flags, Integers
from blade.stats.support import SymptomCounts, Tested, support

FEWEST_TASKS = 5
_LOOKS_UP = pattern_of(r"(?:^|_)(?:get|find|search|look_?up|list|read|fetch|query|retrieve|view|check)(?:_|$)")
MOST_TOOLS = 12
"""Tools whose order is looked at; with more, the commonest."""
NEVER = 1 << 40
MOST_WALKS = 2_000
FEWEST_WALKS = 3
USUAL = 0.6


class Candidate(Struct, frozen=True, kw_only=True):
    """A habit before it is tested."""

    id: str
    name: str
    flags: Flags


def observed(tested: Tested) -> list[tuple[Candidate, SymptomCounts]]:
    """Every habit that can be told apart in at least five tasks, with how it goes with failing."""
    run = tested.rollouts.run
    calls = run.rollouts["calls"]
    if not calls.sum():
        return []
    walked = tested.among(calls.is_not_null().to_numpy())
    if not calls.filter(pl.Series(walked.which)).sum():
        return []
    found = [(one, walked.strata(one.flags)) for one in _candidates(walked)]
    return [(one, walked.observe(one.flags, strata)) for one, strata in found if _is_told_apart(strata)]


def habits(seen: Sequence[tuple[Candidate, SymptomCounts]], q: Sequence[float | None]) -> tuple[Habit, ...]:
    """Habits with their grades, most strongly tied to failing first; `q` is each one's value in the whole family."""
    return tuple(
        sorted((_habit(one, detect, value) for (one, detect), value in zip(seen, q, strict=True)), key=_strength)
    )


def _habit(one: Candidate, detect: SymptomCounts, q: float | None) -> Habit:
    return Habit(
        id=one.id,
        name=one.name,
        support=support(detect, q),
        with_failed=detect.fired_failed,
        with_passed=detect.fired_passed,
        without_failed=detect.failed - detect.fired_failed,
        without_passed=detect.passed - detect.fired_passed,
        risk_difference=detect.association.risk_difference,
        p_value=detect.association.p_value,
        q_value=q,
        informative=detect.association.informative,
        mixed_in=detect.mixed_in,
    )


def _strength(habit: Habit) -> tuple[int, float, str]:
    order = (Support.SHOWN, Support.MIXED, Support.CONSISTENT, Support.UNCLEAR, Support.HARMLESS)
    return order.index(habit.support), -abs(habit.risk_difference or 0.0), habit.id


def _is_told_apart(strata: Strata) -> bool:
    return all(np.count_nonzero(some) >= FEWEST_TASKS for some in (strata.fired, strata.total - strata.fired))


def _candidates(walked: Tested) -> list[Candidate]:
    run = walked.rollouts.run
    first, tools = _first_uses(run.rollouts["skeleton"], walked.which), run.tools
    often = list(first)
    nothing = (run.rollouts["calls"] == 0).fill_null(value=False).to_numpy()
    found = [Candidate(id="calls-nothing", name="calls nothing at all", flags=nothing)]
    for tool in often:
        name = tools[tool]
        found.append(Candidate(id=f"never:{name}", name=f"never calls `{name}`", flags=first[tool] == NEVER))
    for detect, act in permutations(often, 2):
        if changes_state(tools[act]) and _LOOKS_UP.search(tools[detect]) is not None:
            name = f"calls `{tools[act]}` without `{tools[detect]}` before it"
            blind = (first[act] < NEVER) & (first[detect] > first[act])
            found.append(Candidate(id=f"blind:{tools[act]}:{tools[detect]}", name=name, flags=blind))
    return found


def _first_uses(skeletons: pl.Series, which: Flags) -> dict[int, Integers]:
    """For each of the tools that most of some rollouts call: the place of its first call in every rollout of the run.

    It is `NEVER` where the tool is not called.
    """
    lengths = skeletons.list.len().fill_null(0).to_numpy().astype(np.int64)
    tool = skeletons.drop_nulls().explode(empty_as_null=False).to_numpy()
    rollout = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(tool)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    by_tool = np.argsort(tool, kind="stable")
    tool, rollout, place = (column[by_tool] for column in (tool, rollout, place))
    first = (np.diff(tool, prepend=-1) != 0) | (np.diff(rollout, prepend=-1) != 0)
    tool, rollout, place = (column[first] for column in (tool, rollout, place))
    times = np.bincount(tool[which[rollout]])
    often = sorted(np.flatnonzero(times).tolist(), key=lambda one: (-times[one], one))[:MOST_TOOLS]
    found = {}
    for one in often:
        mine = slice(*np.searchsorted(tool, [one, one + 1]))
        found[one] = np.full(len(lengths), NEVER, dtype=np.int64)
        found[one][rollout[mine]] = place[mine]
    return found


def usual_before(run: Run, tool: str) -> list[tuple[str, int, int]]:
    """Look-ups that at least `USUAL` of the passing rollouts with `tool` make before it: name, how many, of how many."""
    if tool not in run.tools:
        return []
    act = run.tools.index(tool)
    walked = run.rollouts.select("outcome", "skeleton")
    passing = walked.filter((pl.col("outcome") == "passed") & pl.col("skeleton").list.contains(act))
    walks = [tuple(walk) for walk in passing["skeleton"].head(MOST_WALKS).to_list()]
    looks = sorted({detect for walk in walks for detect in walk if _LOOKS_UP.search(run.tools[detect])})
    counts = [
        (run.tools[detect], sum(detect in walk[: walk.index(act)] for walk in walks), len(walks)) for detect in looks
    ]
    usual = [one for one in counts if one[2] >= FEWEST_WALKS and one[1] >= USUAL * one[2]]
    return sorted(usual, key=lambda one: (-one[1], one[0]))
