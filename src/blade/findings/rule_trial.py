"""A rule of the user's own over a run: how often it holds, how that goes with failing, and where to read."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

import msgspec
import polars as pl

from blade.custom_rules import Rule, fields_named, parse, reads, tools_named
from blade.ingest.artifacts import find as find_runs
from blade.ingest.load import load_found
from blade.model.diagnosis import RuleTrial, Sighting, Support, TrialSlice
from blade.model.finding import Hit
from blade.model.options import Options
from blade.model.run import Run
from blade.rules.hits import find
from blade.rules.scan import CustomDetection, detected_again
from blade.stats.counts import fired
from blade.stats.rollout_index import index_rollouts
from blade.stats.support import SymptomCounts, support, tested

TRIED = "tried"
"""The name under which hits of the rule stand in the table."""
PLACES = 5
MOST_SLICES = 12
MOST_NAMED = 8
_VERDICT = ("outcome", "reward", "expected")


def try_rule(inputs: Sequence[str], text: str, options: Options) -> tuple[RuleTrial, ...]:
    """A rule tried on every run of the inputs; RuleError when the text is none."""
    rule = parse(text)
    detection = CustomDetection(rules=((TRIED, rule),))
    found = find_runs(inputs, options.format)
    runs = load_found(found, options, detection)
    saved = len(found.analyses)
    again = (detected_again(run, detection) for run in runs[:saved])
    return tuple(trial(run, rule, text) for run in (*again, *runs[saved:]))


def try_on(run: Run, text: str) -> RuleTrial:
    """A rule tried on a run that is loaded: its rollouts are read again."""
    rule = parse(text)
    return trial(detected_again(run, CustomDetection(rules=((TRIED, rule),))), rule, text)


def trial(run: Run, rule: Rule, text: str) -> RuleTrial:
    """The trial of a rule whose hits stand in the run's table as `TRIED`."""
    rows = run.rollouts.filter(pl.col("artifact").is_not_null()).with_columns(
        fired([TRIED]).fill_null(False).alias("hit"),
        _is_blind().alias("blind"),
    )
    hit, judged = rows.filter("hit"), rows.filter(pl.col("outcome").is_in(["passed", "failed"]) & ~pl.col("blind"))
    seen = _observed(run)
    reads_verdict = any(reads(rule, name) for name in _VERDICT)
    return RuleTrial(
        run=run.name,
        rule=text,
        fired=hit.height,
        tasks=hit["task_id"].n_unique(),
        checked=rows.height - int(rows["blind"].sum()),
        skipped=int(rows["blind"].sum()),
        fired_failed=seen.fired_failed,
        fired_passed=seen.fired_passed,
        failed=seen.failed,
        passed=seen.passed,
        support=None if reads_verdict else _grade(seen, hit.height),
        risk_difference=None if reads_verdict else seen.association.risk_difference,
        p_value=None if reads_verdict else seen.association.p_value,
        informative=seen.association.informative,
        reason="the rule reads the verdict or the key, so its lift would test itself"
        if reads_verdict
        else seen.association.reason,
        slices=_slices(judged, run),
        mixed_in=seen.mixed_in,
        sightings=_sightings(hit, run),
        notes=tuple(_notes(rule, run)),
    )


def _observed(run: Run) -> SymptomCounts:
    rows = run.rollouts.select("artifact", "fired", "cannot_check")
    checked = rows.select(pl.col("artifact").is_not_null() & ~_is_blind()).to_series().to_numpy()
    seen, hit = tested(index_rollouts(run)).among(checked), rows.select(fired([TRIED])).to_series().to_numpy()
    return seen.observe(hit, seen.strata(hit))


def _is_blind() -> pl.Expr:
    return pl.col("cannot_check").list.contains(TRIED).fill_null(False)


def _grade(seen: SymptomCounts, hits: int) -> Support:
    """One rule is a family of one: its p-value is its q-value."""
    return support(seen, seen.association.p_value) if hits else Support.UNCLEAR


def _slices(judged: pl.DataFrame, run: Run) -> tuple[TrialSlice, ...]:
    """Values of slice fields in which the rule fired, most often first."""
    names = [name for name in ("key_expects", *run.tasks.columns) if name == "key_expects" or name.startswith("slice.")]
    names = list(dict.fromkeys(name for name in names if name in run.tasks.columns))
    rows = judged.select("task_id", "hit", (pl.col("outcome") == "failed").alias("lost"))
    rows = rows.join(run.tasks.select("task_id", *names), on="task_id", how="left", maintain_order="left")
    found = []
    for name in names:
        counted = (
            rows.drop_nulls(name)
            .group_by(name)
            .agg(
                pl.col("hit").sum(),
                pl.len(),
                pl.col("lost").sum(),
                (pl.col("hit") & pl.col("lost")).sum().alias("both"),
            )
        )
        field = name.removeprefix("slice.")
        found += [
            TrialSlice(field=field, value=value, fired=hit, checked=size, fired_failed=both, failed=lost)
            for value, hit, size, lost, both in counted.iter_rows()
            if hit
        ]
    return tuple(sorted(found, key=lambda one: (-one.fired, one.field, one.value))[:MOST_SLICES])


def _sightings(hit: pl.DataFrame, run: Run) -> tuple[Sighting, ...]:
    """Five rollouts of different tasks, failing ones first; where the rule fired in passing ones too, one of those."""
    first = hit.unique("task_id", keep="first", maintain_order=True)
    ordered = pl.concat([first, hit.join(first, on=["task_id", "repeat"], how="anti", maintain_order="left")])
    lost, won = ordered.filter(pl.col("outcome") != "passed"), ordered.filter(pl.col("outcome") == "passed")
    chosen = pl.concat([lost.head(PLACES - min(1, won.height)), won]).head(PLACES)
    places = list(chosen.select("task_id", "repeat").iter_rows())
    hits = [next(one for one in each if one["code"] == TRIED) for each in chosen["fired"].to_list()]
    return tuple(
        Sighting(
            location=f"{task}#{repeat}" + (f":{one['step']}" if one["step"] is not None else ""),
            outcome=outcome,
            evidence=find(rollout, msgspec.convert(one, Hit)) if one["length"] else None,
        )
        for (task, repeat), outcome, one, rollout in zip(
            places, chosen["outcome"], hits, run.reread(places) if places else (), strict=True
        )
    )


def _notes(rule: Rule, run: Run) -> list[str]:
    """Tools and fields that the rule names and that this run does not have."""
    notes = [
        f"no rollout calls a tool named {name}; tools are {_some(run.tools, name)}"
        for name in tools_named(rule)
        if not any(fnmatchcase(tool, name) for tool in run.tools)
    ]
    known = [field.path for field in run.schema]
    notes += [
        f"no row has a field {name}; fields are {_some(known, name)}"
        for name in fields_named(rule)
        if known and name != "*" and name not in known
    ]
    return notes


def _some(names: Sequence[str], wanted: str) -> str:
    """Some of the names, those that are spelled alike first."""
    near = get_close_matches(wanted, names)
    names = [*near, *(name for name in names if name not in near)]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return (", ".join(names[:MOST_NAMED]) or "none") + more
