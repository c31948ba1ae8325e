"""The partition: every failed rollout has exactly one mode, and what no rule explains is one of them.

Precedence, first match: machinery, by its own words or by a rule that sees it; no verdict; a limit; no answer; the calls
of the key; its statements; an output that passes elsewhere; tests and criteria that tasks share; the answer of the key;
the verifier's own words; other tests and criteria; a look-up of the key; not explained. Differences that passing rollouts
share are set aside first: the verifier does not mind them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np
import polars as pl
from msgspec import Struct

from blade.core.diagnosis import NOT_EXPLAINED, Mode, Partition
from blade.core.finding import Differs
from blade.core.pattern import pattern_of
from blade.core.run import Run
from blade.diagnose.catalogue import infra_codes
from blade.diagnose.differences import A_JUDGE, ABSENT, EVERY_TEST, UNDECIDED
from blade.diagnose.groups import A_RULE, A_TOTAL, BEFORE_JUDGING, NUMBERED
from blade.diagnose.mode_kinds import BROKEN, kind_of
from blade.diagnose.recorded import leaves_out_the_agent
from blade.diagnose.templates import cluster
from blade.metrics.buckets import CLOSE, thirds
from blade.metrics.headline import headline, rewards_of
from blade.metrics.numbered import Flags, Integers, Numbered

MINDED = 0.2
"""A difference that stands in a larger share of passing rollouts among those that have it is set aside."""
FEWEST_PASSES = 2
NEARLY = 0.1
"""Share of ten tests or more that may fail in a near miss."""
FILLED = 0.5
"""Share of judged rollouts in which the verifier's account must be there before its absence means anything."""
MOST_TEMPLATES = 2_000
"""Templates that are grouped; rarer ones stand for themselves."""

SINGLE = 2
"""Steps of a rollout that holds no more than a thought and a message."""
REFUSAL = "ANS003"
"""The rule that sees the agent decline the task."""
_ACTIONS = (Differs.UNWANTED, Differs.NOT_MADE, Differs.MISSING, Differs.EXTRA, Differs.ARGUMENT)
_WORD_ORDER = ("label", "reason", "mode", "message", "verdict", "status", "error", "explanation", "outcome", "result")
"""Which of the verifier's fields speaks first; logs and exit codes come last."""
_SAYS_NOTHING = frozenset(
    (
        "fail",
        "failed",
        "failure",
        "incorrect",
        "wrong",
        "no",
        "false",
        "true",
        "error",
        "rejected",
        "unresolved",
        "f",
        "other",
        "unknown",
        "incomplete",
        "user_stop",
        "agent_stop",
        "stop",
        "done",
        "finished",
        "terminated",
    )
)
"""Words that repeat the verdict, or say how an ordinary rollout ends."""

_PLACE_IN_A_LIST = r"\.\d+$"
"""Which of several words it is does not tell one mode from another."""
_A_LABEL = r"^\W*(?:[A-Za-z]|<n>)\W*$"
"""A letter or a number with which a judge marks its verdict says what the reward says."""

_EXCEPTION = pattern_of(r"^[\w.]*(?:Error|Exception|Failure|Interrupt|Timeout):")

_KEYS = ["task_id", "repeat"]
ROW = "row"
"""The place of a rollout in the table of the run."""
_WHAT = ["kind", "name", "detail"]


class _Told(Struct, frozen=True, kw_only=True, eq=False):
    """Differences: in which rollouts each stands, and what there is. Many rollouts differ in few ways."""

    kinds: pl.DataFrame
    """Kind, name and detail."""
    rows: pl.DataFrame
    """One a difference: the row of the rollout, whether it passed, the step, and `what`, its place among the kinds."""

    def having(self, which: pl.Expr | pl.Series) -> Flags:
        """Which differences are of the kinds for which something holds."""
        holds = self.kinds.select(which).to_series().to_numpy()
        return np.asarray(holds[self.rows["what"].to_numpy()])

    def only(self, which: pl.Expr | pl.Series) -> _Told:
        """The differences of the kinds for which something holds."""
        return _Told(kinds=self.kinds, rows=self.rows.filter(pl.Series(self.having(which))))

    def has(self, *kinds: Differs) -> bool:
        """Whether there is a difference of one of these: most runs have few, and what is made of others is not worked out."""
        return bool(self.having(pl.col("kind").is_in(list(map(str, kinds)))).any())

    @property
    def times(self) -> Integers:
        """How many differences of each kind there are."""
        return np.bincount(self.rows["what"], minlength=self.kinds.height)

    @property
    def long(self) -> pl.DataFrame:
        """Every difference with its kind, name and detail."""
        return pl.concat(
            [self.rows.select(ROW, "passed"), self.kinds[self.rows["what"]], self.rows.select("step")], how="horizontal"
        )


