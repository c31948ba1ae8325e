"""The committed runs of the embedded model and of scripted policies are whole, and differ in the one thing that they should."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import blade

EXAMPLES = Path(__file__).parents[1] / "examples"
PAIRS = {
    ("smollm2/letter_counting/cool", "smollm2/letter_counting/warm"): ["sampling.temperature"],
    ("smollm2/two_term_sums/short", "smollm2/two_term_sums/long"): ["sampling.max_output_tokens"],
    ("workplace_assistant/good", "workplace_assistant/never_resolves_names"): ["model.name"],
    ("workplace_assistant/good", "workplace_assistant/filters_dates_in_its_head"): ["model.name"],
}
RUNS = sorted({run for pair in PAIRS for run in pair})


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress((EXAMPLES / f"{name}.jsonl.gz").read_bytes()).splitlines()]


def _manifest(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXAMPLES / f"{name}_manifest.json").read_bytes())
    return found


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("real_runs", EXAMPLES / "real_runs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["real_runs"] = module
    spec.loader.exec_module(module)
    return module


def test_the_script_makes_these_runs() -> None:
    assert sorted(run.path for run in _script().RUNS) == RUNS
    assert sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*_manifest.json")) == [
        f"{run}_manifest.json" for run in RUNS
    ]


@pytest.mark.parametrize("run", RUNS)
def test_every_task_has_four_repeats_and_a_verdict(run: str) -> None:
    rows, manifest = _rows(run), _manifest(run)
    places = Counter(row["_ng_task_index"] for row in rows)
    assert len(places) == len(manifest["task_ids"]) >= 40
    assert set(places.values()) == {4}
    assert all(row["reward"] in (0.0, 1.0) for row in rows)
    assert _rows(f"{run}_failures") == []
    assert len(_rows(f"{run}_materialized_inputs")) == len(rows) == manifest["counts"]["expected"]


@pytest.mark.parametrize(("pair", "changed"), PAIRS.items(), ids=[pair[1] for pair in PAIRS])
def test_a_pair_differs_in_one_thing(pair: tuple[str, str], changed: list[str]) -> None:
    from blade_gym.run.manifest import identity

    first, second = (
        {name: value for name, value in identity(_manifest(run)).items() if not name.startswith("config.")}
        for run in pair
    )
    assert [name for name in sorted(first | second) if first.get(name) != second.get(name)] == changed


def test_the_files_are_small_and_name_no_machine() -> None:
    files = [path for run in RUNS for path in (EXAMPLES / run).parent.glob(f"{Path(run).name}*")]
    assert sum(path.stat().st_size for path in files) < 900_000
    for path in files:
        content = path.read_bytes()
        text = gzip.decompress(content) if path.suffix == ".gz" else content
        assert b"/work/" not in text
        assert b"/home/" not in text


@pytest.mark.parametrize("run", [run for run in RUNS if run.startswith("workplace_assistant")])
def test_runs_of_policies_come_out_the_same(run: str, tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    script = _script()
    script.make(next(one for one in script.RUNS if one.path == run), tmp_path / Path(run).name)

    def judged(rows: list[dict[str, Any]]) -> dict[tuple[int, int], Any]:
        return {(row["_ng_task_index"], row["_ng_rollout_index"]): (row["reward"], row["response"]) for row in rows}

    made = [
        json.loads(line)
        for line in gzip.decompress((tmp_path / f"{Path(run).name}.jsonl.gz").read_bytes()).splitlines()
    ]
    assert judged(made) == judged(_rows(run))


@pytest.mark.parametrize("run", RUNS)
def test_they_are_analyzed_without_a_problem(run: str) -> None:
    found = blade.analyze(EXAMPLES / f"{run}.jsonl.gz")
    assert found.runs[0].run.benchmark == run.split("/")[-2]
