"""Examples and simulated worlds under other names, nested, with fields that mean nothing, in another order: the same modes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from blade.analysis import analyze, load
from blade.model.options import Options
from builders import write_bytes, write_jsonl
from ingest.test_roles_metamorphic import EXAMPLES, rows_of
from proof.simulate.generate import Wanted, generate
from renamed import DOCUMENTED_BY_GYM, nested, renamed, with_constants

ALONE = Options(find_rule_book=False, workers=1)
"""A package's own rules know its names, and are not asked."""
SAME = 0.97
"""Of the rollouts of a world, those whose mode must stay: a few rules read a field only under a name that they know."""
Found = tuple[str, int, str | None]

pytestmark = pytest.mark.slow


def modes(path: Path) -> dict[tuple[str, int, int], Found]:
    """By run, task in the order of the inputs and repeat: the outcome, the checks that hold, the mode."""
    found: dict[tuple[str, int, int], Found] = {}
    for one in analyze(load([str(path)], ALONE), ALONE).runs:
        assert one.attributions is not None
        table = one.attributions.table.select("task_id", "repeat", "mode")
        given = {(task, repeat): mode for task, repeat, mode in table.iter_rows()}
        places = dict(one.run.tasks.select("task_id", "index").iter_rows())
        columns = ("task_id", "repeat", "outcome", "checks_asked", "offset")
        for task, repeat, outcome, asked, offset in one.run.rollouts.select(columns).iter_rows():
            place = places[task] if places[task] is not None else offset
            found[one.run.name, place, repeat] = (outcome, asked or 0, given[task, repeat])
    return found


def by_row(path: Path) -> list[Found]:
    """The same in the order of the rows."""
    (one,) = analyze(load([str(path)], ALONE), ALONE).runs
    assert one.attributions is not None
    table = one.attributions.table.select("task_id", "repeat", "mode")
    given = {(task, repeat): mode for task, repeat, mode in table.iter_rows()}
    rows = one.run.rollouts.filter(one.run.rollouts["offset"].is_not_null()).sort("offset")
    columns = ("task_id", "repeat", "outcome", "checks_asked")
    return [
        (outcome, asked or 0, given[task, repeat]) for task, repeat, outcome, asked in rows.select(columns).iter_rows()
    ]


@pytest.mark.parametrize("keep", [DOCUMENTED_BY_GYM, ()], ids=["documented", "nothing"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_fail_in_the_same_ways(tmp_path: Path, path: Path, keep: Sequence[str]) -> None:
    rows = rows_of(path)
    order = random.Random(1).sample(range(len(rows)), len(rows))
    before = by_row(write_jsonl(tmp_path / "a.jsonl", rows))
    after = [with_constants(nested(renamed(rows[place], keep=keep), keep)) for place in order]
    assert by_row(write_jsonl(tmp_path / "b.jsonl", after)) == [before[place] for place in order]


@pytest.mark.parametrize("world", ["single", "tools", "code", "terminal"])
def test_worlds_fail_in_the_same_ways(tmp_path: Path, world: str) -> None:
    found = []
    for names in ("documented", "random"):
        (made,) = generate(Wanted(world=world, tasks=40, seed=1, names="random" if names == "random" else "documented"))
        (tmp_path / names).mkdir()
        for name, data in made.files.items():
            write_bytes(tmp_path / names / name, data)
        found.append(modes(tmp_path / names))
    plain, other = found
    assert plain.keys() == other.keys()
    assert {ref: one[:2] for ref, one in plain.items()} == {ref: one[:2] for ref, one in other.items()}
    assert sum(plain[ref][2] == other[ref][2] for ref in plain) >= SAME * len(plain)
