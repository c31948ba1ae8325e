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

import polars as pl

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
"""The place of a rollout in the table of the run: told apart faster than by task and repeat."""
_WHAT = ["kind", "name", "detail"]
_CHECKED = {
    ROW: pl.UInt32,
    "check": pl.String,
    "is_total": pl.Boolean,
    "failed_checks": pl.UInt32,
    "all_checks": pl.Int32,
    "failed_of_all": pl.Int32,
}
_SPOKEN = {ROW: pl.UInt32, "words": pl.String, "field": pl.String, "flag": pl.String, "flagged_in": pl.String}


def partition(run: Run) -> Partition:
    """The failed rollouts of a run by mode; the counts sum to the failures."""
    rows = run.rollouts.select(*_KEYS, "outcome").with_row_index(ROW)
    failed = rows.filter(pl.col("outcome") == "failed").drop("outcome")
    long = _where_it_counts(pl.concat([_long(run), _broken(run), _refused(run)]), run)
    set_aside = _set_aside(long, passes=int((run.rollouts["outcome"] == "passed").sum()))
    minded = _minded(long, set_aside, run)
    mine = minded.filter(~pl.col("passed"))
    table = failed
    for part in (_flags(mine), _checked(mine, run), _spoken(mine), _judged_otherwise(run)):
        table = table.join(part, on=ROW, how="left", maintain_order="left")
    answered = run.rollouts["answer"].count() * 2 >= run.rollouts.height
    only_reads = not run.tasks["key_expects"].is_in(["one change", "several changes"]).any()
    counted = bool((run.rollouts["checks_met"] > 0).any())
    table = table.with_columns(
        _mode(answered, counted, only_reads).fill_null(NOT_EXPLAINED).alias("mode"), _near().alias("near")
    )
    table = table.select(*_KEYS, "mode", "step", pl.col("near").fill_null(False))
    return Partition(
        modes=_modes(table),
        table=table,
        differences=minded,
        set_aside=frozenset(set_aside.iter_rows()),
        only_reads=only_reads,
    )


def _long(run: Run) -> pl.DataFrame:
    """One row a difference of a judged rollout."""
    rows = run.rollouts.select(*_KEYS, "outcome", "differs").with_row_index(ROW)
    judged = rows.filter(pl.col("outcome").is_in(["passed", "failed"]) & pl.col("differs").is_not_null())
    long = judged.select(ROW, *_KEYS, (pl.col("outcome") == "passed").alias("passed"), "differs")
    return long.explode("differs").unnest("differs")


def _where_it_counts(long: pl.DataFrame, run: Run) -> pl.DataFrame:
    """With partial credit, without what answers above the lower third hold or lack: they are not simply wrong."""
    if headline(run)[0] == "pass_at_1":
        return long
    low, _ = thirds(rewards_of(run))
    rows = run.rollouts.select("reward").with_row_index(ROW).filter(pl.col("reward") > low + CLOSE)
    told = long.join(rows.select(ROW, credit=pl.lit(value=True)), on=ROW, how="left", maintain_order="left")
    held = (pl.col("kind") == Differs.ANSWER) & pl.col("name").is_in([ABSENT, "contained"])
    credited = pl.col("credit").fill_null(value=False) & held & ~pl.col("passed")
    return told.filter(~credited).drop("credit")


def _broken(run: Run) -> pl.DataFrame:
    """One row a rule that by itself puts a judged rollout down to the machinery, under the rule's code."""
    hits = _hits(run, infra_codes())
    return hits.select(
        ROW, *_KEYS, "passed", kind=pl.lit(str(Differs.ERROR)), name="code", detail=pl.lit(""), step="step"
    )


def _refused(run: Run) -> pl.DataFrame:
    """One row a failure that declines the task, unless tasks with the same key are passed by declining."""
    hits = _hits(run, (REFUSAL,)).join(run.tasks.select("task_id", "expected"), on="task_id", how="left")
    of_key = pl.coalesce("expected", "task_id")
    often = pl.col("passed").sum().over(of_key) >= MINDED * pl.len().over(of_key)
    return hits.filter(~pl.col("passed") & ~(pl.col("passed").any().over(of_key) & often)).select(
        ROW,
        *_KEYS,
        "passed",
        kind=pl.lit(str(Differs.NO_ANSWER)),
        name=pl.lit("declined"),
        detail=pl.lit(""),
        step="step",
    )


def _hits(run: Run, codes: Collection[str]) -> pl.DataFrame:
    """Judged rollouts in which any of the rules fired: code and step of the first time, once a rule."""
    rows = run.rollouts.select(*_KEYS, "outcome", "fired").with_row_index(ROW).drop_nulls("fired")
    judged = rows.filter(pl.col("outcome").is_in(["passed", "failed"])).explode("fired").unnest("fired")
    mine = judged.filter(pl.col("code").is_in(sorted(codes))).unique([ROW, "code"], keep="first", maintain_order=True)
    return mine.select(ROW, *_KEYS, (pl.col("outcome") == "passed").alias("passed"), "code", "step")


