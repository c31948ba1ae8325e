"""A grid of colors is the expected one, cell by cell.

The grid is the last thing in the message that reads as one: nested lists, or lines of digits.

Row
    `expected_output` or `expected_answer`: rows of digits, as nested lists.

Fields
    `extracted_answer`, `expected_answer` (both as lines of digits), `cells_total`, `cells_passed` where the shapes agree,
    `failure_reason`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from blade.gym.answers import LONGEST
from blade.gym.environment import Row, Verdict
from blade.gym.single_turn import Config

Grid = list[list[int]]

LARGEST = 64
"""Rows or columns of a grid."""
_LINE = re.compile(r"^[ \t|]{0,8}\d(?:[ ,|\t]{0,4}\d){0,63}[ \t|]{0,8}$")


def gold(row: Row) -> str:
    """The grid as nested lists."""
    return json.dumps(_expected(row))


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for the same grid, else 0."""
    expected, answer = _expected(row), read_grid(text)
    fields: dict[str, Any] = {
        "extracted_answer": lines(answer) if answer is not None else None,
        "expected_answer": lines(expected),
        "failure_reason": _wrong(expected, answer),
    }
    if answer is not None and shape(answer) == shape(expected):
        same = sum(
            one == other
            for mine, due in zip(answer, expected, strict=True)
            for one, other in zip(mine, due, strict=True)
        )
        fields |= {"cells_total": sum(map(len, expected)), "cells_passed": same}
    return Verdict(reward=float(answer == expected), fields=fields)


def _expected(row: Row) -> Grid:
    given = row.get("expected_output", row.get("expected_answer"))
    value = json.loads(given) if isinstance(given, str) else given
    grid = _as_grid(value)
    if grid is None:
        raise ValueError("the row's expected grid is none")
    return grid


def read_grid(text: str) -> Grid | None:
    """The last grid in a text; None where there is none."""
    tail = text[-LONGEST:]
    return _last_lists("".join(tail.split())) or _last_block(tail)


def _last_lists(bare: str) -> Grid | None:
    """The last `[[...]]` of a text without white space, where that is a grid."""
    begin = bare.rfind("[[")
    end = bare.find("]]", begin)
    if begin < 0 or end < 0:
        return None
    try:
        return _as_grid(json.loads(bare[begin : end + 2]))
    except (ValueError, RecursionError):
        return None


def _last_block(text: str) -> Grid | None:
    block: Grid = []
    for line in reversed(text.splitlines()):
        if _LINE.match(line):
            block.append([int(digit) for digit in re.findall(r"\d", line)])
        elif block:
            break
    return _as_grid(block[::-1])


def _as_grid(value: object) -> Grid | None:
    if not isinstance(value, list) or not 0 < len(value) <= LARGEST:
        return None
    rows = [row for row in value if isinstance(row, list) and 0 < len(row) <= LARGEST]
    whole = len(rows) == len(value) and len({len(row) for row in rows}) == 1
    digits = all(
        isinstance(cell, int) and not isinstance(cell, bool) and 0 <= cell <= 9 for row in rows for cell in row
    )
    return rows if whole and digits else None


def shape(grid: Grid) -> tuple[int, int]:
    """Rows and columns."""
    return len(grid), len(grid[0])


def lines(grid: Grid) -> str:
    """A grid as lines of digits."""
    return "\n".join(" ".join(map(str, row)) for row in grid)


def _wrong(expected: Grid, answer: Grid | None) -> str | None:
    if answer is None:
        return "no grid was found in the last message"
    if shape(answer) != shape(expected):
        return "the grid has another shape"
    return None if answer == expected else "the grid has the right shape and other cells"
