"""What each failure has: the kinds of its differences, its tests and criteria, and what the verifier says of it."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from blade.attribution.differences_that_count import ACTIONS, ROW, Differences
from blade.attribution.groups import A_RULE, A_TOTAL, BEFORE_JUDGING, NUMBERED
from blade.evidence.differences import ABSENT, EVERY_TEST, UNDECIDED
from blade.model.finding import Differs
from blade.model.run import Run
from blade.stats.rollout_index import SINGLE, Flags, Integers, RolloutIndex

_WORD_ORDER = ("label", "reason", "mode", "message", "verdict", "status", "error", "explanation", "outcome", "result")
"""Which of the verifier's fields speaks first; logs and exit codes come last."""
_PLACE_IN_A_LIST = r"\.\d+$"
"""Which of several words it is does not tell one mode from another."""
KEYS = ["task_id", "repeat"]


def symptoms(told: Differences, rollouts: RolloutIndex) -> pl.DataFrame:
    """A row a failure, in the order of the table; only the columns of what some failure has."""
    failures = np.flatnonzero(rollouts.failed)
    parts = (_flags(told, failures), _checked(told, rollouts), _spoken(told, failures), _judged_otherwise(rollouts))
    return pl.concat([rollouts.run.rollouts.select(KEYS)[failures], *parts], how="horizontal")


def named(long: pl.DataFrame, run: Run) -> pl.DataFrame:
    """Differences with the task and the repeat of their rollouts."""
    places = run.rollouts.select(KEYS)[long[ROW]]
    return pl.concat([long.select(ROW), places, long.drop(ROW)], how="horizontal")


def _flags(told: Differences, failures: Integers) -> pl.DataFrame:
    """For each failure: which kinds of difference it has, and the first step at which a call differs.

    Only the columns of differences that there are.
    """
    place, what = np.searchsorted(failures, told.rows[ROW]), told.rows["what"].to_numpy()

    def has(which: Flags) -> Flags:
        found = np.zeros(len(failures), np.bool_)
        found[place[which]] = True
        return found

    def count(which: Flags) -> Integers:
        return np.bincount(place[which], minlength=len(failures))

    def first_name(which: Flags) -> pl.Series:
        found = np.full(len(failures), told.kinds.height)
        # Of several the first is written last.
        found[place[which][::-1]] = what[which][::-1]
        return told.kinds["name"].extend_constant(None, 1)[found]

    makers = {**dict.fromkeys(COUNTED, count), **dict.fromkeys(_FIRST_NAMES, first_name)}
    there = told.kinds.select(**_HAS)
    columns = {column.name: makers.get(column.name, has)(column.to_numpy()[what]) for column in there if column.any()}
    return pl.DataFrame({**columns, "step": _first_step(told, failures)})


def _is(kind: Differs, *names: str) -> pl.Expr:
    return (pl.col("kind") == kind) & pl.col("name").is_in(names) if names else pl.col("kind") == kind


_BY_RULE = pl.col("name").str.contains(A_RULE)
_NOTHING_MORE = pl.col("detail") == ""
_UNDECIDED = pl.col("detail") == UNDECIDED
COUNTED = ("arguments", "missing", "extra")
_FIRST_NAMES = ("broken", "cut")
_HAS: dict[str, pl.Expr] = {
    "machinery": _is(Differs.ERROR) & ~_BY_RULE,
    "broken": _is(Differs.ERROR) & _BY_RULE,
    "no_verdict": _is(Differs.NO_RECORD) & _NOTHING_MORE,
    "undecided": _is(Differs.NO_RECORD) & _UNDECIDED,
    "verifier_failed": _is(Differs.NO_RECORD) & ~_NOTHING_MORE & ~_UNDECIDED,
    "declined": _is(Differs.NO_ANSWER, "declined"),
    "lookup_argument": _is(Differs.LOOKUP) & ~_NOTHING_MORE,
    "cut": _is(Differs.CUT),
    "no_output": _is(Differs.NO_ANSWER, "output"),
    "only_thought": _is(Differs.NO_ANSWER, "thought"),
    "empty_answer": _is(Differs.NO_ANSWER, "answer"),
    "no_answer": _is(Differs.ANSWER, "none"),
    "not_extracted": _is(Differs.ANSWER, "not extracted"),
    "several": _is(Differs.ANSWER, "several"),
    "different": _is(Differs.ANSWER, "different"),
    "equal": _is(Differs.ANSWER, "equal", "other form"),
    "contained": _is(Differs.ANSWER, "contained"),
    "absent": _is(Differs.ANSWER, ABSENT),
    "unwanted": _is(Differs.UNWANTED),
    "not_made": _is(Differs.NOT_MADE),
    "arguments": _is(Differs.ARGUMENT),
    "missing": _is(Differs.MISSING),
    "extra": _is(Differs.EXTRA),
    "not_said": _is(Differs.NOT_SAID),
    "lookup": _is(Differs.LOOKUP),
    "refused": _is(Differs.REFUSED),
}
"""What a failure may have, and the kinds of difference that say so."""


