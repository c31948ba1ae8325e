"""Packages for tests: the example benchmark's, drafted and finished as a person would finish it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from blade.model.check import Check

ROOT = Path(__file__).parents[1]
DESK = ROOT / "examples" / "desk_assistant"
RUNS = (DESK / "heron-70b_rollouts.jsonl", DESK / "sparrow-8b_rollouts.jsonl")
WRITTEN = {
    "what a task of desk asks": "A task asks an office assistant for a change of calendar, mail or tickets.",
    "how the verifier turns": "The verifier compares the state of the desk with `expected_actions`; it reads no text.",
    "name the labels": "`wrong-argument` has every call that was due; `part-way` lacks some of them.",
    "this is a draft": "The agent looks things up and then passes other values on than it was shown.",
    "say for each large mode": "It takes values from the wrong line of a result, because results are long.",
    "say which of these": "The values come first: they are the largest mode.",
}


def finish(folder: Path) -> None:
    """Write every open point of a draft, review its facts, clear its data."""
    for path in sorted((*folder.rglob("*.md"), *folder.rglob("*.yaml"))):
        lines = path.read_text(encoding="utf-8").split("\n")
        kept = [_written(line) for line in lines if not re.match(r"\s*# OPEN:", line)]
        path.write_text("\n".join(kept), encoding="utf-8")
    (folder / "rollouts" / "CLEARANCE.md").write_text("cleared: yes\nlicence: Apache-2.0\n", encoding="utf-8")
    for path in folder.rglob("*_anchor_facts.json"):
        path.write_text(path.read_text(encoding="utf-8").replace('"draft"', '"reviewed"'), encoding="utf-8")


def _written(line: str) -> str:
    return next((text for words, text in WRITTEN.items() if line.startswith("OPEN:") and words in line), line)


def by_code(checks: Iterable[Check]) -> dict[str, Check]:
    """Checks by their codes; where several have one, the first that fails."""
    found: dict[str, Check] = {}
    for check in checks:
        if check.code not in found or (check.passed is False and found[check.code].passed is not False):
            found[check.code] = check
    return found


def failing(checks: Iterable[Check]) -> set[str]:
    """Codes of the checks that fail."""
    return {check.code for check in checks if check.passed is False}


def blade(*words: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    """`blade package` as a user types it."""
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", "package", *words]
    env = os.environ | {"PYTHONHASHSEED": seed}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=env)


def edit(path: Path, old: str, new: str) -> None:
    """Replace words that are there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def edit_json(path: Path, **values: object) -> None:
    """Set values of a JSON object."""
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")
