"""What rollouts do or leave out, and words in their results, against passing and failing: fixed without looking at outcomes.

Habits are the tools that a rollout never calls, calling nothing at all, and calling one tool without another first.
Each is tested within tasks and all of them in one family, so that trying many does not make one of them true. Of words
that alarm a reader, only tasks with both outcomes can tell, and of them the rollouts that were read again: nothing is
read for this.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import permutations

import numpy as np
import polars as pl
from msgspec import Struct

from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RereadRollouts
from blade.model.diagnosis import Alarm, Habit, Support
from blade.model.finding import Evidence
from blade.model.pattern import pattern_of
from blade.model.run import Run
from blade.model.tools import changes_state
from blade.rules.phrases import search_for
from blade.stats.association import Strata, within_tasks
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
WORDS: tuple[tuple[str, str], ...] = (
    ("error", r"\berrors?\b|\w+Error\b"),
    ("traceback", r"\btraceback \(most recent call last\)"),
    ("exception", r"\bexceptions?\b|\w+Exception\b"),
    ("timeout", r"\btime(?:d )?[ -]?outs?\b|\w*Timeout\w*"),
    ("429", r"\b429\b|\btoo many requests\b|\brate limit"),
    ("5xx", r"\b(?:http|status|code|error)\W{1,4}50[0234]\b|\binternal server error\b|\bbad gateway\b"),
    ("permission denied", r"\bpermission denied\b|\baccess denied\b|\bforbidden\b|\bEACCES\b"),
    ("not found", r"\b(?:command |file )?not found\b|\bno such file\b"),
    ("connection refused", r"\bconnection (?:refused|reset)\b|\bECONNRE\w+"),
    ("killed", r"\bkilled\b|\bout of memory\b|\bsegmentation fault\b"),
    ("warning", r"\bwarnings?\b|\bdeprecated\b"),
)
"""What readers stop at, with the pattern that finds it."""
FEWEST = 3
"""Passing rollouts that must hold a word before it can be called harmless."""
AROUND = 60


class HabitCandidate(Struct, frozen=True, kw_only=True):
    """A habit before it is tested."""

    id: str
    name: str
    flags: Flags


def observed(tested: Tested) -> list[tuple[HabitCandidate, SymptomCounts]]:
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


def habits(seen: Sequence[tuple[HabitCandidate, SymptomCounts]], q: Sequence[float | None]) -> tuple[Habit, ...]:
    """Habits with their support, most strongly tied to failing first; `q` is each one's value in the whole family."""
    return tuple(
        sorted((_habit(one, detect, value) for (one, detect), value in zip(seen, q, strict=True)), key=_strength)
    )


def _habit(one: HabitCandidate, detect: SymptomCounts, q: float | None) -> Habit:
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


def _candidates(walked: Tested) -> list[HabitCandidate]:
    run = walked.rollouts.run
    first, tools = _first_uses(run.rollouts["skeleton"], walked.which), run.tools
    often = list(first)
    nothing = (run.rollouts["calls"] == 0).fill_null(value=False).to_numpy()
    found = [HabitCandidate(id="calls-nothing", name="calls nothing at all", flags=nothing)]
    for tool in often:
        name = tools[tool]
        found.append(HabitCandidate(id=f"never:{name}", name=f"never calls `{name}`", flags=first[tool] == NEVER))
    for detect, act in permutations(often, 2):
        if changes_state(tools[act]) and _LOOKS_UP.search(tools[detect]) is not None:
            name = f"calls `{tools[act]}` without `{tools[detect]}` before it"
            blind = (first[act] < NEVER) & (first[detect] > first[act])
            found.append(HabitCandidate(id=f"blind:{tools[act]}:{tools[detect]}", name=name, flags=blind))
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


def alarms(reading: RereadRollouts) -> tuple[Alarm, ...]:
    """Every alarming word that results of sometimes-pass tasks hold, with its counts; the commonest in passes first."""
    walks = [walk for task in reading.sometimes for walk in reading.of(task)]
    texts = ["\n".join(step.text for step in walk.steps if step.party == "tool") for walk in walks]
    held = _held(texts)
    found = [
        alarm
        for number, (word, pattern) in enumerate(WORDS)
        for alarm in _alarm(word, re.compile(pattern, re.IGNORECASE), walks, [number in numbers for numbers in held])
    ]
    return tuple(sorted(found, key=lambda one: (-one.fired_passed, one.word)))


def _held(texts: list[str]) -> list[Collection[int]]:
    """The numbers of the words that each text holds. In ASCII a search is as good as the pattern; else it is confirmed."""
    patterns = [re.compile(pattern, re.IGNORECASE) for _, pattern in WORDS]
    search = search_for([(number, (pattern,)) for number, (_, pattern) in enumerate(WORDS)])
    found: list[Collection[int]] = [search(text) for text in texts]
    return [
        numbers if text.isascii() else {n for n in numbers if patterns[n].search(text)}
        for text, numbers in zip(texts, found, strict=True)
    ]


def _alarm(word: str, pattern: re.Pattern[str], walks: list[AlignedTrajectory], holds: list[bool]) -> Iterator[Alarm]:
    held = np.asarray(holds, dtype=bool)
    failed = np.asarray([not walk.passed for walk in walks], dtype=bool)
    if not held.any():
        return
    seen = within_tasks([walk.rollout.key.task_id for walk in walks], held, failed)
    difference = seen.risk_difference
    if difference is None:
        difference = _share(held, failed) - _share(held, ~failed)
    passes = [walk for walk, hit in zip(walks, held, strict=True) if hit and walk.passed]
    evidence = _quote(passes[0], pattern) if passes else None
    yield Alarm(
        word=word,
        fired_failed=int((held & failed).sum()),
        failed=int(failed.sum()),
        fired_passed=len(passes),
        passed=int((~failed).sum()),
        harmless=len(passes) >= FEWEST and difference <= 0,
        evidence=(evidence,) if evidence else (),
    )


def _share(held: np.ndarray, of: np.ndarray) -> float:
    return float(held[of].mean()) if of.any() else 0.0


def _quote(walk: AlignedTrajectory, pattern: re.Pattern[str]) -> Evidence | None:
    """The word in a passing rollout, with what stands around it."""
    for step in walk.steps:
        match = pattern.search(step.text) if step.party == "tool" else None
        if match is not None:
            quote = step.text[max(0, match.start() - AROUND) : match.end() + AROUND].strip()
            return Evidence(key=walk.rollout.key, step=step.index, field="text", quote=quote)
    return None
