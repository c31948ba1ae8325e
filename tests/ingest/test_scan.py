"""One pass gives one answer: however the file is cut, whoever reads it, in whatever order the rows stand."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from blade.ingest import jsonl, scan
from blade.ingest.artifacts import find
from blade.ingest.load import load_found
from blade.ingest.row_table import COLUMNS
from blade.model.finding import Detection, Hit
from blade.model.options import Options
from blade.model.rollout import Rollout
from blade.model.run import Run
from builders import Row, call, load, load_rows, places, reasons, result, rollout, said, write_bytes, write_jsonl

TABLES = ("rollouts", "tasks", "checks")


def row(n: int) -> Row:
    """The n-th of many rows: 40 tasks with 3 repeats, tools, checks and slices."""
    tool = ("zeta", "alpha", "mid")[n % 3]
    return rollout(
        f"t{n % 40}",
        repeat=n // 40,
        passed=n % 5 == 0,
        prompt=f"question {n % 40}",
        output=[call(tool), result("ok"), said(f"answer {n} " + "x" * (n * 37 % 400))],
        expected_answer=str(n % 40),
        level=("low", "high")[n % 40 % 2],
        tests={"one": n % 5 == 0, "two": True},
    )


ROWS = [row(n) for n in range(120)]


def same(one: Run, other: Run, but: tuple[str, ...] = ()) -> bool:
    pairs = [(getattr(one, name), getattr(other, name)) for name in TABLES]
    equal = all(a.drop(but, strict=False).equals(b.drop(but, strict=False)) for a, b in pairs)
    return equal and one.tools == other.tools and one.settings == other.settings and one.schema == other.schema


def detect(rollouts: Sequence[Rollout]) -> list[Detection]:
    return list(map(look_at, rollouts))


def look_at(one: Rollout) -> Detection:
    """A rule for the tests: fires where the answer is long."""
    long = [step for step in one.steps or () if step.kind == "message" and len(step.text) > 200]
    hits = tuple(Hit(code="TST001", step=step.index, field="text", start=0, length=5) for step in long)
    return Detection(hits=hits, cannot_check=() if one.steps else ("TST001",))


@pytest.mark.parametrize("size", [1, 700, 5_000])
def test_byte_ranges_give_what_the_whole_file_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    lines = [json.dumps(one) for one in ROWS]
    lines[17:17] = ["", "   ", "not json", ""]
    path = write_bytes(tmp_path / "run.jsonl", b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\n\n\n")
    (whole,) = load(path, detect=detect)
    monkeypatch.setattr(scan, "CHUNK", size)
    monkeypatch.setattr(scan, "PART", 7)
    monkeypatch.setattr(scan, "BLOCK", 900)
    monkeypatch.setattr(jsonl, "TOGETHER", 300)
    (cut,) = load(path, detect=detect)
    assert same(whole, cut)
    assert reasons(cut) == reasons(whole)
    assert reasons(whole)[0].startswith("run.jsonl:20: not JSON")
    assert whole.rollouts["line"].max() == 124
    assert whole.rollouts["fired"].list.len().sum() > 0


def test_workers_give_what_one_process_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", ROWS)
    (whole,) = load(path)
    monkeypatch.setattr(scan, "CHUNK", 9_000)
    done: list[tuple[int, int]] = []
    options = Options(workers=2, progress=lambda now, total: done.append((now, total)))
    (cut,) = load_found(find([str(path)]), options, None)
    assert same(whole, cut)
    assert done == [(n, len(done)) for n in range(1, len(done) + 1)]
    assert len(done) > 2


UNGUARDED = """
import sys
import blade
from blade.ingest import scan
scan.WORTH_WORKERS, scan.cores = 1, lambda: 2
print(blade.load_run(*sys.argv[1:]).table.height)
"""


def test_a_script_without_a_guard_reads_with_workers_too(tmp_path: Path) -> None:
    script = write_bytes(tmp_path / "script.py", UNGUARDED.encode())
    shards = [write_jsonl(tmp_path / f"shard{n}.jsonl", ROWS[n::2]) for n in range(2)]
    source = str(Path(scan.__file__).parents[2])
    said = subprocess.run(
        [sys.executable, str(script), *map(str, shards)],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.stdout, said.stderr) == ("120\n", "")


def test_columns_that_no_part_has_are_there_and_say_nothing() -> None:
    chunk = scan.Chunk(file=0, path=Path("run.jsonl"), shown="run.jsonl", format="gym", role="rollouts")
    cells = ({"line": 1, "skeleton": [0], "reward": 1.0}, {"line": 1, "skeleton": None, "id": "a"})
    frames = [pl.DataFrame([row], schema={name: COLUMNS[name] for name in row}) for row in cells]
    results = [scan.Scanned(chunk=chunk, parts=[frame], rows=1, lines=1, tools=("x",)) for frame in frames]
    rows = scan.gather(results).rows
    assert rows.schema == pl.Schema([*COLUMNS.items(), ("file", pl.Int32())])
    assert rows.select("line", "reward", "id", "fired").rows() == [(1, 1.0, None, None), (2, None, "a", None)]


def test_the_order_of_rows_changes_nothing_but_lines(tmp_path: Path) -> None:
    shuffled = random.Random(3).sample(ROWS, len(ROWS))
    one, other = load_rows(tmp_path / "a", *ROWS), load_rows(tmp_path / "b", *shuffled)
    assert same(one, other, but=("line", "offset", "run"))
    assert one.notes == other.notes
    assert one.tools == ("alpha", "mid", "zeta")
    names = [[one.tools[place] for place in tools] for tools in one.rollouts["skeleton"]]
    assert names[:3] == [["zeta"], ["alpha"], ["mid"]]


PRINT = """
import sys
from blade.ingest.artifacts import find
from blade.ingest.row_table import COLUMNS
from blade.ingest.load import load_found
from blade.model.options import Options
for run in load_found(find([sys.argv[1]]), Options(workers=1), None):
    print(run.name, run.notes, run.tools, run.settings, run.schema, run.problems)
    for table in (run.rollouts, run.tasks, run.checks):
        print(table.write_json())
