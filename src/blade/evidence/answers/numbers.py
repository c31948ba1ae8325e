"""Numbers as people write them, exactly; with units, in prose and in words."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from blade.evidence.answers.match import Match, agreed, same_value
from blade.evidence.answers.plain import VARIABLE
from blade.evidence.answers.words import FORMULA, NEGATION
from blade.evidence.moments import as_number
from blade.model.pattern import pattern_of

_DECIMAL = r"(?:(?:0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{3})+)(?:\.[0-9]+)?|\.[0-9]+)"
_NUMBER = pattern_of(
    rf"([-+]?) ?(?:({_DECIMAL})(?:e([-+]?[0-9]{{1,3}})| ?/ ?({_DECIMAL}))?"
    rf"|(?:({_DECIMAL}) ?(?:\\times|\\cdot|\*|x) ?)?10(?:\^|\*\*)(?:([-+]?[0-9]{{1,3}})|[{{(]([-+]?[0-9]{{1,3}})[)}}])"
    rf"|\\frac ?\{{ ?({_DECIMAL}) ?\}} ?\{{ ?({_DECIMAL}) ?\}}|\\frac([0-9])([0-9]))( ?%)?"
)
_SCALE = r"(?:percent|hundred|thousand|million|billion|trillion|dozen|mod|times|or|and|to)\b"
_QUANTITY = pattern_of(
    rf"([$€£¥]?) ?([-+]?{_DECIMAL})(?: (?!{_SCALE})([^\W\d_][^\W\d_ ]*(?: [^\W\d_]+){{0,2}})|([^\W\d_]{{2,}}))?"
)
_IN_PROSE = pattern_of(
    rf"(?<![\w.,:/^*+=($€£¥-])[-+]?{_DECIMAL}%?(?![\w/^*+%:!-]|[.,][0-9.])(?! {_SCALE})",
)
_PROSE = pattern_of(r"[^\W\d_]{2}")
_BETWEEN = pattern_of(r" ?(?:,? \b(?:or|and)\b |, |;|&) ?")


@lru_cache(maxsize=4096)
def number_of(text: str) -> Fraction | None:
    """The exact value of a number as people write it; the exponent is bounded by three digits."""
    if not text or text[-1] not in "0123456789}%)" or (found := _NUMBER.fullmatch(text)) is None:
        return None
    sign, plain, power, below, factor, bare_power, braced_power, top, bottom, digit_top, digit_bottom, percent = (
        found.groups()
    )
    value = _exact(plain or factor or top or digit_top or "1")
    below = below or bottom or digit_bottom
    if below:
        divisor = _exact(below)
        if not divisor:
            return None
        value /= divisor
    if exponent := power or bare_power or braced_power:
        value *= Fraction(10) ** int(exponent)
    if percent:
        value /= 100
    return -value if sign == "-" else value


def _exact(decimal: str) -> Fraction:
    if decimal.isdigit():
        return Fraction(int(decimal))
    return Fraction(decimal.replace(",", ""))


def quantity_of(text: str) -> tuple[Fraction, str] | None:
    """A number and its unit."""
    value = number_of(text)
    if value is not None:
        return value, ""
    found = _QUANTITY.fullmatch(text)
    value = number_of(found[2]) if found else None
    if found is None or value is None:
        return None
    return value, found[1] + (found[3] or found[4] or "")


def as_quantity(said: str, wanted: str) -> Match | None:
    key = quantity_of(wanted)
    if key is None:
        return None
    found = quantity_of(said)
    if found is None:
        return _number_in(said, *key)
    if found == key:
        return Match.OTHER_FORM
    if found[1] != key[1]:
        return Match.CONTAINED if found[0] == key[0] and not key[1] else Match.UNKNOWN
    if said.endswith("%") != wanted.endswith("%"):
        return _with_and_without_percent(said, wanted)
    return Match.DIFFERENT


def _with_and_without_percent(said: str, wanted: str) -> Match:
    """50 may be what a key that asks for a percentage says of 50%."""
    if number_of(said.rstrip("% ")) != number_of(wanted.rstrip("% ")):
        return Match.DIFFERENT
    return Match.CONTAINED if said.endswith("%") else Match.UNKNOWN


def _number_in(said: str, value: Fraction, unit: str) -> Match:
    """A text that is no number against a key that is one."""
    parts = [number_of(VARIABLE.sub("", part.strip())) for part in _BETWEEN.split(said)]
    if len(parts) > 1 and None not in parts:
        return Match.SEVERAL if len(set(parts)) > 1 else agreed(parts[0] == value and not unit)
    if unit or not _PROSE.search(said) or FORMULA.search(said) or NEGATION.search(said):
        return Match.UNKNOWN
    numbers = list(_IN_PROSE.finditer(said))
    if any(number_of(number[0]) == value for number in numbers):
        return Match.CONTAINED
    ends_with_number = len(numbers) == 1 and numbers[0].end() == len(said)
    return Match.DIFFERENT if ends_with_number and said[:1].isalpha() else Match.UNKNOWN


def as_number_in_words(said: str, wanted: str) -> Match | None:
    """A number in words on one side and in digits on the other."""
    in_words = [as_number(text) for text in (said, wanted)]
    if in_words == [None, None]:
        return None
    in_digits = [number_of(text) for text in (said, wanted)]
    if in_words[0] is not None and in_digits[1] is not None:
        return same_value(in_words[0] == in_digits[1])
    if in_words[1] is not None and in_digits[0] is not None:
        return same_value(in_words[1] == in_digits[0])
    return None
