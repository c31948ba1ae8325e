"""Real rows under other names, nested, with fields that mean nothing, in another order: the same outcomes, checks and modes.

Native folders become plain rows first, so that none of their own names help.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.ingest.artifacts import find
from blade.ingest.roles.sample import sample_rows
from builders import write_jsonl
from conformance.facts import DATA
from renamed import DOCUMENTED_BY_GYM, nested, renamed, with_constants

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
FEW_ROWS = ("gym_examples/*", "who_and_when", "inspect/*")
"""Files of so few rows, or so few passes, that expected and produced values cannot be learned without their names."""
NO_VERDICT = ("tavily_search", "log_tool_call_error.json")
"""Files without any."""
MOST_OTHERWISE = 0.03
"""Of the rows of those files, those that may get another mode; no mode in place of one is no mistake."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the public reference files are not beside the repository (../shared/data)"
    ),
]

Row = dict[str, Any]


def plain_rows(path: Path) -> list[Row]:
    """The first rows of a run under the names that plain rows have."""
    (bundle, *_) = find([str(path)]).bundles
    return sample_rows(bundle.path, bundle.format)[:MOST_ROWS]


def disguised(rows: Sequence[Row], order: Sequence[int], keep: Sequence[str] = DOCUMENTED_BY_GYM) -> list[Row]:
    """The rows as another harness would have written them; `order` is where each stands then."""
    return [with_constants(nested(renamed(rows[place], keep=keep), keep)) for place in order]


def analyzed(folder: Path, rows: Sequence[Row]) -> tuple[list[tuple[str, int, str | None]], str]:
    """By row: the outcome, how many checks hold, the mode; and what roles could not be decided."""
    found: dict[int, tuple[str, int, str | None]] = {}
    told: list[str] = []
    for one in blade.analyze(write_jsonl(folder / "rows.jsonl", rows)).runs:
        assert one.attributions is not None
        table = one.attributions.table.select("task_id", "repeat", "mode")
        modes = {(task, repeat): mode for task, repeat, mode in table.iter_rows()}
        columns = ("offset", "task_id", "repeat", "outcome", "checks_asked")
        for offset, task, repeat, outcome, asked in one.run.rollouts.select(columns).iter_rows():
            if offset is not None:
                found[offset] = (outcome, asked or 0, modes[task, repeat])
        told += one.run.roles.undecided
    return [found[offset] for offset in sorted(found)], " ".join(told)


def both(folder: Path, path: Path, keep: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...], str]]:
    """Each row as it is and in disguise, with what could not be decided then."""
    rows = plain_rows(path)
    order = list(range(len(rows)))
    random.Random(path.name).shuffle(order)
    (folder / path.name / "b").mkdir(parents=True)
    before, _ = analyzed(folder / path.name, rows)
    after, told = analyzed(folder / path.name / "b", disguised(rows, order, keep))
    assert len(after) == len(before), path.name
    if len(before) == len(rows):  # of rows that are there twice one counts, and which is told by their order
        yield from ((before[place], one, told) for place, one in zip(order, after, strict=True))


@pytest.mark.parametrize("keep", [DOCUMENTED_BY_GYM, ()], ids=["documented", "nothing"])
@pytest.mark.parametrize("pattern", FILES)
def test_real_rows_mean_the_same_in_disguise(tmp_path: Path, pattern: str, keep: Sequence[str]) -> None:
    for path in sorted(DATA.glob(pattern)):
        rows = list(both(tmp_path, path, keep))
        assert rows
        assert [after[:2] for _, after, _ in rows] == [before[:2] for before, _, _ in rows], path.name
        moved = [(before[2], after[2]) for before, after, _ in rows if before[2] != after[2]]
        assert len(moved) <= (1 - SAME_MODES) * len(rows), (path.name, moved)


def test_few_rows_in_disguise_say_less_and_hardly_anything_else(tmp_path: Path) -> None:
    otherwise, count = [], 0
    for path in sorted(path for pattern in FEW_ROWS for path in DATA.glob(pattern)):
        if path.name in NO_VERDICT:
            continue
        for before, after, told in both(tmp_path, path, DOCUMENTED_BY_GYM):
            count += 1
            assert after[0] == before[0], path.name
            assert after[1] == before[1] or "--map checks=" in told, path.name
            if after[2] not in (before[2], "unattributed"):
                otherwise.append((path.name, before[2], after[2]))
    assert count > 150
    assert len(otherwise) <= MOST_OTHERWISE * count, otherwise
