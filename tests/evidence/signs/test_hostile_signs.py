"""Whatever stands in a rollout: signs never raise, quotes stand word for word, and long lines take no time."""

from __future__ import annotations

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attempts import attempt, call, look_up, ran, result, said
from blade.evidence.signs.all_signs import MOST, signs

PIECES = st.sampled_from(
    (
        *(
            "Error: ",
            "KeyError: 'a'",
            "No such file or directory: '/app/x.txt'",
            "x.txt does not exist",
            "command not found",
            "\n",
        ),
        *(
            "=== FAILURES ===",
            "FAILED a/test_b.py::c - d",
            "1 failed, 2 skipped in 0.1s",
            "E   assert 'ab c' in 'AB-C'",
            "> assert",
        ),
        *(
            "Traceback (most recent call last)",
            "Connection refused",
            "host='h', port=1",
            "502 Bad Gateway",
            "\u2028",
            "\u0130",
            "\x00",
        ),
        *(
            "I have completed it!",
            "mock data",
            "Which one?",
            "I was unable to",
            "<tool_call>",
            "$ ",
            "Patch Apply Failed",
            "é",
        ),
    )
)
TEXTS = st.lists(PIECES | st.text(max_size=6), max_size=25).map("".join)


@given(TEXTS, TEXTS, TEXTS, TEXTS, st.booleans(), st.booleans())
def test_every_quote_stands_where_its_sign_says(
    one: str, two: str, three: str, four: str, passed: bool, walked: bool
) -> None:
    items = (
        *ran("x", None),
        result(one, "c1"),
        call("Write", json.dumps({"file_path": two, "content": one}), "c2"),
        said(three),
    )
    rollout = attempt(
        *items, prompt=four, passed=passed, grader=two + one, terminal=three, trajectory=walked, patch=four
    )
    found = signs(rollout)
    assert len(found) <= MOST
    assert found == signs(rollout)
    for each in found:
        look_up(each, rollout)


@pytest.mark.parametrize(
    "line",
    [
        "a/" * 100_000,
        "File " * 60_000,
        "'" * 200_000,
        "host='" * 40_000,
        "assert '" * 30_000,
        "x.y " * 60_000,
        "http://" * 30_000,
    ],
)
def test_a_line_without_end_takes_no_time(line: str) -> None:
    log = f"{'=' * 20} FAILURES {'=' * 20}\n____ test_a ____\n> assert {line}\nE   Error: {line}\nE   FileNotFoundError: '/app/a.b.c' was not found, no such file or directory: '/app/a.b.c'\n/tests/test_a.py:1: Error\n==== 1 failed in 0.1s ====\n"
    begun = process_time()
    signs(
        attempt(
            *ran("x", f"{line} refused"),
            call("bash", f"cat {line}test_a.py", "c9"),
            said(line),
            prompt=line,
            grader=log,
            terminal=f"Traceback (most recent call last):\n{line}\n$ ",
        )
    )
    assert process_time() - begun < 5, "a fraction of a second, were the machine not busy"
