"""The table of failure modes of a run: every rollout that did not pass stands in exactly one, counted from attributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from blade.attribution.attribute import attributed
from blade.attribution.differences_that_count import CountingDifferences, counting_differences, named
from blade.attribution.overruled import defined
from blade.model.attribution import UNATTRIBUTED, Attributions
from blade.model.diagnosis import Mode, Partition
from blade.model.reading import BY_MACHINE, ReaderAttribution
from blade.modes.catalog import by_code
from blade.stats.rollout_index import RolloutIndex

KEYS = ("task_id", "repeat", "mode", "subject", "party", "confidence", "valid", "step", "by", "also")

_BY_MACHINE = f"^(?:{'|'.join(BY_MACHINE)})"


def partition(
    rollouts: RolloutIndex,
    attributions: Attributions | None = None,
    counted: CountingDifferences | None = None,
    names: Mapping[str, str] | None = None,
) -> Partition:
    """Every rollout that did not pass with its one mode; `names` says what modes of a package are called."""
    counted = counted or counting_differences(rollouts)
    attributions = attributions or attributed(rollouts)
    table = attributions.table.filter(pl.col("outcome") != "passed").select(KEYS)
    own = defined(attributions.readings)
    return Partition(
        modes=_modes(table, names or {}, own),
        table=table,
        differences=named(counted.counting.long, rollouts.run),
        set_aside=counted.aside,
        only_reads=counted.only_reads,
        attributions=attributions,
    )


def _modes(table: pl.DataFrame, names: Mapping[str, str], own: Mapping[str, ReaderAttribution]) -> tuple[Mode, ...]:
    """By number of rollouts, what nothing decides last."""
    found = [
        _mode(str(mode), rows, names, own.get(str(mode)))
        for (mode,), rows in table.group_by("mode", maintain_order=True)
    ]
    return tuple(sorted(found, key=lambda mode: (mode.id == UNATTRIBUTED, -mode.rollouts, -mode.tasks, mode.id)))


def _mode(code: str, rows: pl.DataFrame, names: Mapping[str, str], own: ReaderAttribution | None) -> Mode:
    """`own` is a reading with the mode, where readers define it."""
    declared = by_code().get(code)
    other = own.definition.rstrip(".") if own else "Not attributed: nothing in these files decides it"
    read = int((~rows["by"].str.contains(_BY_MACHINE) & (rows["by"] != "")).sum())
    return Mode(
        id=code,
        name=declared.row if declared else names.get(code, other).rstrip("."),
        group=declared.group if declared else "package" if code in names else "readers" if own else "rest",
        party=in_words(_counts(rows["party"])),
        confidence=in_words(_counts(rows["confidence"])),
        rollouts=rows.height,
        tasks=rows["task_id"].n_unique(),
        cause_code=declared.cause.code if declared and declared.cause else None,
        with_subject=int((rows["subject"] != "").sum()),
        note=f"{read:,} by readers" if read else "",
    )


def _counts(values: pl.Series) -> list[tuple[str, int]]:
    """How often each value occurs, most often first."""
    counted = values.drop_nulls().value_counts().rows()
    return sorted(((str(value), times) for value, times in counted), key=lambda one: (-one[1], one[0]))


def in_words(counts: Sequence[tuple[str, int]]) -> str:
    """`agent`; where there are several, each with its number: `proven 3, likely 1`."""
    if len(counts) == 1:
        return counts[0][0]
    return ", ".join(f"{name} {times}" for name, times in counts)
