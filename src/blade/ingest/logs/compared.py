"""Expected and actual values in the words of an assertion."""

from __future__ import annotations

from collections.abc import Iterable

from blade.model.pattern import pattern_of

Values = tuple[str | None, str | None]
"""Expected, then actual."""

NEITHER: Values = (None, None)
_QUOTED = pattern_of(r"[brfu]?(?:'[^']*'|\"[^\"]*\")$")
_GOT = ("but got", "but was", "but it was", "but found", "instead got", "received", "found", "got", "actual")
_WANT = ("expected", "want", "wanted", "should be")


def compared(message: str) -> Values:
    """The two sides of `assert A == B`, `A != B`, `expected A, got B` or `got A, want B`."""
    text = message.removeprefix("AssertionError:").strip()
    if text.startswith("assert "):
        return _asserted(text[len("assert ") :])
    if text.count(" != ") == 1:
        actual, expected = text.split(" != ")
        return expected.split(" : ")[0], actual
    return _in_words(text)


def _asserted(text: str) -> Values:
    if text.count(" == ") == 1:
        actual, expected = text.split(" == ")
        return expected, actual
    wanted, marker, holder = text.partition(" in ")
    if marker and _QUOTED.match(wanted):
        return wanted, holder
    return NEITHER


def _in_words(text: str) -> Values:
    """Both words must stand in the line, each once, and values behind both."""
    low = text.lower()
    want = _first(low, _WANT)
    got = _first(low, _GOT)
    if want is None or got is None or len(low) != len(text):
        return NEITHER
    (want_at, want_end), (got_at, got_end) = want, got
    if want_at < got_at:
        expected, actual = text[want_end:got_at], text[got_end:]
    else:
        actual, expected = text[got_end:want_at], text[want_end:]
    sides = _bare(expected), _bare(actual)
    return sides if all(sides) else NEITHER


def _first(low: str, words: Iterable[str]) -> tuple[int, int] | None:
    """Where the first of the words stands as a word, and where it ends."""
    for word in words:
        place = low.find(word)
        if place != -1 and not low[place - 1 : place].isalnum() and not low[place + len(word) :][:1].isalnum():
            return place, place + len(word)
    return None


def _bare(value: str) -> str:
    """Without the punctuation that joins the two halves; text around a value of one sentence stays."""
    return value.strip(" \t,:;=").removesuffix("(").removesuffix(" but").strip(" \t,:;")