def partition(rollouts: Numbered) -> Partition:
    """The failed rollouts of a run by mode; the counts sum to the failures."""
    run = rollouts.run
    long = _where_it_counts(pl.concat([_long(rollouts), *_by_rules(rollouts)]), rollouts)
    told = _numbered(long)
    aside = _set_aside(told, passes=int(rollouts.passed.sum()))
    minded = _minded(told.only(~aside), rollouts)
    mine = _Told(kinds=minded.kinds, rows=minded.rows.filter(~pl.col("passed")))
    failures = np.flatnonzero(rollouts.failed)
    parts = (_flags(mine, failures), _checked(mine, rollouts), _spoken(mine, failures), _judged_otherwise(rollouts))
    answered = run.rollouts["answer"].count() * 2 >= run.rollouts.height
    only_reads = not run.tasks["key_expects"].is_in(["one change", "several changes"]).any()
    counted = bool((run.rollouts["checks_met"] > 0).any())
    found = pl.concat([run.rollouts.select(_KEYS)[failures], *parts], how="horizontal")
    mode, near = _mode(found.columns, answered, counted, only_reads), _near(found.columns)
    # A mode whose words are not known is none.
    mode, near = mode.fill_null(NOT_EXPLAINED), near.fill_null(value=False)
    table = found.select(*_KEYS, mode.alias("mode"), "step", near.alias("near"))
    return Partition(
        modes=_modes(table, rollouts),
        table=table,
        differences=_named(minded.long, run),
        set_aside=frozenset(told.kinds.filter(aside).iter_rows()),
        only_reads=only_reads,
    )


def _named(long: pl.DataFrame, run: Run) -> pl.DataFrame:
    """Differences with the task and the repeat of their rollouts."""
    places = run.rollouts.select(_KEYS)[long[ROW]]
    return pl.concat([long.select(ROW), places, long.drop(ROW)], how="horizontal")


def _long(rollouts: Numbered) -> pl.DataFrame:
    """One row a difference of a judged rollout."""
    rows = rollouts.run.rollouts.select("differs", passed=pl.Series(rollouts.passed)).with_row_index(ROW)
    judged = rows.filter(pl.Series(rollouts.judged) & pl.col("differs").is_not_null())
    return judged.explode("differs").unnest("differs").select(ROW, "passed", *_WHAT, "step")


def _where_it_counts(long: pl.DataFrame, rollouts: Numbered) -> pl.DataFrame:
    """With partial credit, without what answers above the lower third hold or lack: they are not simply wrong."""
    run = rollouts.run
    if headline(run)[0] == "pass_at_1":
        return long
    low, _ = thirds(rewards_of(run))
    credit = (run.rollouts["reward"] > low + CLOSE).fill_null(value=False)
    held = (pl.col("kind") == Differs.ANSWER) & pl.col("name").is_in([ABSENT, "contained"])
    return long.filter(~(credit[long[ROW]] & held & ~pl.col("passed")))


def _by_rules(rollouts: Numbered) -> tuple[pl.DataFrame, ...]:
    """What rules say: one row a rule that by itself puts a judged rollout down to the machinery, and one a refusal."""
    hits = _hits(rollouts, {*infra_codes(), REFUSAL})
    refusal = pl.col("code") == REFUSAL
    refused = hits.filter(refusal)
    return _broken(hits.filter(~refusal)), *([_refused(refused, rollouts.run)] if refused.height else [])


def _broken(hits: pl.DataFrame) -> pl.DataFrame:
    """The machinery's failures, under the rule's code."""
    return hits.select(ROW, "passed", kind=pl.lit(str(Differs.ERROR)), name="code", detail=pl.lit(""), step="step")


def _refused(hits: pl.DataFrame, run: Run) -> pl.DataFrame:
    """Failures that decline the task, unless tasks with the same key are passed by declining."""
    keys = run.tasks.select("task_id", "expected")
    keyed = hits.with_columns(run.rollouts["task_id"][hits[ROW]]).join(keys, on="task_id", how="left")
    of_key = pl.coalesce("expected", "task_id")
    often = pl.col("passed").sum().over(of_key) >= MINDED * pl.len().over(of_key)
    return keyed.filter(~pl.col("passed") & ~(pl.col("passed").any().over(of_key) & often)).select(
        ROW,
        "passed",
        kind=pl.lit(str(Differs.NO_ANSWER)),
        name=pl.lit("declined"),
        detail=pl.lit(""),
        step="step",
    )


