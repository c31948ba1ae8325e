"""What the rollouts of a run differ in, without what the verifier does not mind: the differences from which modes are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np
import polars as pl
from msgspec import Struct

from blade.evidence.differences import A_JUDGE, ABSENT, UNDECIDED, leaves_out_the_agent
from blade.evidence.templates import cluster
from blade.model.finding import Differs
from blade.model.pattern import pattern_of
from blade.model.run import Run
from blade.stats.headline import _CLOSE, headline, rewards_of, thirds
from blade.stats.rollout_index import Flags, Integers, RolloutIndex

MINDED = 0.2
"""A difference that stands in a larger share of passing rollouts among those that have it is set aside."""
FEWEST_PASSES = 2
FILLED = 0.5
"""Share of judged rollouts in which the verifier's account must be there before its absence means anything."""
MOST_TEMPLATES = 2_000
"""Templates that are grouped; rarer ones stand for themselves."""
REFUSAL = "ANS003"
"""The rule that sees the agent decline the task."""
ACTIONS = (Differs.UNWANTED, Differs.NOT_MADE, Differs.MISSING, Differs.EXTRA, Differs.ARGUMENT)
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
_A_LABEL = r"^\W*(?:[A-Za-z]|<n>)\W*$"
"""A letter or a number with which a judge marks its verdict says what the reward says."""
_EXCEPTION = pattern_of(r"^[\w.]*(?:Error|Exception|Failure|Interrupt|Timeout):")
ROW = "row"
"""The place of a rollout in the table of the run."""
_WHAT = ["kind", "name", "detail"]


class Differences(Struct, frozen=True, kw_only=True, eq=False):
    """Differences: in which rollouts each stands, and what there is. Many rollouts differ in few ways."""

    kinds: pl.DataFrame
    """Kind, name and detail."""
    rows: pl.DataFrame
    """One a difference: the row of the rollout, whether it passed, the step, and `what`, its place among the kinds."""

    def having(self, which: pl.Expr | pl.Series) -> Flags:
        """Which differences are of the kinds for which something holds."""
        holds = self.kinds.select(which).to_series().to_numpy()
        return np.asarray(holds[self.rows["what"].to_numpy()])

    def only(self, which: pl.Expr | pl.Series) -> Differences:
        """The differences of the kinds for which something holds."""
        return Differences(kinds=self.kinds, rows=self.rows.filter(pl.Series(self.having(which))))

    def between(self, first: int, last: int) -> Differences:
        """The differences of some rollouts, by their rows."""
        return Differences(kinds=self.kinds, rows=self.rows.filter(pl.col(ROW).is_between(first, last)))

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


class CountingDifferences(Struct, frozen=True, kw_only=True, eq=False):
    """The differences of a run that the verifier minds, and what was set aside."""

    counting: Differences
    aside: frozenset[tuple[str, str, str]]
    """Kind, name and detail of differences that passing rollouts share."""
    only_reads: bool
    """No expected action changes anything, so that look-ups are what is judged."""


def counting_differences(rollouts: RolloutIndex) -> CountingDifferences:
    """Every difference of a run that may explain a failure."""
    told = differing(rollouts)
    aside = set_aside(told, passes=int(rollouts.passed.sum()))
    return CountingDifferences(
        counting=minded(told.only(~aside), rollouts),
        aside=frozenset(told.kinds.filter(aside).iter_rows()),
        only_reads=not rollouts.run.tasks["key_expects"].is_in(["one change", "several changes"]).any(),
    )


def differing(rollouts: RolloutIndex) -> Differences:
    """Every difference that counts for the headline."""
    return _numbered(_where_it_counts(pl.concat([_long(rollouts), *_by_rules(rollouts)]), rollouts))


def _long(rollouts: RolloutIndex) -> pl.DataFrame:
    """One row a difference of a judged rollout."""
    rows = rollouts.run.rollouts.select("differs", passed=pl.Series(rollouts.passed)).with_row_index(ROW)
    judged = rows.filter(pl.Series(rollouts.judged) & pl.col("differs").is_not_null())
    return judged.explode("differs").unnest("differs").select(ROW, "passed", *_WHAT, "step")


