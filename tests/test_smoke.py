"""BLADE works where only its runtime dependencies are installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 240
"""Seconds; about 40 are usual, and a slow package index is no fault of the code."""

needs_product = pytest.mark.skipif(
    not ((ROOT / "src/blade/cli/main.py").exists() and (ROOT / "examples/desk_assistant").is_dir()),
    reason="needs the command line and examples/desk_assistant",
)


@pytest.mark.slow
@needs_product
def test_example_is_analyzed_without_developer_tools() -> None:
    done = subprocess.run(
        ["bash", str(ROOT / "tests/smoke_no_dev.sh"), sys.executable],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "without developer tools: fine" in done.stdout