def _hits(rollouts: Numbered, codes: Collection[str]) -> pl.DataFrame:
    """Judged rollouts in which any of the rules fired: code and step of the first time, once a rule."""
    rows = rollouts.run.rollouts.select("fired", passed=pl.Series(rollouts.passed)).with_row_index(ROW)
    judged = rows.filter(pl.Series(rollouts.judged) & pl.col("fired").is_not_null()).explode("fired").unnest("fired")
    mine = judged.filter(pl.col("code").is_in(sorted(codes))).unique([ROW, "code"], keep="first", maintain_order=True)
    return mine.select(ROW, "passed", "code", "step")


def _numbered(long: pl.DataFrame) -> _Told:
    kinds = long.select(_WHAT).unique(maintain_order=True)
    numbers = kinds.with_row_index("what")
    rows = long.join(numbers, on=_WHAT, how="left", nulls_equal=True, maintain_order="left")
    return _Told(kinds=kinds, rows=rows.select(ROW, "passed", "step", "what"))


def _set_aside(told: _Told, passes: int) -> pl.Series:
    """Which kinds passing rollouts share so often that the verifier does not mind them; of all `passes`, most must lack
    the key before a failure is not put down to lacking it.
    """
    once = (pl.col(ROW).cast(pl.UInt64) * told.kinds.height + pl.col("what")).is_first_distinct()
    rows = told.rows.select("what", "passed", once=once).filter("once")
    shared = told.kinds.with_columns(
        passes=np.bincount(rows.filter("passed")["what"], minlength=told.kinds.height),
        all=np.bincount(rows["what"], minlength=told.kinds.height),
    )
    often = (pl.col("passes") >= FEWEST_PASSES) & (pl.col("passes") >= MINDED * pl.col("all"))
    spoken = (pl.col("kind") == Differs.SAID) & (pl.col("passes") > 0) & (pl.col("passes") >= MINDED * pl.col("all"))
    kept = (pl.col("kind") == Differs.ANSWER) | (pl.col("detail") == A_JUDGE)
    no_key = (pl.col("kind") == Differs.ANSWER) & (pl.col("name") == ABSENT) & (pl.col("passes") * 2 > passes)
    return shared.select(((often | spoken) & ~kept) | no_key).to_series()


def _minded(kept: _Told, rollouts: Numbered) -> _Told:
    """Without words that say nothing, and accounts that most rollouts lack."""
    run = rollouts.run
    if not run.rollouts["calls"].sum() and run.settings.get("tools") is None:
        # An agent that is offered no tools acts in text: its calls cannot be compared with those of the key.
        kept = kept.only(~pl.col("kind").is_in([*_ACTIONS, Differs.LOOKUP]))
    if kept.has(Differs.SAID):
        detail = pl.col("detail")
        says_nothing = detail.str.to_lowercase().is_in(sorted(_SAYS_NOTHING)) | detail.str.contains(_A_LABEL)
        kept = kept.only((pl.col("kind") != Differs.SAID) | ~says_nothing)
    if leaves_out_the_agent(run):
        kept = kept.only((pl.col("kind") != Differs.NO_ANSWER) | (pl.col("name") != "output"))
    if kept.has(Differs.NO_RECORD):
        kept = kept.only(~_never_filled(kept, judged=int(rollouts.judged.sum())))
    return _grouped_words(kept) if kept.has(Differs.SAID, Differs.CHECK) else kept


def _never_filled(told: _Told, judged: int) -> pl.Expr:
    """An account that is empty in most rollouts says nothing about this one."""
    empty = (pl.col("kind") == Differs.NO_RECORD) & pl.col("detail").is_in(["", UNDECIDED])
    times = told.kinds.with_columns(times=told.times).filter(empty).group_by("name").agg(pl.col("times").sum())
    often = times.filter(pl.col("times") > judged * (1 - FILLED))["name"].to_list()
    return empty & pl.col("name").is_in(often)


def _grouped_words(told: _Told) -> _Told:
    """Templates of one group under the name of the group."""
    spoken = pl.col("kind").is_in([Differs.SAID, Differs.CHECK]) & (pl.col("detail") != "")
    times = told.kinds.with_columns(times=told.times).filter(spoken & (pl.col("times") > 0))
    counts = times.group_by("detail").agg(pl.col("times").sum()).sort(["times", "detail"], descending=[True, False])
    found = dict(counts.head(MOST_TEMPLATES).iter_rows())
    groups = _by_exception(cluster(found), found)
    if not groups:
        return told
    renamed = pl.col("detail").replace(list(groups), list(groups.values()))
    kinds = told.kinds.with_columns(pl.when(spoken).then(renamed).otherwise(pl.col("detail")).alias("detail"))
    return _Told(kinds=kinds, rows=told.rows)


