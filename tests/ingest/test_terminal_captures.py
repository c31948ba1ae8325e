"""What is left of a terminal capture on the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.ingest.terminal import plain_text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("10%\r100%", "100%"),
        ("loaded 100\r50", "50aded 100"),
        ("a\r\nb", "a\nb"),
        ("abc\x08\x08d", "ad"),
        ("a\n\x08b", "a\nb"),
        ("\x1b[1mbold\x1b[0m", "bold"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]0;never ends\nnext line", "\nnext line"),
    ],
)
def test_what_is_shown(raw: str, shown: str) -> None:
    assert plain_text(raw) == shown


@given(st.text(alphabet="ab\r\n", max_size=40))
def test_a_carriage_return_writes_over_the_line(raw: str) -> None:
    def by_cell(line: str) -> str:
        cells: list[str] = []
        place = 0
        for char in line:
            if char == "\r":
                place = 0
            else:
                cells[place : place + 1] = [char]
                place += 1
        return "".join(cells)

    text = raw.replace("\r\n", "\n")
    assert plain_text(raw) == "\n".join(by_cell(line) for line in text.split("\n"))


def test_a_hostile_capture_takes_no_longer_than_its_length() -> None:
    assert plain_text("a" * 200_000 + "\x08" * 200_000) == ""
    assert plain_text("a" * 200_000 + "\rb" * 200_000) == "b" + "a" * 199_999
