"""Readers' attributions in place of the rules': the table of a run with what people, agents and models say of its rollouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from msgspec import structs

from blade.attribution.cause_codes import CAUSES, GENERIC, GROUP_OF_CAUSE, PARTIES
from blade.model.attribution import ATTRIBUTIONS, UNATTRIBUTED, Attributions, Confidence, Stage
from blade.model.diagnosis import Label
from blade.model.finding import Cause
from blade.model.reading import BY_LABEL, SOUND, ReaderAttribution
from blade.modes.catalog import by_code
from blade.stats.infrastructure import INFRA
from blade.stats.infrastructure import PARTIES as OF_MACHINERY

_KEY = ("task_id", "repeat")
_QUOTE = pl.Struct({"quote": pl.String, "field": pl.String, "step": pl.Int32})
_READ: dict[str, pl.DataType | type[pl.DataType]] = {
    "task_id": pl.String,
    "repeat": pl.Int32,
    "stage": pl.String,
    "mode": pl.String,
    "subject": pl.String,
    "party": pl.String,
    "confidence": pl.String,
    "valid": pl.Boolean,
    "evidence": pl.List(_QUOTE),
    "contrast": pl.String,
    "by": pl.String,
    "note": pl.String,
}


def overruled(rules: Attributions, readings: Sequence[ReaderAttribution]) -> Attributions:
    """The attributions with the readings in place of what the rules said; of several on one rollout the last counts.

    A pass stays a pass: a reader who finds something wrong with it adds that to `also`.
    """
    table = rules.rules_table
    if not readings:
        return structs.replace(rules, table=table, by_rules=None, readings=())
    last = {(one.task_id, one.repeat): one for one in readings}
    stages = {
        (task, repeat): (outcome, stage, valid)
        for task, repeat, outcome, stage, valid in table.select(*_KEY, "outcome", "stage", "valid").iter_rows()
        if (task, repeat) in last
    }
    cells = [_cells(one, *stages[place]) for place, one in last.items() if place in stages]
    if not cells:
        return structs.replace(rules, table=table, by_rules=None, readings=())
    read = pl.DataFrame(cells, schema=_READ).with_columns(was_read=pl.lit(value=True))
    both = table.join(read, on=_KEY, how="left", suffix="_read", maintain_order="left")
    was, passed = pl.col("was_read").fill_null(value=False), pl.col("outcome") == "passed"
    said, kept = ("evidence", "by", "note"), ("stage", "subject", "contrast", "mode", "party", "confidence", "valid")
    columns = [pl.when(was).then(f"{name}_read").otherwise(name).alias(name) for name in said]
    columns += [pl.when(was & ~passed).then(f"{name}_read").otherwise(name).alias(name) for name in kept]
    doubted = was & passed & (pl.col("mode_read") != SOUND)
    named = pl.concat_list(pl.col("also").fill_null(pl.lit([], dtype=pl.List(pl.String))), pl.col("mode_read"))
    columns.append(pl.when(doubted).then(named).otherwise("also").alias("also"))
    found = both.with_columns(columns).with_columns(infra=INFRA).select(list(ATTRIBUTIONS))
    return structs.replace(rules, table=found, by_rules=table, readings=tuple(readings))


def _cells(one: ReaderAttribution, outcome: str, stage: str, valid: bool) -> dict[str, object]:
    declared, unknown = by_code().get(one.mode), one.mode == UNATTRIBUTED
    graded = outcome == "failed" and (
        declared.valid if declared is not None else valid if unknown else one.party not in OF_MACHINERY
    )
    return {
        "task_id": one.task_id,
        "repeat": one.repeat,
        "stage": stage
        if unknown or outcome != "failed"
        else _stage(declared.stage if declared else None, stage, graded),
        "mode": one.mode,
        "subject": one.subject,
        "party": one.party,
        "confidence": None if unknown else str(one.confidence),
        "valid": graded,
        "evidence": [structs.asdict(quote) for quote in one.quotes],
        "contrast": "",
        "by": one.by,
        "note": one.note,
    }


def _stage(declared: Stage | None, by_rules: str, graded: bool) -> str:
    """How far it came: as the mode says; of a mode that readers define, as its party implies."""
    if declared is not None:
        return str(declared)
    if graded:
        return str(Stage.GRADED)
    return str(Stage.AGENT_FINISHED) if by_rules == Stage.GRADED else by_rules


def of_labels(table: pl.DataFrame, labels: Mapping[str, Label]) -> tuple[ReaderAttribution, ...]:
    """A person's verdicts on tasks as readings of their rollouts: the generic mode of the cause, for every rollout whose
    mode is of another group.
    """
    mine = table.filter(pl.col("task_id").is_in(sorted(labels)) & (pl.col("outcome") != "passed"))
    found = []
    for run, task, repeat, mode in mine.select("run", *_KEY, "mode").iter_rows():
        label = labels[task]
        if label.cause is not None and not _speaks_for(mode, label.cause):
            found.append(
                ReaderAttribution(
                    run=run,
                    task_id=task,
                    repeat=repeat,
                    mode=GENERIC[label.cause],
                    party=PARTIES[label.cause],
                    by=BY_LABEL,
                    confidence=Confidence.LIKELY,
                    note=label.note,
                )
            )
    return tuple(found)


def _speaks_for(mode: str, cause: Cause) -> bool:
    declared = by_code().get(mode)
    return declared is not None and declared.group.startswith(GROUP_OF_CAUSE[cause])


def defined(readings: Sequence[ReaderAttribution]) -> dict[str, ReaderAttribution]:
    """The last reading with each mode that readers define: it says what the mode means and who has to act."""
    return {one.mode: one for one in readings if one.definition and one.mode not in by_code()}


def causes_of_defined(readings: Sequence[ReaderAttribution]) -> dict[str, Cause]:
    """The causes of the modes that readers define, by the party that has to act."""
    return {code: CAUSES[one.party] for code, one in defined(readings).items() if one.party in CAUSES}