def _by_exception(groups: Mapping[str, str], times: Mapping[str, int]) -> dict[str, str]:
    """Templates that occur once, under the class of their exception where others share it."""
    sizes: Counter[str] = Counter()
    for template, group in groups.items():
        sizes[group] += times[template]
    classes = {group: match[0] for group in sizes if (match := _EXCEPTION.match(group)) and sizes[group] == 1}
    shared = [name for name, many in Counter(classes.values()).items() if many > 1]
    return {t: f"{classes[g]} ..." if classes.get(g) in shared else g for t, g in groups.items()}


def _flags(told: _Told, failures: Integers) -> pl.DataFrame:
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

    makers = {**dict.fromkeys(_COUNTED, count), **dict.fromkeys(_FIRST_NAMES, first_name)}
    there = told.kinds.select(**_HAS)
    columns = {column.name: makers.get(column.name, has)(column.to_numpy()[what]) for column in there if column.any()}
    return pl.DataFrame({**columns, "step": _first_step(told, failures)})


def _is(kind: Differs, *names: str) -> pl.Expr:
    return (pl.col("kind") == kind) & pl.col("name").is_in(names) if names else pl.col("kind") == kind


_BY_RULE = pl.col("name").str.contains(A_RULE)
_NOTHING_MORE = pl.col("detail") == ""
_UNDECIDED = pl.col("detail") == UNDECIDED
_COUNTED = ("arguments", "missing", "extra")
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


def _first_step(told: _Told, failures: Integers) -> pl.Series:
    if not told.has(*_ACTIONS):
        return pl.repeat(None, len(failures), dtype=pl.Int32, eager=True)
    acts = told.only(pl.col("kind").is_in(list(_ACTIONS))).rows.drop_nulls("step")
    return _at(failures, acts.group_by(ROW).agg(pl.col("step").min()))["step"]


def _at(failures: Integers, found: pl.DataFrame) -> pl.DataFrame:
    """What is known of some rollouts, beside each failure."""
    beside = np.full(len(failures), found.height)
    beside[np.searchsorted(failures, found[ROW])] = np.arange(found.height)
    known = found.drop(ROW)
    return pl.concat([known, known.clear(1)])[beside]


def _checked(told: _Told, rollouts: Numbered) -> pl.DataFrame:
    """For each failure with a failed test or criterion: the commonest that it shares with others, and how many failed."""
    failures = np.flatnonzero(rollouts.failed)
    if not told.has(Differs.CHECK):
        return pl.DataFrame()
    checks = _named(told.only(pl.col("kind") == Differs.CHECK).long, rollouts.run)
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


def _spoken(told: _Told, failures: Integers) -> pl.DataFrame:
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


def _judged_otherwise(rollouts: Numbered) -> pl.DataFrame:
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


def _mode(known: Collection[str], answered: bool, counted: bool, only_reads: bool) -> pl.Expr:
    """The first mode that applies, in the order of the precedence, by the columns that are `known`.

    `answered`: the verifier extracts answers; `counted`: it also lists the tests that passed;
    `only_reads`: no key wants a change, so that its look-ups are what is judged.
    """

    def has(name: str) -> pl.Expr:
        return pl.col(name) if name in known else pl.lit(value=False)

    def value(name: str) -> pl.Expr:
        return pl.col(name) if name in known else pl.lit(None)

    argument, missing, extra = ((value(name) > 0).fill_null(value=False) for name in _COUNTED)
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
    argument, missing, extra = (pl.col(name) if name in known else none for name in _COUNTED)
    near = (argument == 1) & (missing == 0) & (extra == 0)
    if "failed_of_all" not in known:
        return near
    few = (pl.col("failed_of_all") == 1) & (pl.col("all_checks") >= 3)
    most = (pl.col("failed_of_all") <= NEARLY * pl.col("all_checks")) & (pl.col("all_checks") >= 10)
    return near | few | most


def _modes(table: pl.DataFrame, rollouts: Numbered) -> tuple[Mode, ...]:
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
    return Mode(id=mode, name=kind.name, party=kind.party, grade=kind.grade, rollouts=rollouts, tasks=tasks, note=note)
