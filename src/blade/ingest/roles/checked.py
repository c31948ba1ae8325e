"""Which fields list named results: by the shape of their values, and by whether they go with the verdict on the rollout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from blade.ingest.roles.outcome import FEWEST_ROWS, Verdicts, correlation
from blade.ingest.roles.paths import Column, Sample, is_messages
from blade.ingest.roles.results import Result, results_in, shapes_of, verdict_of
from blade.model.roles import ResultShape

LEAST_HELD = 0.5
"""Correlation between "all results hold" and the verdict, from which two lists of names or two fields are told apart."""
LEAST_OF_SIDES = 0.9
"""The same, where nothing but the verdict tells which of two lists holds what failed."""
LEAST_EMPTY = 0.8
"""Correlation of an empty list with a pass, from which it lists what failed: any list of words may be shorter in passes."""
MOST_PARALLEL = 12
NAMED = 0.25
"""Of two fields of a criterion that go nearly as well with the verdict, the one with a usual name holds its own."""
_VERDICTS = ("passed", "outcome", "status", "result", "score", "verdict", "met", "satisfied", "correct", "success")


class Checked:
    """A field that lists results, in one of the shapes that fit; `held` is 1 where all of a row's results hold."""

    def __init__(self, shape: ResultShape, column: Column, names: Column | None = None) -> None:
        self.shape = shape
        self.others: list[Checked] = []
        """The same field in other shapes that fit."""
        self.results: list[list[Result] | None] = [
            None if value is None else results_in(value, shape, None if names is None else names[place])
            for place, value in enumerate(column)
        ]
        self.held: Verdicts = [None if not found else float(all(one.passed for one in found)) for found in self.results]
        if shape.kind in ("sides", "traces", "failures"):
            self.held = [None if found is None else float(all(one.passed for one in found)) for found in self.results]
        self.by_words = _gives_words(shape, column)

    def by(self, reward: Verdicts | None) -> Checked:
        """The field in the shape whose verdicts go best with that on the rollout; in the first where nothing tells."""
        if reward is None or not self.others:
            return self
        return max(
            (self, *self.others), key=lambda one: one.together(reward) + NAMED * (one.shape.verdict in _VERDICTS)
        )

    def together(self, reward: Verdicts) -> float:
        """How well it goes with the verdict."""
        found = (correlation(self.held, reward), correlation(_shares(self.results), reward))
        return max((value for value in found if value is not None), default=0.0)

    def names(self) -> Iterator[str]:
        """Names of results, those of the first rows."""
        return islice((one.name for found in self.results if found for one in found), 400)

    def why(self, reward: Verdicts | None, groups: Sequence[Any]) -> str:
        """Why the field holds checks; empty where it is configuration, or may be."""
        count = sum(len(found) for found in self.results if found)
        rows = sum(bool(found) for found in self.results)
        said = f"{count} named results in {rows} rows"
        together = correlation(self.held, reward) if reward is not None else None
        if together is not None and together >= self._least():
            return f"{said}; all hold where the reward is high (correlation {together:.2f})"
        if self.by_words:
            return f"{said}, with words such as passed and failed"
        if self.shape.kind == "sides" and not _says_sides(self.shape):
            return ""
        share = correlation(_shares(self.results), reward) if reward is not None else None
        if share is not None and share >= LEAST_HELD:
            return f"{said}; more of them hold where the reward is high (correlation {share:.2f})"
        if self._goes_with(reward):
            return f"{said}; they fit the verdict in every row"
        return ""

    def _least(self) -> float:
        by_verdict = self.shape.kind == "sides" and not _says_sides(self.shape)
        return LEAST_OF_SIDES if by_verdict else LEAST_HELD

    def _goes_with(self, reward: Verdicts | None) -> bool:
        """Where the run has one verdict only: whether every row's results say the same, and some name varies or fails."""
        if reward is None or len({value for value in reward if value is not None}) > 1:
            return False
        pairs = [(h, r) for h, r in zip(self.held, reward, strict=True) if h is not None and r is not None]
        varies = len({_marks(found) for found in self.results if found}) > 1
        return bool(pairs) and varies and all((h == 1) == (r == 1) for h, r in pairs)


