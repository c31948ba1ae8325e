"""The team's own rules, looked for in each rollout of the one pass or in rollouts that are read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import polars as pl

from blade.custom_rules import CustomLabel as Label
from blade.custom_rules import Rule, TooMuch, fields_named, match, needs_steps, reads
from blade.model.finding import Detect, Detection, Hit
from blade.model.rollout import Rollout
from blade.model.run import Run
from blade.rules.declaration import Rule as CatalogRule
from blade.rules.hits import hit_of

AT_ONCE = 2_000
"""Rollouts that are read again together: few enough to be held in memory."""


class CustomDetection(msgspec.Struct, frozen=True, kw_only=True):
    """Looks for rules by name, after what `first` looks for; picklable."""

    rules: tuple[tuple[str, Rule], ...]
    stages: tuple[tuple[str, Rule], ...] = ()
    first: Detect | None = None

    def __call__(self, rollouts: Sequence[Rollout]) -> list[Detection]:
        """What `first` saw, with the hits of the taught rules and those that could not look."""
        seen = self.first(rollouts) if self.first is not None else [Detection()] * len(rollouts)
        return [self._with_custom_rules(one, rollout) for one, rollout in zip(seen, rollouts, strict=True)]

    def _with_custom_rules(self, seen: Detection, rollout: Rollout) -> Detection:
        found = [(name, _look(name, rule, rollout)) for name, rule in self.rules]
        hits = tuple(hit for _, hit in found if isinstance(hit, Hit))
        cannot = tuple(name for name, hit in found if hit is None)
        reached = tuple(name for name, rule in self.stages if _look(name, rule, rollout))
        return msgspec.structs.replace(
            seen, hits=seen.hits + hits, cannot_check=seen.cannot_check + cannot, reached=reached
        )


def _look(name: str, rule: Rule, rollout: Rollout) -> Hit | bool | None:
    """The hit, False when the rule does not hold, None when it could not look."""
    features = rollout.features
    if needs_steps(rule) and (features is None or not features.steps or rollout.steps is None):
        return None
    try:
        found = match(rule, rollout)
    except TooMuch:
        return None
    return hit_of(name, rollout, found.evidence) if found is not None else False


def as_rule(label: Label) -> CatalogRule:
    """A label of a package as a rule of the catalogue; the team vouches for it."""
    verdict = [name for name in ("outcome", "reward", "expected") if reads(label.rule, name)]
    fields = [f"row.{name}" for name in fields_named(label.rule)]
    return CatalogRule(
        code=label.name,
        name=label.name,
        family="package",
        message=label.message,
        sections=(("Rule", label.text),),
        cause=label.cause,
        kind="direct" if label.direct else "associated",
        reads=("steps", *verdict, *fields),
        scope="rollout",
        status="stable",
    )


def detected_again(run: Run, detect: Detect) -> Run:
    """The run with only what `look` sees in its rollouts, which are read again."""
    there = run.rollouts.filter(pl.col("artifact").is_not_null())
    places = list(there.select("task_id", "repeat").iter_rows())
    seen: list[Detection] = []
    for start in range(0, len(places), AT_ONCE):
        seen += detect(list(run.reread(places[start : start + AT_ONCE])))
    return _with(run, places, seen)


def _with(run: Run, places: Sequence[tuple[str, int]], seen: Sequence[Detection]) -> Run:
    types = {name: run.rollouts.schema[name] for name in ("task_id", "repeat", "fired", "cannot_check")}
    columns = {
        "task_id": [task for task, _ in places],
        "repeat": [repeat for _, repeat in places],
        "fired": [[msgspec.structs.asdict(hit) for hit in one.hits] or None for one in seen],
        "cannot_check": [list(one.cannot_check) or None for one in seen],
    }
    found = pl.DataFrame(columns, schema=types)
    rows = run.rollouts.drop("fired", "cannot_check").join(
        found, on=["task_id", "repeat"], how="left", maintain_order="left"
    )
    return replace(run, rollouts=rows.select(run.rollouts.columns))
