"""What counts as the answer of a message."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade_gym import answers


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("\\boxed{1} then \\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{7} and \\boxed{8", "7"),
        ("\\boxed {x}", "x"),
        ("<ANSWER> 4 </ANSWER> and <answer>5</answer>", "5"),
        ("<answer>4</answer> and then <answer>", "4"),
        ("The answer is: **Paris**. It lies on a river.", "Paris"),
        ("Final answer = 3.5", "3.5"),
        ("#### 12", "12"),
        ("no mark at all", None),
        ("<answer></answer>", None),
    ],
)
def test_the_last_marked_answer(text: str, answer: str | None) -> None:
    assert answers.final_answer(text) == answer


@given(st.text(alphabet="\\boxed{}<answr>/ 1\n", max_size=300))
def test_any_text_ends_and_an_answer_is_part_of_it(text: str) -> None:
    found = answers.final_answer(text)
    assert found is None or found in text


def test_the_last_message_is_the_assistants() -> None:
    output = [
        answers.message("first"),
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"type": "message", "role": "user", "content": "go on"},
        {"type": "function_call", "name": "f", "arguments": "{}"},
    ]
    assert answers.last_message(output) == "No."
    assert answers.last_message([]) == ""


def test_a_block_of_the_language_wins_over_a_later_one() -> None:
    text = "```python\na\n```\nThen:\n```\nb\n```"
    assert answers.fenced(text, "python") == "a\n"
    assert answers.fenced(text, "sql") == "b\n"
    assert answers.fenced("none", "sql") is None


def test_the_text_of_all_messages_is_joined_without_refusals_and_reasoning() -> None:
    parts = [{"type": "output_text", "text": "b"}, {"type": "refusal", "refusal": "no"}, None]
    output: list[dict[str, Any]] = [
        {"type": "message", "role": "assistant", "content": "a"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "role": "user", "content": "x"},
        {"type": "message", "role": "assistant", "content": parts},
    ]
    assert answers.output_text(output) == "ab"
    assert answers.output_text(output, between="\n") == "a\nb"
