"""Modes and rules that are commoner in one run than in the other, and whether that matters to the outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from blade.comparison.values import Shift
from blade.model.diagnosis import Diagnosis, Mode, RuleStatistics
from blade.model.run import Run
from blade.stats.association import benjamini_hochberg
from blade.stats.counts import JUDGED, fired
from blade.stats.paired import compare_counts

FEWEST = 2
"""Rollouts that a mode or a rule needs in one of the runs before it is listed."""


def shifts_of(
    runs: tuple[Run, Run], found: tuple[Diagnosis, Diagnosis], pairs: Sequence[tuple[str, str]]
) -> tuple[Shift, ...]:
    """What grew and what shrank, most surely first; tested over joined tasks in one family."""
    rows = [*_modes(runs, found, pairs), *_rules(runs, found, pairs)]
    tested = [p for _, p in rows if p is not None]
    q = iter(benjamini_hochberg(tested)) if tested else iter(())
    made = [replace(shift, q_value=float(next(q)) if p is not None else None) for shift, p in rows]
    return tuple(sorted(made, key=lambda one: (one.q_value if one.q_value is not None else 2.0, -_gap(one), one.id)))


def _gap(one: Shift) -> float:
    shares = [
        times / of if of else 0.0 for times, of in ((one.baseline, one.baseline_of), (one.candidate, one.candidate_of))
    ]
    return abs(shares[1] - shares[0])


def _modes(
    runs: tuple[Run, Run], found: tuple[Diagnosis, Diagnosis], pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[Shift, float | None]]:
    named: dict[str, Mode] = {mode.id: mode for one in found for mode in one.partition.modes}
    for id_ in sorted(named):
        hits = [one.partition.table.filter(pl.col("mode") == id_).select("task_id") for one in found]
        yield from _shift("mode", id_, named[id_].name, "by itself a failure", runs, hits, pairs)


def _rules(
    runs: tuple[Run, Run], found: tuple[Diagnosis, Diagnosis], pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[Shift, float | None]]:
    looks: dict[str, list[RuleStatistics]] = {}
    for one in found:
        for detect in one.rule_statistics:
            looks.setdefault(detect.code, []).append(detect)
    for code in sorted(looks):
        hits = [run.rollouts.filter(JUDGED & fired([code])).select("task_id") for run in runs]
        supports = (
            " and ".join(dict.fromkeys(str(detect.support) for detect in looks[code] if detect.fired)) or "not seen"
        )
        yield from _shift("rule", code, looks[code][0].message, supports, runs, hits, pairs)


def _shift(
    kind: str,
    id_: str,
    name: str,
    matters: str,
    runs: tuple[Run, Run],
    hits: Sequence[pl.DataFrame],
    pairs: Sequence[tuple[str, str]],
) -> Iterator[tuple[Shift, float | None]]:
    joined = [[pair[side] for pair in pairs] for side in (0, 1)]
    counts = [_per_task(hit, tasks) for hit, tasks in zip(hits, joined, strict=True)]
    sizes = [
        _per_task(run.rollouts.filter(JUDGED).select("task_id"), tasks) for run, tasks in zip(runs, joined, strict=True)
    ]
    totals = [int(side.sum()) for side in counts]
    if max(totals) < FEWEST:
        return
    both = (sizes[0] > 0) & (sizes[1] > 0)
    paired = compare_counts(counts[0][both], sizes[0][both], counts[1][both], sizes[1][both]) if both.any() else None
    yield (
        Shift(
            kind=kind,
            id=id_,
            name=name,
            baseline=totals[0],
            candidate=totals[1],
            baseline_of=int(sizes[0].sum()),
            candidate_of=int(sizes[1].sum()),
            q_value=None,
            matters=matters,
        ),
        paired.p_value if paired is not None else None,
    )


def _per_task(rows: pl.DataFrame, tasks: Sequence[str]) -> np.ndarray:
    counts = dict(rows.group_by("task_id").len().iter_rows())
    return np.asarray([counts.get(task, 0) for task in tasks], dtype=np.int64)
