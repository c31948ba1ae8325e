"""Mathematical answers: forms that are equal pass, others fail, and none of them hangs."""

from __future__ import annotations

import time

import pytest

from blade.gym.verifiers import math_equivalence as verifier


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("24", "After 24 hours. The answer is 24."),
        ("24", "So it takes $\\boxed{24}$ hours."),
        ("24", "First 84 / 3.5.\n#### 24"),
        ("1,250", "The final answer is: 1250"),
        ("\\frac{3}{8}", "\\boxed{0.375}"),
        ("\\frac{3}{8}", "<answer>3/8</answer>"),
        ("3\\sqrt{3}", "\\boxed{\\sqrt{27}}"),
        ("x^2+2x+1", "\\boxed{(x+1)^2}"),
        ("7", "I think 5, no: \\boxed{5}. Wait, \\boxed{7}"),
        ("7", "it is 3 plus 4, which makes 7"),
    ],
)
def test_equal_answers_pass(expected: str, text: str) -> None:
    found = verifier.verify({"expected_answer": expected}, text, {})
    assert found.reward == 1.0, found
    assert found.fields["failure_reason"] is None


@pytest.mark.parametrize(
    ("expected", "text", "extracted", "reason"),
    [
        ("24", "\\boxed{25}", "25", "another number"),
        ("24", "I do not know.", None, "no answer"),
        ("x+1", "\\boxed{x+2}", "x+2", "not equivalent"),
        ("24", f"\\boxed{{{'1+' * 600}1}}", None, "too long"),
    ],
)
def test_other_answers_fail_and_say_why(expected: str, text: str, extracted: str | None, reason: str) -> None:
    found = verifier.verify({"expected_answer": expected}, text, {})
    assert found.reward == 0.0
    assert reason in found.fields["failure_reason"]
    assert found.fields["expected_answer"] == expected
    if reason != "too long":
        assert found.fields["extracted_answer"] == extracted


def test_a_marked_answer_can_be_asked_for() -> None:
    row = {"expected_answer": "7"}
    assert verifier.verify(row, "3 + 4 makes 7", {}).reward == 1.0
    assert verifier.verify(row, "3 + 4 makes 7", {"extract": "marked"}).reward == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("bomb", ["9^{9^{9^{9^9}}}", "99999999999!", "\\int_0^{10^9} x^{x^x} dx"])
def test_a_bomb_ends_in_time_and_the_next_answer_is_judged(bomb: str) -> None:
    begun = time.monotonic()
    assert verifier.verify({"expected_answer": "7"}, f"\\boxed{{{bomb}}}", {}).reward == 0.0
    assert time.monotonic() - begun < verifier.SECONDS + 5
    assert verifier.verify({"expected_answer": "7"}, "\\boxed{\\sqrt{49}}", {}).reward == 1.0
