"""What the README shows is what BLADE writes."""

from __future__ import annotations

from pathlib import Path

import blade
from blade.report.sections import report

ROOT = Path(__file__).parents[1]


def test_the_excerpt_is_of_a_real_report() -> None:
    analysis = blade.analyze(ROOT / "examples" / "desk_assistant" / "sparrow-8b_rollouts.jsonl")
    written = " ".join(report(analysis).split())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    quoted = [line.removeprefix("> ").lstrip("# ") for line in readme.splitlines() if line.startswith("> ")]
    assert len(quoted) >= 4
    for line in quoted:
        assert line in written
