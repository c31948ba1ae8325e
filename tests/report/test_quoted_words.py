"""Words of models, keys and verifiers stand in quotation marks, as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade.analysis import analyze, load
from blade.evidence.quotes import worded
from blade.evidence.templates import readable
from blade.model.options import Options
from blade.report.sections import report
from builders import write_jsonl


def told(folder: Path, *rows: dict[str, object]) -> str:
    path = write_jsonl(folder / "rollouts.jsonl", rows)
    return report(analyze(load([str(path)], Options()), Options()))


@pytest.mark.parametrize(
    ("text", "shown"), [("42", "42"), ("-1,000.5", "-1,000.5"), ("$12", "$12"), ("D", '"D"'), ("a\n b", '"a b"')]
)
def test_a_number_needs_no_quotation_marks(text: str, shown: str) -> None:
    assert worded(text) == shown


def test_what_a_template_leaves_open_is_three_dots() -> None:
    assert readable("No module named <text> in <path>: <*>") == "No module named ... in ...: ..."
