"""Real rows under other names, nested, with fields that mean nothing, in another order: the same outcomes, checks and modes.

Native folders become plain rows first, so that none of their own names help.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.ingest.artifacts import find
from blade.ingest.roles.sample import sample_rows
from builders import write_jsonl
from renamed import DOCUMENTED_BY_GYM, nested, renamed, with_constants

DATA = Path(os.environ.get("BLADE_REAL_RUNS", "real-runs"))
"""A folder of real runs; none is part of the repository."""
MOST_ROWS = 40
"""Rows of a file: enough to learn from, and a few seconds for all files."""
FILES = (
    "tau_bench/*.jsonl",
    "tau2/*.jsonl",
    "game24/*.jsonl",
    "bigbench_mistake/*.jsonl",
    "terminal_bench/*",
    "harbor",
    "swebench",
)
SAME_MODES = 0.9
"""Of the rows, those whose mode must stay: some rules read the words of a field only under its documented name."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no real runs at {DATA}; BLADE_REAL_RUNS names a folder of them"),
]

Row = dict[str, Any]


def plain_rows(path: Path) -> list[Row]:
    """The first rows of a run under the names that plain rows have."""
    (bundle, *_) = find([str(path)]).bundles
    return sample_rows(bundle.path, bundle.format)[:MOST_ROWS]


def disguised(rows: Sequence[Row], order: Sequence[int]) -> list[Row]:
    """The rows as another harness would have written them; `order` is where each stands then."""
    return [with_constants(nested(renamed(rows[place]), DOCUMENTED_BY_GYM)) for place in order]


def analyzed(folder: Path, rows: Sequence[Row]) -> list[tuple[str, int, str | None]]:
    """By row: the outcome, how many checks hold, the mode."""
    (found,) = blade.analyze(write_jsonl(folder / "rows.jsonl", rows)).runs
    assert found.attributions is not None
    table = found.attributions.table
    modes = {(task, repeat): mode for task, repeat, mode in table.select("task_id", "repeat", "mode").iter_rows()}
    columns = ("task_id", "repeat", "outcome", "checks_asked")
    placed = found.run.rollouts.filter(found.run.rollouts["offset"].is_not_null()).sort("offset").select(columns)
    return [(outcome, asked or 0, modes[task, repeat]) for task, repeat, outcome, asked in placed.iter_rows()]


@pytest.mark.parametrize("pattern", FILES)
def test_real_rows_mean_the_same_in_disguise(tmp_path: Path, pattern: str) -> None:
    for path in sorted(DATA.glob(pattern)):
        rows = plain_rows(path)
        order = list(range(len(rows)))
        random.Random(path.name).shuffle(order)
        (tmp_path / path.name / "b").mkdir(parents=True)
        before = analyzed(tmp_path / path.name, rows)
        after = analyzed(tmp_path / path.name / "b", disguised(rows, order))
        assert len(after) == len(before) == len(rows), path.name
        mine = [before[place] for place in order]
        assert [one[0] for one in after] == [one[0] for one in mine], path.name
        assert [one[1] for one in after] == [one[1] for one in mine], path.name
        moved = [(a[2], b[2]) for a, b in zip(mine, after, strict=True) if a[2] != b[2]]
        assert len(moved) <= (1 - SAME_MODES) * len(rows), (path.name, moved)
