"""Whole outputs of three runs, kept and compared; `pytest --rewrite-golden` writes them anew.

Of the rules only those that fired are kept, so that a new rule that is quiet on these runs breaks none of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
RUNS = {
    "desk_assistant": ["examples/desk_assistant"],
    "arithmetic": ["examples/arithmetic/arithmetic.jsonl"],
    "ugly": ["tests/golden/ugly.jsonl"],
}
TEXTS = ("report.md", "metrics.json", "findings.json", "tasks.jsonl")


def analyze(inputs: list[str], out: Path, hash_seed: str) -> str:
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", "analyze", *inputs, "-o", str(out)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.replace(str(out), "OUT")


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def without_quiet_rules(findings: bytes) -> bytes:
    """findings.json with only the rules that fired."""
    value = json.loads(findings)
    value["rules"] = [rule for rule in value["rules"] if rule["fired"]]
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


@pytest.mark.parametrize("name", RUNS)
def test_outputs_are_the_golden_ones(name: str, tmp_path: Path, rewrite_golden: bool) -> None:
    stdout = analyze(RUNS[name], tmp_path / "out", "0")
    found = {path: data for path, data in files(tmp_path / "out").items() if path.endswith(TEXTS)}
    found |= {path: without_quiet_rules(data) for path, data in found.items() if path.endswith("findings.json")}
    found["stdout.txt"] = stdout.encode()
    kept = GOLDEN / name
    if rewrite_golden:
        for path, data in found.items():
            (kept / path).parent.mkdir(parents=True, exist_ok=True)
            (kept / path).write_bytes(data)
    assert found.keys() == files(kept).keys()
    for path, data in found.items():
        assert data.decode() == (kept / path).read_text(encoding="utf-8"), path


def test_two_processes_with_other_hash_seeds_write_the_same_bytes(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        analyze(RUNS["desk_assistant"], tmp_path / f"out{seed}", seed)
    first, second = files(tmp_path / "out1"), files(tmp_path / "out2")
    assert len(first) == 16
    assert first == second


def test_no_output_holds_a_path_of_this_machine(tmp_path: Path) -> None:
    analyze([str(ROOT / "examples" / "desk_assistant")], tmp_path / "out", "0")
    for path, data in files(tmp_path / "out").items():
        # The table's metadata say where the artifacts are, seen from the folder: relative, whatever lies between.
        absolute = b'"%b' if path.endswith(".parquet") else b"%b"
        assert absolute % str(ROOT).encode() not in data, path
        assert absolute % str(tmp_path).encode() not in data, path
