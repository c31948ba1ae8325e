"""What a rollout concludes with, and which sentence carries the answer."""

from __future__ import annotations

import pytest

from blade.evidence.closings import carrying, final_text, passage
from blade.model.rollout import Step


def talk(*turns: str) -> tuple[Step, ...]:
    return tuple(
        Step(index=n, party="agent", kind="message", actor=f"a{n % 2}", text=text) for n, text in enumerate(turns)
    )


@pytest.mark.parametrize(
    ("turns", "text"),
    [
        (("Let us count.", "There are 7 boats.", "TERMINATE"), "There are 7 boats."),
        (("There are 7 boats.\n\nTERMINATE", "Nothing to run here.", "TERMINATE"), "There are 7 boats."),
        (("Let us count.", "NATO"), "NATO"),
        (("TERMINATE",), "TERMINATE"),
        (("Let us count.", "I am done."), "I am done."),
        ((), ""),
    ],
)
def test_the_word_that_ends_a_talk_is_no_answer(turns: tuple[str, ...], text: str) -> None:
    assert final_text(talk(*turns)) == text


@pytest.mark.parametrize(
    ("text", "key", "quote"),
    [
        ("We looked at 12 harbors.\nThe total is 7 boats.\nAll steps are verified.", "9", "The total is 7 boats."),
        ("### Conclusion\nThe author is **Ida Berg**.\nPlease confirm.", "Nora Dahl", "The author is **Ida Berg**."),
        ("The final list is:\n- rope, tar", "nails, rope", "The final list is:\n- rope, tar"),
        ("```python\nx = 12\n```\nI agree with the result.", "9", ""),
    ],
)
def test_a_sentence_with_a_value_of_the_kind_carries_the_answer(text: str, key: str, quote: str) -> None:
    assert passage(text, key) == quote
    assert quote in text


def test_where_the_last_only_agree_an_earlier_message_carries_it() -> None:
    steps = talk("The total is 7 boats.", "I agree with the result.\nTERMINATE")
    found = carrying(steps, "9")
    assert found is not None
    assert (found[0].index, found[1]) == (0, "The total is 7 boats.")


def test_a_step_to_take_carries_no_answer() -> None:
    assert passage("The total is 12.\n1. **Find** the 3 papers named above.", "7") == "The total is 12."
    assert passage("Here are the steps to follow:\n1. Go to page 3.", "7") == ""
    assert passage("Could you find the 3 papers?\n- [page 3](https://a.example/3)", "7") == ""
