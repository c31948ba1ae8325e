"""Failures that share a difference: the groups from which findings are made."""

from __future__ import annotations

import numpy as np
import polars as pl
from msgspec import Struct

from blade.attribution.mode_kinds import party_of
from blade.evidence.context import Refs
from blade.evidence.differences import A_JUDGE
from blade.model.diagnosis import Partition
from blade.model.finding import Differs
from blade.stats.rollout_index import RolloutIndex

FAMILIES = {
    Differs.UNWANTED: "extra",
    Differs.EXTRA: "extra",
    Differs.NOT_MADE: "left-out",
    Differs.MISSING: "left-out",
    Differs.ARGUMENT: "argument",
    Differs.NOT_SAID: "not-said",
    Differs.CHECK: "check",
    Differs.ANSWER: "answer",
    Differs.CUT: "limit",
    Differs.ERROR: "machinery",
    Differs.NO_RECORD: "no-verdict",
    Differs.NO_ANSWER: "no-answer",
    Differs.REFUSED: "schema",
    Differs.SAID: "words",
}
"""Kinds of difference that make one finding together."""

NUMBERED = r"^(?i:(?:(?:unit|hidden|public|private|test|case|item|step|check|example|sample|input|t)s?[ _.:#-]*){0,3}\d+|tests)$"
"""The name of a test that has none of its own: an ordinal, which tests of other tasks have too."""
A_TOTAL = "<n> of <n>"
"""The words of a check that is only a number of those that hold: the verifier's own words say more."""
A_RULE = r"^[A-Z]{3}\d{3}$"
"""The code of a rule, which is the name of a difference that it sees."""
BEFORE_JUDGING = r"^(?:\w*(?:apply|parse|parsing|format|schema|compile|build|syntax|extract)\w*_failed|invalid_format|\w*patch\w*: false)$"
"""Flags that say that something failed before anything could be judged."""
MOST = 40
"""Groups that are looked at, the largest."""

_BY_KIND_ALONE = ("not-said", "no-verdict", "no-answer", "declined", "machinery")
"""Families of which a run has one group, whatever the names inside."""
_SHARED = ("family", "name", "detail")
_OWN_DETAIL = ("argument", "words")
_OF_THE_END = ("answer", "no-answer", "declined", "check", "words", "not-said", "left-out")
"""Families of what a rollout that ran on might still have mended."""
_JUDGED = ("answer", "check", "words", "declined")
"""Families of what a verdict rests on."""


class FailureGroup(Struct, frozen=True, kw_only=True):
    """Rollouts that share a difference."""

    family: str
    name: str
    detail: str
    failing: Refs
    passing: Refs
    alone: Refs
    """Failing rollouts in which nothing else differs."""

    @property
    def id(self) -> str:
        return group_id(self.family, self.name, self.detail)

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.failing.tasks


def group_id(family: str, name: str, detail: str) -> str:
    """`argument:book_seat:row`: what the rollouts of a group share."""
    return ":".join(part for part in (family, name, detail) if part)


def groups(partition: Partition, rollouts: RolloutIndex) -> list[FailureGroup]:
    """Every group of two failures or more (one, where only few failed), largest first."""
    told = _without_consequences(_by_family(_without_totals(_with_look_ups(partition))))
    long = _single_checks(_named_checks(_unexplained_refusals(told)))
    fewest = 2 if partition.table.height > 10 else 1
    found = _gathered(long, rollouts).filter(pl.col("failing").list.len() >= fewest)
    sizes = found.select(pl.col("failing").list.len(), "tasks", *_SHARED).rows()
    ranked = sorted(
        range(len(sizes)), key=lambda place: (-sizes[place][0], -sizes[place][1], group_id(*sizes[place][2:]))
    )
    return [_group(found[place], rollouts) for place in ranked[:MOST]]


def _gathered(long: pl.DataFrame, rollouts: RolloutIndex) -> pl.DataFrame:
    """Each group with the rows of its rollouts, in the order in which they come."""
    kinds = long.select(_SHARED).unique(maintain_order=True).with_row_index("what")
    told = long.join(kinds, on=_SHARED, how="left", nulls_equal=True, maintain_order="left")
    once = (pl.col("row").cast(pl.UInt64) * kinds.height + pl.col("what")).is_first_distinct()
    told = told.select("row", "what", "passed", words=pl.col("family") == "words").filter(once)
    rows = told["row"].to_numpy()
    defects = np.bincount(
        rows[told.select(~pl.col("words") & ~pl.col("passed")).to_series()], minlength=len(rollouts.task)
    )
    told = told.with_columns(defects=defects[rows], task=rollouts.task[rows])
    # Words come on top of what differs; where they are all there is, the rollout has no other difference.
    single, row = pl.col("defects") == (~pl.col("words")).cast(pl.Int64), pl.col("row")
    found = told.group_by("what", maintain_order=True).agg(
        failing=row.filter(~pl.col("passed")),
        passing=row.filter(pl.col("passed")),
        alone=row.filter(~pl.col("passed") & single),
        tasks=pl.col("task").filter(~pl.col("passed")).n_unique(),
    )
    return kinds.join(found, on="what", maintain_order="left")


def _group(found: pl.DataFrame, rollouts: RolloutIndex) -> FailureGroup:
    def places(name: str) -> Refs:
        return Refs(of=rollouts, rows=found[name].item().to_numpy().astype(np.int64))

    family, name, detail = found.select(_SHARED).row(0)
    return FailureGroup(
        family=family,
        name=name,
        detail=detail,
        failing=places("failing"),
        passing=places("passing"),
        alone=places("alone"),
    )