"""


def test_two_processes_with_different_hash_seeds_agree(tmp_path: Path) -> None:
    rows = [one | {"model": ("m", "n")[n % 2]} for n, one in enumerate(ROWS)]
    write_jsonl(tmp_path / "run.jsonl", [*rows, rollout("t0", repeat=0, model="m"), rollout("0"), rollout("00")])
    source = str(Path(scan.__file__).parents[2])
    said = [
        subprocess.run(
            [sys.executable, "-c", PRINT, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": source},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1]
    assert said[0]


def test_more_tools_than_can_be_counted_share_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (scan, sys.modules["blade.ingest.row"]):
        monkeypatch.setattr(module, "MOST_TOOLS", 5)
    run = load_rows(tmp_path, rollout("a", output=[call(f"tool{n}") for n in range(20)]))
    assert len(run.tools) == 5
    assert run.rollouts["skeleton"].explode().max() == 4


def test_problems_are_counted_beyond_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "MOST_PROBLEMS", 3)
    run = load_rows(tmp_path, *["scalar"] * 10, rollout("a"))
    assert (len(run.problems), run.problem_count) == (3, 10)


def test_without_trajectories_the_outcomes_are_the_same(tmp_path: Path) -> None:
    broken = rollout("z", response={"output": [], "error": "x"})
    spoke = rollout("y", response={"output": [said("a")], "error": "x"})
    path = write_jsonl(tmp_path / "run.jsonl", [*ROWS, broken, spoke])
    (full,), (light,) = load(path), load(path, metrics_only=True)
    assert places(light, "outcome") == places(full, "outcome")
    assert light.rollouts["steps"].null_count() == light.rollouts.height
    assert full.rollouts.filter(pl.col("steps").is_null())["outcome"].unique().to_list() == ["missing"]
