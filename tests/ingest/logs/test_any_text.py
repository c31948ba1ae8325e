"""What holds for every text: nothing raises, messages are quotes, noise changes nothing, time is linear."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.ingest.logs.parse import parse_log
from blade.ingest.terminal import plain_text
from blade.model.log import Log
from ingest.logs import samples

LOGS = st.sampled_from(list(samples.ALL.values()))
NOISE = "Get:1 http://archive.example.org stable InRelease [1234 B]\nSetting up tools (1.2) ...\n+ export CI=1\n"


def quotes_its_text(log: Log, text: str) -> None:
    plain = plain_text(text)
    lines = plain.split("\n")
    for event in log.events:
        assert event.message in plain
        assert 1 <= event.line <= len(lines)
        assert all(value is None or value in plain for value in (event.expected, event.actual))


@given(LOGS, st.integers(0, 2_000), st.integers(0, 2_000))
def test_a_text_cut_anywhere_is_quoted(text: str, start: int, end: int) -> None:
    cut = text[start : max(start, len(text) - end)]
    quotes_its_text(parse_log(cut), cut)


@given(st.lists(st.one_of(LOGS.map(str.splitlines).flatmap(st.sampled_from), st.text(max_size=30)), max_size=30))
def test_any_lines_in_any_order(lines: list[str]) -> None:
    text = "\n".join(lines)
    quotes_its_text(parse_log(text), text)


@pytest.mark.parametrize("name", sorted(samples.ALL))
def test_noise_around_a_log_changes_nothing(name: str) -> None:
    text = samples.ALL[name]
    if name == "ctrf":
        return  # a document is the whole text
    alone, inside = parse_log(text), parse_log(NOISE + text + "\n" + NOISE)
    assert [(event.kind, event.subject, event.line + 3) for event in alone.events] == [
        (event.kind, event.subject, event.line) for event in inside.events
    ]


@pytest.mark.parametrize("name", sorted(samples.ALL))
def test_colors_and_progress_bars_change_nothing(name: str) -> None:
    text = samples.ALL[name]
    shown = "".join(f"10%\r\x1b[K\x1b[1m{line}\x1b[0m\n" if len(line) > 3 else line + "\n" for line in text.split("\n"))
    assert [event.kind for event in parse_log(shown).events] == [event.kind for event in parse_log(text).events]


HOSTILE = (
    "FAILED " + "a.py::b[" * 40,
    "a::" * 60 + " PASSED (",
    "=== 1 passed, " + "1 failed, " * 20,
    '  File "' + "x" * 200,
    "\tat a." + "b." * 60,
    "a" * 100 + "\x08" * 100,
    "abcdefgh\r" * 20,
    "test " + "x - " * 60 + "... ok",
    "<testcase " + 'a="' * 60,
    "test_a (b.c) ... " * 10,
    "      1) " + " " * 200,
    "ok 1 " + "#" * 200,
    "Exception: host='" + "a" * 80 + " Connection refuse" * 5,
    "error: could not compile `",
    "panic: x",
    "FAIL\tx [build failed]",
    "1/2 Test #1: x ....." + " ." * 100,
    "A: expected expected expected got got got",
    "E   assert a == b in c != d",
    "curl: (7) " + "connect to " * 20,
    " FAIL src/a.test.js\n  ✕ one\n  ● other\n\n",
)


@pytest.mark.slow
@pytest.mark.parametrize("line", HOSTILE)
@pytest.mark.parametrize("end", ["", "\n"], ids=["one line", "lines"])
def test_time_grows_with_the_length_alone(line: str, end: str) -> None:
    unit = line + end

    def seconds(size: int) -> float:
        text = "=== test session starts ===\n=== FAILURES ===\n___ x ___\n" + unit * (size // len(unit))
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            parse_log(text)
            best = min(best, time.process_time() - start)
        return best

    seconds(1_000)
    # Ten times the length: quadratic time would take a hundred times as long. The bound is far from both.
    assert seconds(400_000) < 30 * seconds(40_000) + 0.05
