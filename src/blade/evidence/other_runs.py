"""What other runs of a benchmark say about the tasks of a run: that they can be passed, or that all models err alike."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from blade.model.diagnosis import Elsewhere
from blade.model.run import Run
from blade.stats.counts import JUDGED, PASSED

FEWEST_KINDS = 10
"""Different answers that a run must give before two answers that are the same say anything."""
ENOUGH_REPEATS = 3
"""Judged rollouts of both runs before always and never are more than luck."""
COMMON = 0.1
"""An answer to more than this share of the tasks is one that agrees by chance."""

_ENTRY = pl.element().struct.field
_IN_DOUBT = _ENTRY("kind").is_in(["error", "no record"]) | (_ENTRY("kind").eq("answer") & _ENTRY("name").eq("equal"))
REJECTED = ~pl.col("differs").list.eval(_IN_DOUBT).list.any().fill_null(False)
"""Rollouts whose answer is wrong by the verifier's word: it did not fail itself, and the answer is not that of the key."""

Pairs = Sequence[tuple[str, str]]


def elsewhere(runs: Sequence[Run], same: Sequence[tuple[Run, Run, Pairs]]) -> dict[str, Elsewhere]:
    """For each run by name; `same` are pairs of runs with the tasks that are the same in both."""
    facts = {run.name: _Facts(run) for run in runs if any(run.name in (one.name, two.name) for one, two, _ in same)}
    found = {run.name: _Found() for run in runs}
    for one, two, pairs in (each for a, b, both in same for each in ((a, b, both), (b, a, _turned(both)))):
        for mine, other in pairs:
            _note(found[one.name], mine, facts[one.name], other, facts[two.name])
    return {name: one.settled() for name, one in found.items()}


class _Facts:
    """What is known of each task of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.passes = _passes(run)
        self.wrong = _wrong(run)
        self.words = _words(run)
        shares = [passed / judged for passed, judged in self.passes.values() if judged]
        self.score = sum(shares) / len(shares) if shares else 0.0


class _Found:
    """What the other runs say of a run's tasks, while it is gathered."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.models: dict[str, set[str]] = {}
        self.weaker: dict[str, str] = {}
        self.words: dict[str, str] = {}

    def settled(self) -> Elsewhere:
        return Elsewhere(
            passed=frozenset(self.passed),
            same_wrong={task: len(named) for task, named in self.models.items() if task not in self.passed},
            weaker_passes=self.weaker,
            same_words={task: said for task, said in self.words.items() if task not in self.passed},
        )


def _note(found: _Found, mine: str, here: _Facts, other: str, there: _Facts) -> None:
    """What one other run says of one task."""
    passed, judged = there.passes.get(other, (0, 0))
    if passed:
        found.passed.add(mine)
        weak = there.score < here.score and passed == judged
        if weak and min(judged, _lost(here, mine)) >= ENOUGH_REPEATS:
            found.weaker.setdefault(mine, there.run.name)
        return
    if not _differ(here.run, there.run) or not judged:
        return
    if mine in here.wrong and here.wrong[mine] == there.wrong.get(other):
        found.models.setdefault(mine, set()).add(there.run.model or there.run.name)
    if mine in here.words and here.words[mine] == there.words.get(other):
        found.words.setdefault(mine, here.words[mine])


def _lost(facts: _Facts, task: str) -> int:
    """Judged rollouts of a task that no rollout passes; 0 where one does."""
    passed, judged = facts.passes.get(task, (0, 0))
    return 0 if passed else judged


def _passes(run: Run) -> dict[str, tuple[int, int]]:
    rows = run.rollouts.group_by("task_id").agg(PASSED.sum().alias("passed"), JUDGED.sum().alias("judged"))
    return {task: (passed, judged) for task, passed, judged in rows.iter_rows()}


def _words(run: Run) -> dict[str, str]:
    """By task that no rollout passes: what the verifier says in every failure of it, and seldom of other tasks."""
    rows = run.rollouts.select("task_id", "repeat", "outcome", "differs").filter(JUDGED)
    lost = rows.filter(~PASSED.any().over("task_id")).drop("outcome")
    if lost.is_empty():
        return {}
    said = (
        lost.explode("differs")
        .unnest("differs")
        .filter(pl.col("kind").is_in(["said", "check"]) & (pl.col("detail") != ""))
    )
    sizes = lost.group_by("task_id").len().rename({"len": "failures"})
    words = said.unique(["task_id", "repeat", "detail"]).group_by("task_id", "detail").len().join(sizes, on="task_id")
    every = words.filter(pl.col("len") == pl.col("failures"))
    rare = every.filter(pl.col("task_id").n_unique().over("detail") <= max(1.0, COMMON * sizes.height))
    return dict(
        rare.sort("task_id", "detail")
        .unique("task_id", keep="first", maintain_order=True)
        .select("task_id", "detail")
        .iter_rows()
    )


def _turned(pairs: Pairs) -> Pairs:
    return [(other, mine) for mine, other in pairs]


def _differ(one: Run, two: Run) -> bool:
    """Whether two runs are of two models, so that what they share is not one model's habit."""
    return one.model is not None and two.model is not None and one.model != two.model


def _wrong(run: Run) -> dict[str, int]:
    """By task that no rollout passes: the fingerprint of the one answer that every judged rollout gives, if it is rare."""
    tasks = (
        run.rollouts.select("task_id", "outcome", "differs", "answer_fp")
        .filter(JUDGED)
        .group_by("task_id")
        .agg(
            lost=~PASSED.any() & REJECTED.all(),
            kinds=pl.col("answer_fp").n_unique(),
            unknown=pl.col("answer_fp").null_count(),
            answer=pl.col("answer_fp").first(),
        )
    )
    share = pl.len().over("answer") / max(1, tasks.height)
    alike = (pl.col("kinds") == 1) & (pl.col("unknown") == 0)
    if tasks["answer"].n_unique() < FEWEST_KINDS:
        return {}
    return dict(tasks.filter(alike & pl.col("lost") & (share <= COMMON)).select("task_id", "answer").iter_rows())