def _set_aside(long: pl.DataFrame, passes: int) -> pl.DataFrame:
    """Differences that passing rollouts share so often that the verifier does not mind them; of all `passes`, most
    must lack the key before a failure is not put down to lacking it.
    """
    per_rollout = long.unique([ROW, *_WHAT], maintain_order=True)
    shared = per_rollout.group_by(_WHAT).agg(pl.col("passed").sum().alias("passes"), pl.len().alias("all"))
    often = (pl.col("passes") >= FEWEST_PASSES) & (pl.col("passes") >= MINDED * pl.col("all"))
    spoken = (pl.col("kind") == Differs.SAID) & (pl.col("passes") > 0) & (pl.col("passes") >= MINDED * pl.col("all"))
    kept = (pl.col("kind") == Differs.ANSWER) | (pl.col("detail") == A_JUDGE)
    no_key = (pl.col("kind") == Differs.ANSWER) & (pl.col("name") == ABSENT) & (pl.col("passes") * 2 > passes)
    return shared.filter(((often | spoken) & ~kept) | no_key).select(_WHAT).sort(_WHAT)


def _minded(long: pl.DataFrame, set_aside: pl.DataFrame, run: Run) -> pl.DataFrame:
    """Without what is set aside, words that say nothing, and accounts that most rollouts lack."""
    kept = long.join(set_aside, on=_WHAT, how="anti", nulls_equal=True, maintain_order="left")
    if not run.rollouts["calls"].sum() and run.settings.get("tools") is None:
        # An agent that is offered no tools acts in text: its calls cannot be compared with those of the key.
        kept = kept.filter(~pl.col("kind").is_in([*_ACTIONS, Differs.LOOKUP]))
    if _has(kept, Differs.SAID):
        detail = pl.col("detail")
        says_nothing = detail.str.to_lowercase().is_in(sorted(_SAYS_NOTHING)) | detail.str.contains(_A_LABEL)
        kept = kept.filter((pl.col("kind") != Differs.SAID) | ~says_nothing)
    if leaves_out_the_agent(run):
        kept = kept.filter((pl.col("kind") != Differs.NO_ANSWER) | (pl.col("name") != "output"))
    if _has(kept, Differs.NO_RECORD):
        kept = kept.filter(~_never_filled(kept, run))
    return _grouped_words(kept) if _has(kept, Differs.SAID, Differs.CHECK) else kept


def _has(long: pl.DataFrame, *kinds: Differs) -> bool:
    """Whether there is a difference of one of these kinds: most runs have few, and what is made of others is not worked out."""
    return bool(long["kind"].is_in(list(map(str, kinds))).any())


def _never_filled(long: pl.DataFrame, run: Run) -> pl.Expr:
    """An account that is empty in most rollouts says nothing about this one."""
    judged = int(run.rollouts["outcome"].is_in(["passed", "failed"]).sum())
    empty = (pl.col("kind") == Differs.NO_RECORD) & pl.col("detail").is_in(["", UNDECIDED])
    often = long.filter(empty).group_by("name").len().filter(pl.col("len") > judged * (1 - FILLED))["name"].to_list()
    return empty & pl.col("name").is_in(often)


def _grouped_words(long: pl.DataFrame) -> pl.DataFrame:
    """Templates of one group under the name of the group."""
    spoken = pl.col("kind").is_in([Differs.SAID, Differs.CHECK]) & (pl.col("detail") != "")
    counts = long.filter(spoken).group_by("detail").len().sort(["len", "detail"], descending=[True, False])
    times = dict(counts.head(MOST_TEMPLATES).iter_rows())
    groups = _by_exception(cluster(times), times)
    if not groups:
        return long
    renamed = pl.col("detail").replace(list(groups), list(groups.values()))
    return long.with_columns(pl.when(spoken).then(renamed).otherwise(pl.col("detail")).alias("detail"))


def _by_exception(groups: Mapping[str, str], times: Mapping[str, int]) -> dict[str, str]:
    """Templates that occur once, under the class of their exception where others share it."""
    sizes: Counter[str] = Counter()
    for template, group in groups.items():
        sizes[group] += times[template]
    classes = {group: match[0] for group in sizes if (match := _EXCEPTION.match(group)) and sizes[group] == 1}
    shared = [name for name, many in Counter(classes.values()).items() if many > 1]
    return {t: f"{classes[g]} ..." if classes.get(g) in shared else g for t, g in groups.items()}


