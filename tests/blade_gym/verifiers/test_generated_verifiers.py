"""What verifiers of generated tasks say is wrong, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from blade_gym.verifiers import document_lookup, free_slot, graph_walk

WALK = {
    "arrows": [["oak", "elm"], ["elm", "fir"], ["fir", "ash"], ["ash", "oak"], ["yew", "oak"]],
    "start": "oak",
    "steps": 2,
    "expected_answer": "fir",
}
CODES = {"expected_answer": "1791", "entries": {"Split": "1791", "Porto": "2186"}}
DAY = {
    "busy": {"Ana": [["09:00", "10:00"], ["12:00", "14:00"]], "Ben": [["09:00", "11:00"]]},
    "opening": ["09:00", "17:00"],
    "hours": 1,
    "expected_answer": "11:00",
}


@pytest.mark.parametrize(
    ("text", "taken", "reason"),
    [
        ("fir", 2, None),
        ("Let me see.\nFir.", 2, None),
        ("<answer>fir</answer>", 2, None),
        ("oak", 0, "the node that the walk starts at"),
        ("elm", 1, "a node on the way, before its end"),
        ("ash", 3, "a node that lies further on"),
        ("door", None, "something that is no node of the graph"),
        ("yew", None, "something that is no node of the graph"),
        ("", None, "there is no answer"),
    ],
)
def test_a_node_is_told_by_how_far_it_lies(text: str, taken: int | None, reason: str | None) -> None:
    found = graph_walk.verify(WALK, text, {})
    assert (found.reward, found.fields["steps_taken"]) == (float(reason is None), taken)
    assert found.fields["failure_reason"] == reason


@pytest.mark.parametrize(
    ("text", "entry", "reason"),
    [
        ("1791", "Split", None),
        ("1791.", "Split", None),
        ("It is 1791", "Split", "the entry stands among other words"),
        ("2186", "Porto", "another entry of the document"),
        ("4417", None, "something that stands nowhere in the document"),
        ("11791", None, "something that stands nowhere in the document"),
        ("", None, "there is no answer"),
    ],
)
def test_an_entry_is_told_from_others_and_from_what_is_made_up(
    text: str, entry: str | None, reason: str | None
) -> None:
    found = document_lookup.verify(CODES, text, {})
    assert (found.fields["found_entry"], found.fields["failure_reason"]) == (entry, reason)
    assert found.reward == float(reason is None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("11:00", None),
        ("They can meet at 11:00.", None),
        ("09:00", "all are busy then"),
        ("10:00", "one of them is busy then"),
        ("10:30", "one of them is busy then"),
        ("15:00", "all are free then, and also earlier"),
        ("08:00", "the office is closed then"),
        ("16:30", "the office is closed then"),
        ("in the morning", "no time is given"),
    ],
)
def test_a_time_is_set_against_the_calendars(text: str, reason: str | None) -> None:
    found = free_slot.verify(DAY, text, {})
    assert (found.reward, found.fields["failure_reason"]) == (float(reason is None), reason)


def test_meetings_may_touch() -> None:
    row: dict[str, Any] = {**DAY, "busy": {"Ana": [["09:00", "11:00"], ["12:00", "17:00"]]}}
    assert free_slot.verify(row, "11:00", {}).reward == 1.0
    assert free_slot.verify({**row, "hours": 2}, "11:00", {}).fields["failure_reason"] == "all are busy then"
