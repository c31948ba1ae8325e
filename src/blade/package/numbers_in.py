"""Numbers as a text writes them: does a value stand there, rounded or as a percentage?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_NUMBER = re.compile(r"(?<![\w.,#-])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(\s?%|\s?percent)?(?![\w#]|[.,]\d)")
_OF = re.compile(r"(?<![\w.,])(\d[\d,]*)\s*(?:of|/|out of)\s*(?:the\s+)?(\d[\d,]*)(?![\w.]\w)")
COARSEST = 0.005
"""A fraction may be rounded to two digits and no further."""


def decimals(text: str) -> int:
    """Digits after the point."""
    return len(text.partition(".")[2].rstrip("eE+-"))


def agrees(said: float, digits: int, right: float) -> bool:
    """Whether a number is another one, rounded to so many digits."""
    if float(right).is_integer() and abs(right) > 1:
        return said == right
    return abs(said - right) <= min(0.5 * 10.0**-digits, COARSEST) + 1e-9


def numbers(text: str) -> Iterator[tuple[float, int]]:
    """Every number of a text with its digits after the point; a percentage also as the fraction it is."""
    for found in _NUMBER.finditer(text):
        whole, part, percent = found.groups()
        value = float(whole.replace(",", "") + (part or ""))
        digits = len(part or ".") - 1
        yield value, digits
        if percent:
            yield value / 100, digits + 2
    for found in _OF.finditer(text):
        some, all_ = (float(one.replace(",", "")) for one in found.groups())
        if all_:
            yield some / all_, 9


def stands(value: float, said: Iterable[tuple[float, int]]) -> bool:
    """Whether a value is one of the numbers of a text, in any of its forms."""
    return any(agrees(number, digits, value) for number, digits in said)