def _marks(found: Sequence[Result]) -> tuple[tuple[str, bool], ...]:
    return tuple((one.name, one.passed) for one in found)


def _shares(results: Sequence[list[Result] | None]) -> Verdicts:
    return [None if not found else sum(one.passed for one in found) / len(found) for found in results]


def _gives_words(shape: ResultShape, column: Column) -> bool:
    """Whether the verdicts are words: no configuration is written so."""
    for value in column:
        items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        for item in items:
            inner = item.get(shape.verdict) if shape.verdict and isinstance(item, dict) else item
            if isinstance(inner, str) and verdict_of(inner) is not None and shape.kind in ("map", "objects"):
                return inner.strip().lower() not in ("yes", "no", "true", "false", "ok")
    return False


def checked_fields(sample: Sample, is_taken: Callable[[str], bool]) -> list[Checked]:
    """Every field that may list results, the outermost first; of those that stand in one another only the outer one."""
    found: list[Checked] = []
    for path, column in sample.columns.items():
        if "[" in path or is_taken(path) or any(path.startswith(f"{one.shape.path}.") for one in found):
            continue
        values = sample.of(path)
        if not all(isinstance(value, dict | list) for value in values) or any(map(is_messages, values)):
            continue
        best = _best(path, values, column, sample)
        if best is not None:
            found.append(best)
    paired = {one.shape.path: one for one in _parallel(sample, is_taken)}
    return [*(one for one in found if one.shape.path not in paired), *paired.values()]


def _best(path: str, values: Sequence[Any], column: Column, sample: Sample) -> Checked | None:
    """The first shape that holds any result; which of two lists of names is of those that passed is told by the verdicts."""
    read = [one for shape in shapes_of(values) for one in [Checked(_placed(shape, path), column)] if any(one.results)]
    if not read:
        return None
    if read[0].shape.kind == "sides":
        by_words = [one for one in read if _says_sides(one.shape)]
        # Other objects hold two lists among much else: only one that is nothing but them is asked of the verdicts.
        if by_words or any(len(value) > 2 for value in values):
            return by_words[0] if by_words else None
    varied = [one for one in read if len({_marks(found) for found in one.results if found}) > 1] or read
    varied[0].others = varied[1:]
    return varied[0]


def _placed(shape: ResultShape, path: str) -> ResultShape:
    return ResultShape(path=path, kind=shape.kind, verdict=shape.verdict, name=shape.name)


def _says_sides(shape: ResultShape) -> bool:
    """Whether the names of two lists say which holds what passed and which what failed."""
    return _passes(shape.verdict) and _fails(shape.name)


def _passes(name: str) -> bool:
    return any(word in name.lower() for word in ("pass", "success", "succe", "ok", "met"))


def _fails(name: str) -> bool:
    return any(word in name.lower() for word in ("fail", "error", "miss", "unmet"))


def _parallel(sample: Sample, is_taken: Callable[[str], bool]) -> Iterator[Checked]:
    """Lists of truth values that are as long as a list of names in every row."""
    lists = {
        path: column
        for path, column in sample.columns.items()
        if "[" not in path and not is_taken(path) and any(column) and all(isinstance(v, list | None) for v in column)
    }
    verdicts = [p for p, c in lists.items() if _all_items(c, bool)][:MOST_PARALLEL]
    named = [p for p, c in lists.items() if _all_items(c, str)][:MOST_PARALLEL]
    for path in verdicts:
        names = [name for name in named if _as_long(lists[path], lists[name])]
        if names:
            yield Checked(ResultShape(path=path, kind="parallel", name=names[0]), lists[path], lists[names[0]])


def _all_items(column: Column, kind: type) -> bool:
    items = [item for value in column if value for item in value]
    return bool(items) and all(isinstance(item, kind) for item in items)


def _as_long(one: Column, other: Column) -> bool:
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None]
    return (
        bool(pairs) and all(b is not None and len(a) == len(b) for a, b in pairs) and len(pairs) >= min(FEWEST_ROWS, 1)
    )
