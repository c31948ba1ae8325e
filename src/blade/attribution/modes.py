"""The partition: every failed rollout has exactly one mode, and what no rule explains is one of them.

Precedence, first match: machinery, by its own words or by a rule that sees it; no verdict; a limit; no answer; the calls
of the key; its statements; an output that passes elsewhere; tests and criteria that tasks share; the answer of the key;
the verifier's own words; other tests and criteria; a look-up of the key; not explained. Differences that passing rollouts
share are set aside first: the verifier does not mind them.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from blade.attribution.differences_that_count import Differences, differing, minded, set_aside
from blade.attribution.mode_kinds import BROKEN, kind_of
from blade.attribution.symptoms import COUNTED, KEYS, named, symptoms
from blade.evidence.differences import A_JUDGE
from blade.model.diagnosis import NOT_EXPLAINED, Mode, Partition
from blade.stats.rollout_index import RolloutIndex

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