def _with_look_ups(partition: Partition) -> pl.DataFrame:
    """The differences; where look-ups are what is judged, they are named like changes."""
    if not partition.only_reads:
        return partition.differences
    kind = pl.when(pl.col("detail") == "").then(pl.lit(str(Differs.MISSING))).otherwise(pl.lit(str(Differs.ARGUMENT)))
    named = pl.when(pl.col("kind") == Differs.LOOKUP).then(kind).otherwise(pl.col("kind")).alias("kind")
    return partition.differences.with_columns(named)


def _without_totals(differences: pl.DataFrame) -> pl.DataFrame:
    """Without numbers of tests that hold, in rollouts of which the verifier says more."""
    if not (differences["kind"] == Differs.SAID).any():
        return differences
    spoken = differences.filter(pl.col("kind") == Differs.SAID).select("row").unique()
    told = differences.join(spoken.with_columns(spoken=True), on="row", how="left", maintain_order="left")
    total = (pl.col("kind") == Differs.CHECK) & (pl.col("detail") == A_TOTAL)
    return told.filter(~(total & pl.col("spoken").fill_null(value=False))).drop("spoken")


def _by_family(differences: pl.DataFrame) -> pl.DataFrame:
    family = pl.col("kind").replace_strict(
        [str(kind) for kind in FAMILIES], list(FAMILIES.values()), default=None, return_dtype=pl.String
    )
    declined = (pl.col("kind") == Differs.NO_ANSWER) & (pl.col("name") == "declined")
    family = pl.when(declined).then(pl.lit("declined")).otherwise(family)
    long = differences.with_columns(family.alias("family")).drop_nulls("family")
    nameless = pl.col("family").is_in(_BY_KIND_ALONE) & ~pl.col("name").str.contains(A_RULE)
    named = pl.when(nameless).then(pl.lit("")).otherwise(pl.col("name"))
    detailed = pl.when(pl.col("family").is_in(_OWN_DETAIL)).then(pl.col("detail")).otherwise(pl.lit(""))
    return long.with_columns(named.alias("name"), detailed.alias("detail"))


def _without_consequences(long: pl.DataFrame) -> pl.DataFrame:
    """Without what comes of machinery that failed, of a cut or of a refusal: that comes first."""
    long = _less(long, "machinery", pl.col("family") != "machinery")
    long = _less(long, "limit", pl.col("family").is_in(_OF_THE_END))
    long = _less(long, "no-verdict", pl.col("family").is_in(_JUDGED))
    long = _less(long, "declined", pl.col("family").is_in(["answer", "no-answer"]))
    unjudged = pl.col("detail").str.contains(BEFORE_JUDGING)
    long = _less(long, "words", pl.col("family") == "check", unjudged)
    of_a_judge = (pl.col("family") == "words") & (pl.col("detail") == A_JUDGE)
    long = _less(long, "words", of_a_judge, pl.col("detail").is_in(_of_others(long)))
    # An answer that holds the key is right; where a criterion fails, that is why it was rejected.
    return _less(long, "check", (pl.col("family") == "answer") & (pl.col("name") == "contained"))


def _of_others(long: pl.DataFrame) -> list[str]:
    """Words in which the verifier names somebody else than the agent: what its judge says is about them."""
    spoken = long.filter((pl.col("family") == "words") & ~pl.col("passed")).select("name", "detail").unique()
    return sorted(detail for name, detail in spoken.iter_rows() if party_of(name, detail) != "agent")


def _less(long: pl.DataFrame, family: str, after: pl.Expr, before: pl.Expr | None = None) -> pl.DataFrame:
    """Without the differences that come `after`, in rollouts that have one of a family, for which `before` holds."""
    mine = long.filter(long["family"] == family)
    first = (mine if before is None else mine.filter(before)).select("row").unique()
    if first.is_empty():
        return long
    told = long.join(first.with_columns(first=True), on="row", how="left", maintain_order="left")
    return told.filter(~(pl.col("first").fill_null(value=False) & after)).drop("first")


def _unexplained_refusals(long: pl.DataFrame) -> pl.DataFrame:
    """Calls against a schema count where nothing else explains a failure: many tools take them all the same."""
    if not (long["family"] == "schema").any():
        return long
    explained = long.filter((pl.col("family") != "schema") & ~pl.col("passed")).select("row").unique()
    told = long.join(explained.with_columns(explained=True), on="row", how="left", maintain_order="left")
    return told.filter((pl.col("family") != "schema") | pl.col("explained").is_null()).drop("explained")


def _named_checks(long: pl.DataFrame) -> pl.DataFrame:
    """Without tests that have only a number, where the verifier has words for what went wrong."""
    if not (long["family"] == "words").any():
        return long
    return long.filter((pl.col("family") != "check") | ~pl.col("name").str.contains(NUMBERED))


def _single_checks(long: pl.DataFrame) -> pl.DataFrame:
    """Tests and criteria that belong to one task only make one group together."""
    if not (long["family"] == "check").any():
        return long
    tasks = (
        long.filter((pl.col("family") == "check") & ~pl.col("passed"))
        .group_by("name")
        .agg(pl.col("task_id").n_unique().alias("tasks"))
    )
    shared = tasks.filter((pl.col("tasks") > 1) & ~pl.col("name").str.contains(NUMBERED))["name"].to_list()
    single = (pl.col("family") == "check") & ~pl.col("name").is_in(shared)
    return long.with_columns(pl.when(single).then(pl.lit("")).otherwise(pl.col("name")).alias("name"))
