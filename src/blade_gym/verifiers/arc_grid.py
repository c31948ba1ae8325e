r"""A grid of colors is the expected one, cell by cell.

The answer is the first readable grid in `\boxed{[[...]]}`; in a text without such a box, the first `[[...]]`. The text of all
assistant messages is read.

Row
    `expected_output` (or `expected_answer`): rows of integers, as nested lists.

Fields
    `predicted_output` (null where no grid was found), `extraction_successful`, `expected_output`, the same as lines of
    digits in `extracted_answer` and `expected_answer`, `cells_total` and `cells_passed` where the shapes agree,
    `failure_reason`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from blade_gym.environment import NoVerdict, Row, Verdict
from blade_gym.single_turn import Config

Grid = list[list[int]]

LARGEST = 64
"""Rows or columns of a grid that is kept in a row of results; none of the tasks has so many."""
_RUN = re.compile(r"[\d\s,\[\]]+")
_BOXED_RUN = re.compile(r"\\boxed\{(\[[\d\s,\[\]]+\])\}")
_OPENS = re.compile(r"\[\s*\[")
_CLOSES = re.compile(r"\](?=\s*\])")


def gold(row: Row) -> str:
    """The grid as nested lists in a box."""
    return f"\\boxed{{{json.dumps(_expected(row))}}}"


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for the same grid, else 0."""
    expected, answer = _expected(row), read_grid(text)
    kept = answer if answer is not None and max(len(answer), *map(len, answer)) <= LARGEST else None
    fields: dict[str, Any] = {
        "predicted_output": kept,
        "extraction_successful": answer is not None,
        "expected_output": expected,
        "extracted_answer": lines(kept) if kept is not None else None,
        "expected_answer": lines(expected),
        "failure_reason": _wrong(expected, answer),
    }
    if answer is not None and shape(answer) == shape(expected):
        pairs = [
            (cell, right)
            for given, due in zip(answer, expected, strict=True)
            for cell, right in zip(given, due, strict=True)
        ]
        fields |= {"cells_total": len(pairs), "cells_passed": sum(cell == right for cell, right in pairs)}
    return Verdict(reward=float(answer == expected), fields=fields)


def _expected(row: Row) -> Grid:
    given = row.get("expected_output", row.get("expected_answer"))
    try:
        grid = _as_grid(json.loads(given) if isinstance(given, str) else given)
    except ValueError:
        grid = None
    if grid is None:
        raise NoVerdict("the row has no expected grid", failure_class="skipped", terminal=True)
    return grid


def read_grid(text: str) -> Grid | None:
    """The grid that a text gives as its answer; None where there is none."""
    boxed = [found.group(1) for found in _BOXED_RUN.finditer(text)]
    whole = [run for run in boxed if _nested(run) == run]
    candidates = whole or (_nested(found.group()) for found in _RUN.finditer(text))
    return next((grid for grid in _grids(candidates) if grid is not None), None)


def _nested(run: str) -> str | None:
    """From the first `[[` to the last `]]` of a run of characters of grids, with something in between; linear in time."""
    opens = _OPENS.search(run)
    closes = [found.start() for found in _CLOSES.finditer(run)] if opens else []
    if not opens or not closes or closes[-1] <= opens.end():
        return None
    return run[opens.start() : run.index("]", closes[-1] + 1) + 1]


def _grids(candidates: Any) -> Iterator[Grid | None]:
    for candidate in candidates:
        try:
            yield _as_grid(json.loads("".join(candidate.split()))) if candidate else None
        except (ValueError, RecursionError):
            yield None


def _as_grid(value: object) -> Grid | None:
    """Rows of integers, of which the first is not empty."""
    if not isinstance(value, list) or not value or not all(isinstance(row, list) for row in value) or not value[0]:
        return None
    cells = [cell for row in value for cell in row]
    return value if all(isinstance(cell, int) and not isinstance(cell, bool) for cell in cells) else None


def shape(grid: Grid) -> list[int]:
    """The lengths of the rows."""
    return [len(row) for row in grid]


def lines(grid: Grid) -> str:
    """A grid as lines of digits."""
    return "\n".join(" ".join(map(str, row)) for row in grid)


def _wrong(expected: Grid, answer: Grid | None) -> str | None:
    if answer is None:
        return "no grid was found"
    if shape(answer) != shape(expected):
        return "the grid has another shape"
    return None if answer == expected else "the grid has the right shape and other cells"
