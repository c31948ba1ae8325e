"""mean, max, min, median and std of every numeric field, by group, as NeMo Gym gives them, to the last digit.

Sums are made in the order in which numpy makes them for one group alone, so that many groups at once give the same
digits. Nulls are left out; a value that cannot be had has no key. One habit of the reference is kept: where no field of
a group has a spread, a field without gaps has the spread 0; otherwise its key is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from blade_gym.profile.rows import GymRow, Number

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

STATS = ("mean", "max", "min", "median", "std")


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Numbers of some rollouts, a column a field."""

    names: tuple[str, ...]
    """In the order in which rows first have them."""
    columns: Floats
    """Field x rollout; NaN where a rollout has no such number."""
    whole: bool
    """Every rollout has every field, and all are integers: the largest and the smallest are then integers too."""

    def take(self, places: Integers) -> Frame:
        """The rollouts at some places, with every field."""
        return Frame(names=self.names, columns=self.columns[:, places], whole=self.whole)


@dataclass(frozen=True, kw_only=True, eq=False)
class AsRead:
    """Rollouts as they were read: what lies side by side in memory is gone through far quicker."""

    rows: Sequence[GymRow]
    back: Integers
    """Where each rollout, in order of task and repeat, is among them."""

    def in_order(self) -> list[GymRow]:
        """By task and repeat."""
        return [self.rows[place] for place in self.back.tolist()]


def as_read(rows: Sequence[GymRow]) -> AsRead:
    """Rollouts that are in order, as they were read."""
    home = np.argsort(np.fromiter((row.serial for row in rows), dtype=np.int64, count=len(rows)))
    return AsRead(rows=[rows[place] for place in home.tolist()], back=np.argsort(home))


def frame(found: AsRead) -> Frame:
    """The numbers of rollouts, in order; those of `usage` go before those of the same name in the row."""
    rows = found.rows
    shapes = _shapes(rows)
    alike = len(shapes) == 1 and all(set(own).isdisjoint(usage) for own, usage in shapes)
    shapes = shapes if alike else _shapes(found.in_order())
    names = tuple(dict.fromkeys(name for own, usage in shapes for name in (*own, *usage)))
    values = chain.from_iterable(_in_line(rows) if alike else _by_name(rows, names))
    table = np.fromiter(values, dtype=np.float64, count=len(rows) * len(names))
    columns = np.ascontiguousarray(table.reshape(len(rows), len(names))[found.back].T)
    return Frame(names=names, columns=columns, whole=len(shapes) == 1 and _whole(rows))


def _shapes(rows: Sequence[GymRow]) -> dict[tuple[tuple[str, ...], tuple[str, ...]], None]:
    """The fields of rows, each combination once, in the order in which they come."""
    return dict.fromkeys((tuple(row.own), tuple(row.usage)) for row in rows)


def _in_line(rows: Sequence[GymRow]) -> Iterator[Iterable[Number]]:
    """Numbers of rows that all have the same fields in the same order, none of them twice."""
    for row in rows:
        yield row.own.values()
        yield row.usage.values()


def _by_name(rows: Sequence[GymRow], names: Sequence[str]) -> Iterator[Iterable[Number]]:
    for row in rows:
        merged = row.own | row.usage
        yield [merged.get(name, np.nan) for name in names]


def _whole(rows: Sequence[GymRow]) -> bool:
    return all(type(value) is int for row in rows for value in (row.own | row.usage).values())


def describe(found: Frame, groups: Integers) -> list[dict[str, Number]]:
    """The statistics of each group; `groups` numbers the group of each rollout, from 0 and in ascending order."""
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])) if len(sizes) else sizes
    table = np.full((len(sizes), len(STATS), len(found.names)), np.nan)
    for size in np.unique(sizes[sizes > 0]):
        chosen = np.flatnonzero(sizes == size)
        places = starts[chosen][:, None] + np.arange(size)
        table[chosen] = _of_groups(np.ascontiguousarray(found.columns[:, places]))
    return _as_dicts(found, table)


def _of_groups(values: Floats) -> Floats:
    """Statistics of groups of one size: field x group x rollout to group x statistic x field."""
    there = ~np.isnan(values)
    counts = there.sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.where(there, values, 0.0).sum(axis=2) / counts
        squares = np.where(there, (mean[:, :, None] - values) ** 2, 0.0).sum(axis=2)
        std = np.sqrt(squares / np.where(counts > 1, counts - 1, np.nan))
    high = np.where(there, values, -np.inf).max(axis=2)
    low = np.where(there, values, np.inf).min(axis=2)
    spread = _with_zeros(std, counts == values.shape[2])
    made = np.stack([mean, high, low, _medians(values, counts), spread])
    return np.where(np.isfinite(made), made, np.nan).transpose(2, 0, 1)


def _with_zeros(std: Floats, complete: npt.NDArray[np.bool_]) -> Floats:
    nowhere = np.isnan(std).all(axis=0)
    return np.where(nowhere & complete & np.isnan(std), 0.0, std)


def _medians(values: Floats, counts: Integers) -> Floats:
    ordered = np.sort(values, axis=2)  # NaN goes last
    middle = np.stack([np.maximum(counts - 1, 0) // 2, np.minimum(counts // 2, values.shape[2] - 1)], axis=2)
    pair = np.take_along_axis(ordered, middle, axis=2)
    return (pair[:, :, 0] + pair[:, :, 1]) / 2


def _as_dicts(found: Frame, table: Floats) -> list[dict[str, Number]]:
    keys = [f"{stat}/{name}" for stat in STATS for name in found.names]
    rows = table.reshape(len(table), len(keys)).tolist()
    made = [{key: value for key, value in zip(keys, row, strict=True) if value == value} for row in rows]
    return [_whole_ends(row) for row in made] if found.whole else made


def _whole_ends(row: dict[str, Number]) -> dict[str, Number]:
    return {key: int(value) if key.startswith(("max/", "min/")) else value for key, value in row.items()}