def _flags(long: pl.DataFrame) -> pl.DataFrame:
    """For each rollout: which kinds of difference it has, and the first step at which a call differs."""

    def has(kind: Differs, *names: str) -> pl.Expr:
        wanted = pl.col("kind") == kind
        return (wanted & pl.col("name").is_in(names)).any() if names else wanted.any()

    def count(kind: Differs) -> pl.Expr:
        return (pl.col("kind") == kind).sum()

    by_rule = pl.col("name").str.contains(A_RULE)

    return long.group_by(ROW).agg(
        machinery=((pl.col("kind") == Differs.ERROR) & ~by_rule).any(),
        broken=pl.col("name").filter((pl.col("kind") == Differs.ERROR) & by_rule).first(),
        no_verdict=((pl.col("kind") == Differs.NO_RECORD) & (pl.col("detail") == "")).any(),
        undecided=((pl.col("kind") == Differs.NO_RECORD) & (pl.col("detail") == UNDECIDED)).any(),
        verifier_failed=((pl.col("kind") == Differs.NO_RECORD) & ~pl.col("detail").is_in(["", UNDECIDED])).any(),
        declined=has(Differs.NO_ANSWER, "declined"),
        lookup_argument=((pl.col("kind") == Differs.LOOKUP) & (pl.col("detail") != "")).any(),
        cut=pl.col("name").filter(pl.col("kind") == Differs.CUT).first(),
        no_output=has(Differs.NO_ANSWER, "output"),
        only_thought=has(Differs.NO_ANSWER, "thought"),
        empty_answer=has(Differs.NO_ANSWER, "answer"),
        no_answer=has(Differs.ANSWER, "none"),
        not_extracted=has(Differs.ANSWER, "not extracted"),
        several=has(Differs.ANSWER, "several"),
        different=has(Differs.ANSWER, "different"),
        equal=has(Differs.ANSWER, "equal", "other form"),
        contained=has(Differs.ANSWER, "contained"),
        absent=has(Differs.ANSWER, ABSENT),
        unwanted=has(Differs.UNWANTED),
        not_made=has(Differs.NOT_MADE),
        arguments=count(Differs.ARGUMENT),
        missing=count(Differs.MISSING),
        extra=count(Differs.EXTRA),
        not_said=has(Differs.NOT_SAID),
        lookup=has(Differs.LOOKUP),
        refused=has(Differs.REFUSED),
        step=pl.col("step").filter(pl.col("kind").is_in(list(_ACTIONS))).drop_nulls().min(),
    )


def _checked(long: pl.DataFrame, run: Run) -> pl.DataFrame:
    """For each rollout with a failed test or criterion: the commonest that it shares with others, and how many failed."""
    if not _has(long, Differs.CHECK):
        return pl.DataFrame(schema=_CHECKED)
    checks = long.filter(pl.col("kind") == Differs.CHECK)
    commonness = checks.group_by("name").agg(
        pl.col(ROW).n_unique().alias("times"), pl.col("task_id").n_unique().alias("tasks")
    )
    alone = run.tasks.height == 1
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
    totals = run.rollouts.select(all_checks="checks_asked", failed_of_all=pl.col("checks_asked") - pl.col("checks_met"))
    return pl.concat([first, totals[first[ROW]]], how="horizontal")


def _spoken(long: pl.DataFrame) -> pl.DataFrame:
    """For each rollout: the verifier's words that speak first."""
    if not _has(long, Differs.SAID):
        return pl.DataFrame(schema=_SPOKEN)
    said = long.filter(pl.col("kind") == Differs.SAID)
    ranks = {name: _word_rank(name) for name in said["name"].unique()}
    rank = pl.col("name").replace_strict(list(ranks), list(ranks.values()), return_dtype=pl.Int32).alias("rank")
    ordered = said.with_columns(rank).sort([ROW, "rank"], maintain_order=True)
    flag = pl.col("detail").str.contains(BEFORE_JUDGING)
    return ordered.group_by(ROW).agg(
        words=pl.col("detail").first(),
        field=pl.col("name").first().str.replace(_PLACE_IN_A_LIST, ""),
        flag=pl.col("detail").filter(flag).first(),
        flagged_in=pl.col("name").filter(flag).first(),
    )


def _judged_otherwise(run: Run) -> pl.DataFrame:
    """Rollouts of one message, or a thought and a message, that another rollout of the task passes with."""
    shared = ("task_id", "output_fp", "answer_fp")
    rows = run.rollouts.select(*shared, "outcome", "calls", "steps").with_row_index(ROW)
    alone = (pl.col("calls") == 0) & (pl.col("steps") <= SINGLE) & pl.col("output_fp").is_not_null()
    one_prompt = run.tasks.drop_nulls("prompt_fp").select("task_id")
    # Most outputs stand alone, and need not be grouped.
    again = rows.filter(alone).filter(pl.col("output_fp").is_duplicated())
    same = again.join(one_prompt, on="task_id", how="semi")
    also = same.filter((pl.col("outcome") == "passed").any().over(*shared))
    return also.select(ROW, otherwise=pl.lit(value=True))


