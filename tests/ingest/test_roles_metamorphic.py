"""A file that means the same under other names and shapes is read the same, or `blade schema` says what it could not tell."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from blade import load_run
from blade.model.run import Run
from renamed import DOCUMENTED_BY_GYM, Row, nested, renamed, with_constants

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").rglob("*.jsonl*")
    if not any(word in path.name for word in ("_failures", "_materialized", "_reward", "_manifest"))
)
MOST = 150
"""Rows of an example: enough for every role, and each is read six times."""


def rows_of(path: Path) -> list[Row]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.splitlines()[:MOST]]


def shuffled(rows: Sequence[Row]) -> list[Row]:
    return random.Random(3).sample(rows, len(rows))


VARIANTS: dict[str, Callable[[Sequence[Row]], list[Row]]] = {
    "renamed": lambda rows: [renamed(row) for row in rows],
    "everything renamed": lambda rows: [renamed(row, keep=()) for row in rows],
    "nested": lambda rows: [nested(row, (*DOCUMENTED_BY_GYM, "task_id")) for row in rows],
    "constants": lambda rows: [with_constants(row) for row in rows],
    "shuffled": shuffled,
}


def read(rows: Sequence[Row], path: Path) -> Run:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_run(path)


def meaning(run: Run) -> dict[str, Any]:
    """Outcomes, checks and times of all rollouts, whatever their order and names."""
    checks: Counter[tuple[str, int, bool]] = Counter()
    for task, repeat, passed in run.checks.select("task_id", "repeat", "passed").iter_rows():
        checks[task, repeat, passed] += 1
    phases = [
        sorted((one["name"], one["seconds"]) for one in found or () if one["name"] in ("setup", "agent", "grading"))
        for found in run.rollouts["phases"].to_list()
    ]
    return {
        "reward": sorted(Counter(zip(run.rollouts["outcome"], run.rollouts["reward"], strict=True)).items(), key=str),
        "checks": sorted(checks.values()),
        "phases": sorted(phases),
        "steps": sorted(run.rollouts["steps"].to_list(), key=str),
        "task": sorted(run.rollouts.group_by("task_id").len()["len"]),
    }


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_mean_the_same_under_other_names(path: Path, variant: str, tmp_path: Path) -> None:
    rows = rows_of(path)
    before = meaning(read(rows, tmp_path / "before" / "r.jsonl"))
    run = read(VARIANTS[variant](rows), tmp_path / "after" / "r.jsonl")
    after = meaning(run)
    told = " ".join(run.roles.undecided)
    differing = [name for name in before if before[name] != after[name] and f"={name}" not in told]
    differing = [] if "--map reward=" in told else differing
    assert differing == [], (told, {name: (before[name], after[name]) for name in differing})