def _where_it_counts(long: pl.DataFrame, rollouts: RolloutIndex) -> pl.DataFrame:
    """With partial credit, without what answers above the lower third hold or lack: they are not simply wrong."""
    run = rollouts.run
    if headline(run)[0] == "pass_at_1":
        return long
    low, _ = thirds(rewards_of(run))
    credit = (run.rollouts["reward"] > low + _CLOSE).fill_null(value=False)
    held = (pl.col("kind") == Differs.ANSWER) & pl.col("name").is_in([ABSENT, "contained"])
    return long.filter(~(credit[long[ROW]] & held & ~pl.col("passed")))


def _by_rules(rollouts: RolloutIndex) -> tuple[pl.DataFrame, ...]:
    """What rules say: one row a refusal."""
    refused = _hits(rollouts, {REFUSAL})
    return (_refused(refused, rollouts.run),) if refused.height else ()


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


def _hits(rollouts: RolloutIndex, codes: Collection[str]) -> pl.DataFrame:
    """Judged rollouts in which any of the rules fired: code and step of the first time, once a rule."""
    rows = rollouts.run.rollouts.select("fired", passed=pl.Series(rollouts.passed)).with_row_index(ROW)
    judged = rows.filter(pl.Series(rollouts.judged) & pl.col("fired").is_not_null()).explode("fired").unnest("fired")
    mine = judged.filter(pl.col("code").is_in(sorted(codes))).unique([ROW, "code"], keep="first", maintain_order=True)
    return mine.select(ROW, "passed", "code", "step")


def _numbered(long: pl.DataFrame) -> Differences:
    kinds = long.select(_WHAT).unique(maintain_order=True)
    numbers = kinds.with_row_index("what")
    rows = long.join(numbers, on=_WHAT, how="left", nulls_equal=True, maintain_order="left")
    return Differences(kinds=kinds, rows=rows.select(ROW, "passed", "step", "what"))


def set_aside(told: Differences, passes: int) -> pl.Series:
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


def minded(kept: Differences, rollouts: RolloutIndex) -> Differences:
    """Without words that say nothing, and accounts that most rollouts lack."""
    run = rollouts.run
    if not run.rollouts["calls"].sum() and run.settings.get("tools") is None:
        # An agent that is offered no tools acts in text: its calls cannot be compared with those of the key.
        kept = kept.only(~pl.col("kind").is_in([*ACTIONS, Differs.LOOKUP]))
    if kept.has(Differs.SAID):
        detail = pl.col("detail")
        says_nothing = detail.str.to_lowercase().is_in(sorted(_SAYS_NOTHING)) | detail.str.contains(_A_LABEL)
        kept = kept.only((pl.col("kind") != Differs.SAID) | ~says_nothing)
    if leaves_out_the_agent(run):
        kept = kept.only((pl.col("kind") != Differs.NO_ANSWER) | (pl.col("name") != "output"))
    if kept.has(Differs.NO_RECORD):
        kept = kept.only(~_never_filled(kept, judged=int(rollouts.judged.sum())))
    return _grouped_words(kept) if kept.has(Differs.SAID, Differs.CHECK) else kept


def _never_filled(told: Differences, judged: int) -> pl.Expr:
    """An account that is empty in most rollouts says nothing about this one."""
    empty = (pl.col("kind") == Differs.NO_RECORD) & pl.col("detail").is_in(["", UNDECIDED])
    times = told.kinds.with_columns(times=told.times).filter(empty).group_by("name").agg(pl.col("times").sum())
    often = times.filter(pl.col("times") > judged * (1 - FILLED))["name"].to_list()
    return empty & pl.col("name").is_in(often)


def _grouped_words(told: Differences) -> Differences:
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
    return Differences(kinds=kinds, rows=told.rows)


def _by_exception(groups: Mapping[str, str], times: Mapping[str, int]) -> dict[str, str]:
    """Templates that occur once, under the class of their exception where others share it."""
    sizes: Counter[str] = Counter()
    for template, group in groups.items():
        sizes[group] += times[template]
    classes = {group: match[0] for group in sizes if (match := _EXCEPTION.match(group)) and sizes[group] == 1}
    shared = [name for name, many in Counter(classes.values()).items() if many > 1]
    return {t: f"{classes[g]} ..." if classes.get(g) in shared else g for t, g in groups.items()}


def named(long: pl.DataFrame, run: Run) -> pl.DataFrame:
    """Differences with the task and the repeat of their rollouts."""
    places = run.rollouts.select("task_id", "repeat")[long[ROW]]
    return pl.concat([long.select(ROW), places, long.drop(ROW)], how="horizontal")