def _first_step(told: Differences, failures: Integers) -> pl.Series:
    if not told.has(*ACTIONS):
        return pl.repeat(None, len(failures), dtype=pl.Int32, eager=True)
    acts = told.only(pl.col("kind").is_in(list(ACTIONS))).rows.drop_nulls("step")
    return _at(failures, acts.group_by(ROW).agg(pl.col("step").min()))["step"]


def _at(failures: Integers, found: pl.DataFrame) -> pl.DataFrame:
    """What is known of some rollouts, beside each failure."""
    beside = np.full(len(failures), found.height)
    beside[np.searchsorted(failures, found[ROW])] = np.arange(found.height)
    known = found.drop(ROW)
    return pl.concat([known, known.clear(1)])[beside]


def _checked(told: Differences, rollouts: RolloutIndex) -> pl.DataFrame:
    """For each failure with a failed test or criterion: the commonest that it shares with others, and how many failed."""
    failures = np.flatnonzero(rollouts.failed)
    if not told.has(Differs.CHECK):
        return pl.DataFrame()
    checks = named(told.only(pl.col("kind") == Differs.CHECK).long, rollouts.run)
    commonness = checks.group_by("name").agg(
        pl.col(ROW).n_unique().alias("times"), pl.col("task_id").n_unique().alias("tasks")
    )
    alone = rollouts.run.tasks.height == 1
    shared = (pl.col("tasks") > 1) | (alone & (pl.col("times") > 1))
    numbered = pl.col("name").str.contains(NUMBERED)
    commonness = commonness.with_columns((shared & ~numbered).alias("shared"))
    ranked = checks.join(commonness, on="name", how="left").sort(
        ["shared", "tasks", "times", "name"], descending=[True, True, True, False]
    )
    first = ranked.group_by(ROW).agg(
        check=pl.when(pl.col("shared").first()).then(pl.col("name").first()),
        is_total=pl.col("detail").first() == A_TOTAL,
        failed_checks=pl.len(),
    )
    totals = rollouts.run.rollouts.select(
        all_checks="checks_asked", failed_of_all=pl.col("checks_asked") - pl.col("checks_met")
    )
    return _at(failures, pl.concat([first, totals[first[ROW]]], how="horizontal"))


def _spoken(told: Differences, failures: Integers) -> pl.DataFrame:
    """For each failure: the verifier's words that speak first."""
    if not told.has(Differs.SAID):
        return pl.DataFrame()
    said = told.only(pl.col("kind") == Differs.SAID).long
    ranks = {name: _word_rank(name) for name in said["name"].unique()}
    rank = pl.col("name").replace_strict(list(ranks), list(ranks.values()), return_dtype=pl.Int32).alias("rank")
    ordered = said.with_columns(rank).sort([ROW, "rank"], maintain_order=True)
    flag = pl.col("detail").str.contains(BEFORE_JUDGING)
    spoken = ordered.group_by(ROW).agg(
        words=pl.col("detail").first(),
        field=pl.col("name").first().str.replace(_PLACE_IN_A_LIST, ""),
        flag=pl.col("detail").filter(flag).first(),
        flagged_in=pl.col("name").filter(flag).first(),
    )
    return _at(failures, spoken)


def _judged_otherwise(rollouts: RolloutIndex) -> pl.DataFrame:
    """Failures of one message, or a thought and a message, that another rollout of the task passes with."""
    alone = (
        rollouts.repeats_itself
        & rollouts.run.rollouts.select((pl.col("calls") == 0) & (pl.col("steps") <= SINGLE))
        .to_series()
        .fill_null(value=False)
        .to_numpy()
    )
    otherwise = rollouts.marked()
    if alone.any():
        shared = ("task_id", "output_fp", "answer_fp")
        rows = rollouts.run.rollouts.select(*shared, passed=pl.Series(rollouts.passed)).with_row_index(ROW)
        one_prompt = rollouts.run.tasks.drop_nulls("prompt_fp").select("task_id")
        same = rows.filter(pl.Series(alone)).join(one_prompt, on="task_id", how="semi")
        otherwise[same.filter(pl.col("passed").any().over(*shared))[ROW]] = True
    return pl.DataFrame({"otherwise": otherwise[rollouts.failed]})


def _word_rank(field: str) -> int:
    if field == EVERY_TEST:
        return -1
    last = re.sub(_PLACE_IN_A_LIST, "", field).rpartition(".")[2].lower()
    if "stderr" in last or "exit_code" in last or "traceback" in last:
        return len(_WORD_ORDER) + ("exit_code" in last)
    return next((place for place, word in enumerate(_WORD_ORDER) if word in last), len(_WORD_ORDER))
