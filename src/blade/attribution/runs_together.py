"""The attributions of runs that are loaded together: each with what the others say of its tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from blade.attribution.attribute import attributed, labels_of
from blade.attribution.collect import OtherRun, as_other_run
from blade.ingest.labels import labels_for
from blade.model.attribution import Attributions
from blade.model.diagnosis import Label
from blade.model.run import Run
from blade.stats.rollout_index import index_rollouts
from blade.stats.task_matching import may_be_comparable, same_tasks

if TYPE_CHECKING:
    import polars as pl

    from blade.custom_rules.rule_book import RuleBook

MOST_RUNS = 12
"""Runs whose tasks are matched with each other's; of more, each is attributed alone."""


class DraftAttributions(Struct, frozen=True, kw_only=True):
    """The attributions of a run by the tables, and the other runs that had a say in them."""

    run: str
    attributions: Attributions
    others: tuple[OtherRun, ...] = ()

    def of(self, run: Run) -> Attributions:
        """Those of the rollouts that are left of the run, in the order of its table."""
        table, by_rules = self.attributions.table, self.attributions.by_rules
        if table.height == run.rollouts.height:
            return self.attributions
        left = _kept(by_rules, run) if by_rules is not None else None
        return replace(self.attributions, table=_kept(table, run), by_rules=left)


def _kept(table: pl.DataFrame, run: Run) -> pl.DataFrame:
    places = run.rollouts.select("task_id", "repeat")
    return places.join(table, on=["task_id", "repeat"], how="left", maintain_order="left").select(table.columns)


def attribute_together(
    runs: Sequence[Run], books: Sequence[RuleBook], labels: Sequence[Label] = ()
) -> list[DraftAttributions]:
    """For each run its attributions, with the vetoes and the support of the others; readers and labels overrule."""
    matched = _matched(runs) if 1 < len(runs) <= MOST_RUNS else {}
    return [_draft(run, book, labels, runs, matched) for run, book in zip(runs, books, strict=True)]


def _draft(
    run: Run,
    book: RuleBook,
    labels: Sequence[Label],
    runs: Sequence[Run],
    matched: Mapping[tuple[str, str], Mapping[str, str]],
) -> DraftAttributions:
    others = tuple(
        as_other_run(other, matched[other.name, run.name]) for other in runs if (other.name, run.name) in matched
    )
    found = attributed(index_rollouts(run), others, labels_of(book.labels), labels_for(run, labels))
    return DraftAttributions(run=run.name, attributions=found, others=others)


def _matched(runs: Sequence[Run]) -> dict[tuple[str, str], dict[str, str]]:
    """By the names of a run and another one: the other's id of each task that both have."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for one, two in combinations(runs, 2):
        if may_be_comparable(one.tasks, two.tasks) and (match := same_tasks(one.tasks, two.tasks)).comparable:
            found[one.name, two.name] = dict(match.pairs)
            found[two.name, one.name] = {b: a for a, b in match.pairs}
    return found