def _word_rank(field: str) -> int:
    if field == EVERY_TEST:
        return -1
    last = re.sub(_PLACE_IN_A_LIST, "", field).rpartition(".")[2].lower()
    if "stderr" in last or "exit_code" in last or "traceback" in last:
        return len(_WORD_ORDER) + ("exit_code" in last)
    return next((place for place, word in enumerate(_WORD_ORDER) if word in last), len(_WORD_ORDER))


def _mode(answered: bool, counted: bool, only_reads: bool) -> pl.Expr:
    """The first mode that applies, in the order of the precedence.

    `answered`: the verifier extracts answers; `counted`: it also lists the tests that passed;
    `only_reads`: no key wants a change, so that its look-ups are what is judged.
    """
    argument, missing, extra = (pl.col(name) > 0 for name in ("arguments", "missing", "extra"))
    words = pl.col("words")
    chain: list[tuple[pl.Expr, str | pl.Expr]] = [
        (pl.col("machinery"), "machinery"),
        (pl.col("broken").is_not_null() & ~pl.col("no_output"), pl.concat_str(pl.lit(BROKEN), "broken")),
        (pl.col("verifier_failed"), "verifier-failed"),
        (pl.col("undecided"), "undecided"),
        (pl.col("no_verdict") & ~(pl.col("empty_answer") & answered), "no-verdict"),
        (pl.col("cut").is_not_null(), pl.concat_str(pl.lit("cut-"), "cut")),
        (pl.col("no_output"), "no-output"),
        (pl.col("only_thought"), "only-thought"),
        (pl.col("declined"), "declined"),
        (pl.col("not_extracted") & answered, "not-extracted"),
        ((pl.col("no_answer") | pl.col("empty_answer")) & answered, "no-answer"),
        (pl.col("several"), "several-answers"),
        (pl.col("unwanted"), "unwanted-change"),
        (pl.col("not_made"), "no-change"),
        (argument & ~missing & ~extra, "wrong-argument"),
        (missing & ~argument & ~extra, "part-way"),
        (extra & ~argument & ~missing, "more-than-due"),
        (argument | missing | extra, "several-differences"),
        (pl.col("not_said"), "not-said"),
        (pl.col("otherwise"), "judged-otherwise"),
        (pl.col("flag").is_not_null(), pl.concat_str(pl.lit("said:"), "flagged_in", pl.lit(": "), "flag")),
        (pl.col("check").is_not_null() & ~pl.col("is_total"), pl.concat_str(pl.lit("check:"), "check")),
        (pl.col("equal") & pl.col("failed_checks").is_null(), "answer-equal"),
        (pl.col("different"), "answer-different"),
        (words.is_not_null() & (words != A_JUDGE), pl.concat_str(pl.lit("said:"), "field", pl.lit(": "), "words")),
        (pl.col("check").is_not_null(), pl.concat_str(pl.lit("check:"), "check")),
        (pl.col("contained"), "answer-contained"),
        (pl.col("absent"), "answer-absent"),
        (
            (pl.col("failed_of_all") == pl.col("all_checks")) & counted & pl.col("failed_checks").is_not_null(),
            "all-checks",
        ),
        ((pl.col("failed_of_all") == 1) & pl.col("failed_checks").is_not_null(), "one-check"),
        (pl.col("failed_checks") >= 1, "several-checks"),
        (words == A_JUDGE, "judged-wrong"),
        (pl.col("lookup_argument") & pl.lit(only_reads), "wrong-argument"),
        (pl.col("lookup") & pl.lit(only_reads), "call-missing"),
        (pl.col("lookup"), "lookup-missing"),
        (pl.col("refused"), "schema"),
    ]
    chosen = pl.lit(None, pl.String)
    for condition, name in reversed(chain):
        value = name if isinstance(name, pl.Expr) else pl.lit(name)
        chosen = pl.when(condition.fill_null(False)).then(value).otherwise(chosen)
    return chosen


def _near() -> pl.Expr:
    """One argument, one of three or more tests, or a tenth of ten or more, from passing."""
    one_argument = (pl.col("arguments") == 1) & (pl.col("missing") == 0) & (pl.col("extra") == 0)
    few = (pl.col("failed_of_all") == 1) & (pl.col("all_checks") >= 3)
    most = (pl.col("failed_of_all") <= NEARLY * pl.col("all_checks")) & (pl.col("all_checks") >= 10)
    return one_argument | few | most


def _modes(table: pl.DataFrame) -> tuple[Mode, ...]:
    counted = table.group_by("mode").agg(
        rollouts=pl.len(), tasks=pl.col("task_id").n_unique(), near=pl.col("near").sum()
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
