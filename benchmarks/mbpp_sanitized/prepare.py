"""MBPP, sanitized: a sentence, the assertions that are shown, and the same assertions as tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade_gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("google-research-datasets/mbpp", config="sanitized", split="test", source=source)
    rows = (_row(row) for row in found)
    return hub.write(rows, output or hub.beside(__file__, "mbpp_sanitized"))


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    imports = "\n".join(row["test_imports"])
    return {
        "id": f"mbpp-{row['task_id']}",
        "question": row["prompt"],
        "tests_text": "\n".join(row["test_list"]),
        "test_list": [f"{imports}\n{test}" if imports else test for test in row["test_list"]],
        "canonical_solution": row["code"],
    }
