"""The partition: every failed rollout has exactly one mode, and what no rule explains is one of them.

Precedence, first match: machinery, by its own words or by a rule that sees it; no verdict; a limit; no answer; the calls
of the key; its statements; an output that passes elsewhere; tests and criteria that tasks share; the answer of the key;
the verifier's own words; other tests and criteria; a look-up of the key; not explained. Differences that passing rollouts
share are set aside first: the verifier does not mind them.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
import polars as pl

from blade.attribution.differences_that_count import ACTIONS, ROW, Differences, differing, minded, set_aside
from blade.attribution.groups import A_RULE, A_TOTAL, BEFORE_JUDGING, NUMBERED
from blade.attribution.mode_kinds import BROKEN, kind_of
from blade.evidence.differences import A_JUDGE, ABSENT, EVERY_TEST, UNDECIDED
from blade.model.diagnosis import NOT_EXPLAINED, Mode, Partition
from blade.model.finding import Differs
from blade.model.run import Run
from blade.stats.rollout_index import SINGLE, Flags, Integers, RolloutIndex

NEARLY = 0.1
"""Share of ten tests or more that may fail in a near miss."""


def partition(rollouts: RolloutIndex) -> Partition:
    """The failed rollouts of a run by mode; the counts sum to the failures."""
    run = rollouts.run
    told = differing(rollouts)
    aside = set_aside(told, passes=int(rollouts.passed.sum()))
    counting = minded(told.only(~aside), rollouts)
    found = symptoms(Differences(kinds=counting.kinds, rows=counting.rows.filter(~pl.col("passed"))), rollouts)
    answered = run.rollouts["answer"].count() * 2 >= run.rollouts.height
    only_reads = not run.tasks["key_expects"].is_in(["one change", "several changes"]).any()
    counted = bool((run.rollouts["checks_met"] > 0).any())
    mode, near = _mode(found.columns, answered, counted, only_reads), _near(found.columns)
    # A mode whose words are not known is none.
    mode, near = mode.fill_null(NOT_EXPLAINED), near.fill_null(value=False)
    table = found.select(*KEYS, mode.alias("mode"), "step", near.alias("near"))
    return Partition(
        modes=_modes(table, rollouts),
        table=table,
        differences=named(counting.long, run),
        set_aside=frozenset(told.kinds.filter(aside).iter_rows()),
        only_reads=only_reads,
    )


def _mode(known: Collection[str], answered: bool, counted: bool, only_reads: bool) -> pl.Expr:
    """The first mode that applies, in the order of the precedence, by the columns that are `known`.

    `answered`: the verifier extracts answers; `counted`: it also lists the tests that passed;
    `only_reads`: no key wants a change, so that its look-ups are what is judged.
    """

    def has(name: str) -> pl.Expr:
        return pl.col(name) if name in known else pl.lit(value=False)

    def value(name: str) -> pl.Expr:
        return pl.col(name) if name in known else pl.lit(None)

    argument, missing, extra = ((value(name) > 0).fill_null(value=False) for name in COUNTED)
    words, check = value("words"), value("check")
    chain: list[tuple[pl.Expr, str | pl.Expr]] = [
        (has("machinery"), "machinery"),
        (value("broken").is_not_null() & ~has("no_output"), _text(BROKEN, value("broken"))),
        (has("verifier_failed"), "verifier-failed"),
        (has("undecided"), "undecided"),
        (has("no_verdict") & ~(has("empty_answer") & answered), "no-verdict"),
        (value("cut").is_not_null(), _text("cut-", value("cut"))),
        (has("no_output"), "no-output"),
        (has("only_thought"), "only-thought"),
        (has("declined"), "declined"),
        (has("not_extracted") & answered, "not-extracted"),
        ((has("no_answer") | has("empty_answer")) & answered, "no-answer"),
        (has("several"), "several-answers"),
        (has("unwanted"), "unwanted-change"),
        (has("not_made"), "no-change"),
        (argument & ~missing & ~extra, "wrong-argument"),
        (missing & ~argument & ~extra, "part-way"),
        (extra & ~argument & ~missing, "more-than-due"),
        (argument | missing | extra, "several-differences"),
        (has("not_said"), "not-said"),
        (has("otherwise"), "judged-otherwise"),
        (value("flag").is_not_null(), _said(value("flagged_in"), value("flag"))),
        (check.is_not_null() & ~has("is_total"), _text("check:", check)),
        (has("equal") & value("failed_checks").is_null(), "answer-equal"),
        (has("different"), "answer-different"),
        (words.is_not_null() & (words != A_JUDGE), _said(value("field"), words)),
        (check.is_not_null(), _text("check:", check)),
        (has("contained"), "answer-contained"),
        (has("absent"), "answer-absent"),
        (
            (value("failed_of_all") == value("all_checks")) & counted & value("failed_checks").is_not_null(),
            "all-checks",
        ),
        ((value("failed_of_all") == 1) & value("failed_checks").is_not_null(), "one-check"),
        (value("failed_checks") >= 1, "several-checks"),
        (words == A_JUDGE, "judged-wrong"),
        (has("lookup_argument") & pl.lit(only_reads), "wrong-argument"),
        (has("lookup") & pl.lit(only_reads), "call-missing"),
        (has("lookup"), "lookup-missing"),
        (has("refused"), "schema"),
    ]
    chosen = pl.lit(NOT_EXPLAINED)
    # A condition that looks at no column holds nowhere.
    for condition, name in reversed([one for one in chain if one[0].meta.root_names()]):
        named = name if isinstance(name, pl.Expr) else pl.lit(name)
        chosen = pl.when(condition.fill_null(value=False)).then(named).otherwise(chosen)
    return chosen


def _text(before: str, column: pl.Expr) -> pl.Expr:
    return pl.concat_str(pl.lit(before), column)


def _said(field: pl.Expr, words: pl.Expr) -> pl.Expr:
    return pl.concat_str(pl.lit("said:"), field, pl.lit(": "), words)


def _near(known: Collection[str]) -> pl.Expr:
    """One argument, one of three or more tests, or a tenth of ten or more, from passing."""
    none = pl.lit(0)
    argument, missing, extra = (pl.col(name) if name in known else none for name in COUNTED)
    near = (argument == 1) & (missing == 0) & (extra == 0)
    if "failed_of_all" not in known:
        return near
    few = (pl.col("failed_of_all") == 1) & (pl.col("all_checks") >= 3)
    most = (pl.col("failed_of_all") <= NEARLY * pl.col("all_checks")) & (pl.col("all_checks") >= 10)
    return near | few | most


def _modes(table: pl.DataFrame, rollouts: RolloutIndex) -> tuple[Mode, ...]:
    counted = (
        table.select("mode", "near", task=pl.Series(rollouts.task[rollouts.failed]))
        .group_by("mode")
        .agg(rollouts=pl.len(), tasks=pl.col("task").n_unique(), near=pl.col("near").sum())
    )
    found = [_mode_of(*row) for row in counted.iter_rows()]
    return tuple(sorted(found, key=lambda mode: (mode.id == NOT_EXPLAINED, -mode.rollouts, -mode.tasks, mode.id)))


def _mode_of(mode: str, rollouts: int, tasks: int, near: int) -> Mode:
    kind = kind_of(mode)
    note = ""
    if near and mode == "wrong-argument":
        note = f"{near} of them one argument from the key"
    elif near and mode.startswith("check:"):
        note = f"{near} of them with nothing else failing"
    return Mode(
        id=mode, name=kind.name, party=kind.party, support=kind.support, rollouts=rollouts, tasks=tasks, note=note
    )


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
