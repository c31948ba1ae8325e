"""Dates, times of day and small numbers in words: one value, however it is written.

Only what two readers would agree on: a date with a month in letters or in the order of ISO, a time with minutes, a whole
number up to a hundred in English words. `03/04/1867` may be two days, and is none here.
"""

from __future__ import annotations

from datetime import date, time

from blade.model.pattern import NUMBER_WORDS, pattern_of

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_ONES = NUMBER_WORDS[:20]
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_WORDS = {word: number for number, word in enumerate(_ONES)}
_WORDS |= {tens: 20 + 10 * place for place, tens in enumerate(_TENS)}
_WORDS |= {f"{tens}-{one}": 20 + 10 * n + _WORDS[one] for n, tens in enumerate(_TENS) for one in _ONES[1:10]}
_WORDS |= {"hundred": 100, "one hundred": 100, "a hundred": 100}
_ISO = pattern_of(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_DAY_FIRST = pattern_of(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]{3,9})\.?,? (\d{4})")
_MONTH_FIRST = pattern_of(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")
_TIME = pattern_of(r"(\d{1,2})(?::|\.|h)(\d{2})(?::(\d{2}))? ?([ap])?\.?(?:m\.?)?")
_HOUR = pattern_of(r"(\d{1,2}) ?([ap])\.?m\.?")


def as_moment(text: str) -> date | time | None:
    """The day or the time of day that a short text is; None where it is neither."""
    said = " ".join(text.lower().split())
    return _day(said) or _time(said) if len(said) <= 40 else None


def as_number(text: str) -> int | None:
    """The whole number that words say."""
    said = text.lower().strip()
    return _WORDS.get(said, _WORDS.get(said.replace(" ", "-")))


def _day(said: str) -> date | None:
    if found := _ISO.fullmatch(said):
        year, month, day = map(int, found.groups())
    elif found := _DAY_FIRST.fullmatch(said):
        day, month, year = int(found[1]), _MONTHS.get(found[2], 0), int(found[3])
    elif found := _MONTH_FIRST.fullmatch(said):
        month, day, year = _MONTHS.get(found[1], 0), int(found[2]), int(found[3])
    else:
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _time(said: str) -> time | None:
    if found := _TIME.fullmatch(said):
        hour, minute, second, half = int(found[1]), int(found[2]), int(found[3] or 0), found[4]
    elif found := _HOUR.fullmatch(said):
        hour, minute, second, half = int(found[1]), 0, 0, found[2]
    else:
        return None
    if half is not None and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return time(hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None
