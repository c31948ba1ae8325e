"""Words of models, keys and verifiers stand in quotation marks, as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade.analysis import analyze, load
from blade.evidence.quotes import worded
from blade.evidence.templates import readable
from blade.model.options import Options
from blade.report.sections import report
from builders import rollout, write_jsonl


def told(folder: Path, *rows: dict[str, object]) -> str:
    path = write_jsonl(folder / "rollouts.jsonl", rows)
    return report(analyze(load([str(path)], Options()), Options()))


def test_an_answer_in_words_does_not_run_into_its_sentence(tmp_path: Path) -> None:
    words = {"extracted_answer": "The liver is the organ", "expected_answer": "Pancreas"}
    right = {"extracted_answer": "Heart", "expected_answer": "Heart"}
    page = told(
        tmp_path,
        *(rollout(f"t{n}", prompt=f"p{n}") | words for n in range(2)),
        *(rollout(f"t{n}", prompt=f"p{n}", passed=True) | right for n in range(2, 4)),
    )
    assert '- t0#0 answers "The liver is the organ", the key has "Pancreas".' in page
    assert 'Due: answer "Pancreas".' in page


@pytest.mark.parametrize(
    ("text", "shown"), [("42", "42"), ("-1,000.5", "-1,000.5"), ("$12", "$12"), ("D", '"D"'), ("a\n b", '"a b"')]
)
def test_a_number_needs_no_quotation_marks(text: str, shown: str) -> None:
    assert worded(text) == shown


def test_a_heading_quotes_one_rollout_where_the_verifier_says_something_else_each_time(tmp_path: Path) -> None:
    page = told(
        tmp_path,
        *(rollout(f"t{n}", prompt=f"p{n}", error_message=f"Wrong answer at line {n}: {n} != 7") for n in range(3)),
        *(rollout(f"t{n}", prompt=f"p{n}", passed=True) for n in range(3, 6)),
    )
    assert '**1. The verifier says "Wrong answer at line 0: 0 != 7" and the like.**' in page
    assert 'where the verifier says "Wrong answer at line 0: 0 != 7" and the like' in page
    assert "| the verifier says: Wrong answer at line ...: ... != ... | 3 |" in page
    assert "<n" not in page


def test_what_a_template_leaves_open_is_three_dots() -> None:
    assert readable("No module named <text> in <path>: <*>") == "No module named ... in ...: ..."
