"""The forms in which one value may be written: numbers, quantities, dates, letters of a choice, words and formulas.

Each `as_...` compares two texts in one form: a match, or None where the form is not theirs. Only what two readers would
agree on counts: a date with a month in letters or in the order of ISO, a time with minutes, a whole number up to a hundred
in English words. `03/04/1867` may be two days, and is none here.
"""

from __future__ import annotations

import re
from datetime import date, time
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from blade.model.pattern import NUMBER_WORDS, pattern_of


class AnswerMatch(StrEnum):
    EQUAL = "equal"
    """The same after normalizing case, white space, wrappers, a closing dot and a label on one side."""
    OTHER_FORM = "other form"
    """Another way of writing the same value."""
    CONTAINED = "contained"
    """A longer text that holds the key as whole words and does not negate it; not certain."""
    DIFFERENT = "different"
    """A comparable value, and another one."""
    SEVERAL = "several"
    """More than one candidate of the key's kind."""
    NONE = "none"
    """No answer was extracted, and the text states none that can be compared."""
    NOT_EXTRACTED = "not extracted"
    """No answer was extracted, but the text states the key plainly."""
    UNKNOWN = "unknown"
    """Cannot be compared: long, code, or a matter of meaning."""


def agreed(same: bool) -> AnswerMatch:
    return AnswerMatch.OTHER_FORM if same else AnswerMatch.UNKNOWN


def same_value(same: bool) -> AnswerMatch:
    return AnswerMatch.OTHER_FORM if same else AnswerMatch.DIFFERENT


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


_CHARACTERS = str.maketrans(
    "\u2212\u2010\u2011\u2013\u2014\u201c\u201d\u201e\u2018\u2019\u00b4\u00d7\u00b7", "-----\"\"\"'''**", "\u200b\ufeff"
)
"""Minus and dashes, quotes, signs of multiplication; characters without width go."""
_WRAPPERS = (
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ("$$", "$$"),
    ("$", "$"),
    ("**", "**"),
    ("__", "__"),
    ("*", "*"),
    ("`", "`"),
    ('"', '"'),
    ("'", "'"),
)
_MAY_WRAP = frozenset("\\$*_`\"'<")
_BOXED = ("\\boxed{", "\\fbox{")
_TAGGED = pattern_of(r"<(\w{1,20})>([^<>]*)</\1>")
_TEXT_COMMAND = pattern_of(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mbox|operatorname)\s*\{([^{}]*)\}")
_GROUPED_DIGITS = pattern_of(r"(?<=[0-9])(?:\\,|\{,\}|,\\!)(?=[0-9]{3})")
_SPACE = pattern_of(r"\\[,;: ]\s*")
_NO_WIDTH = pattern_of(r"\\!|\\left(?![a-z])|\\right(?![a-z])")
_SAID_TO_BE_ANSWER = pattern_of(
    r"(?:(?:so|thus|hence|therefore),? )?(?:the |my )?(?:final |correct |best )?"
    r"(?:answer|solution|result|option|choice)(?: is(?: option)?:?| ?:| ?=|(?= \(?[a-z]\)?$)) ?(?=\S)",
    re.IGNORECASE,
)
_LABEL = pattern_of(r"(?!not\b)([a-z][a-z_-]+) ?:(?![:/]) ?(?=\S)", re.IGNORECASE)
VARIABLE = pattern_of(r"([a-z](?:_\{?\w\}?|\([a-z]\))?) ?= ?(?=[^=]+$)", re.IGNORECASE)


@lru_cache(maxsize=4096)
def normal(text: str) -> str:
    """Without case, repeated white space, wrappers and closing punctuation; latex keeps its case."""
    text = " ".join(text.split())
    if not text.isascii():
        text = text.translate(_CHARACTERS)
    if "\\" in text or "{,}" in text:
        text = _plain_latex(text)
    before = ""
    while text != before:
        before = text
        text = _unwrapped(trimmed(text))
        if len(text) > 6:
            text = text[found.end() :] if (found := _SAID_TO_BE_ANSWER.match(text)) else text
    return text if "\\" in text else text.lower()


def _plain_latex(text: str) -> str:
    text = _GROUPED_DIGITS.sub(",", text)
    text = _TEXT_COMMAND.sub(r"\1", text)
    text = _NO_WIDTH.sub("", _SPACE.sub(" ", text))
    return text.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac").replace("\\%", "%").replace("\\$", "$")


def trimmed(text: str) -> str:
    text = text.strip(" ,;").lstrip(":= ")
    # "0.33..." goes on, and "n!" and "5!" are factorials.
    closing_dot = text.endswith(".") and text[-2:-1] != "."
    exclaims = text.endswith("!") and len(text) > 3 and text[-3:-1].isalpha()
    if len(text) > 1 and (closing_dot or exclaims):
        text = text[:-1]
    return text.rstrip(" ,;")


def _unwrapped(text: str) -> str:
    if not text or text[0] not in _MAY_WRAP:
        return text
    if text.startswith(_BOXED) and _closing(text, text.index("{")) == len(text) - 1:
        return text[text.index("{") + 1 : -1]
    if text[0] == "<" and (tagged := _TAGGED.fullmatch(text)):
        return tagged[2]
    for opening, closing in _WRAPPERS:
        inner = text[len(opening) : -len(closing)]
        if (
            text.startswith(opening)
            and text.endswith(closing)
            and len(text) > len(opening) + len(closing)
            and opening not in inner
            and closing not in inner
        ):
            return inner
    return text


def _closing(text: str, opening: int) -> int:
    """Where the brace at `opening` closes, or -1."""
    depth = 0
    for at in range(opening, len(text)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at
    return -1


def boxed(text: str) -> list[str]:
    """The contents of each closed box; what a box holds is not looked into."""
    found = []
    at = text.find("\\boxed{")
    while at >= 0:
        end = _closing(text, at + 6)
        if end < 0:
            break
        found.append(text[at + 7 : end])
        at = text.find("\\boxed{", end)
    return found


def without_labels(said: str, wanted: str) -> tuple[str, str]:
    """Without a `label:` or `x =` that one side alone has, or that both have alike; two different ones mean two things."""
    for pattern in (_LABEL, VARIABLE):
        left, right = pattern.match(said), pattern.match(wanted)
        if left and right and left[1].lower() != right[1].lower():
            continue
        said = said[left.end() :] if left else said
        wanted = wanted[right.end() :] if right else wanted
    return said, wanted


_OPPOSITE = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
_FIRST_WORD = pattern_of(r"(yes|no|true|false)(?: ?[,.;:-] ?| (or|and) (?:yes|no|true|false)\b)")
FORMULA = pattern_of(r"[\\^{}=<>|√π∞]|\*\*|[a-z]\(|[\w)] ?[*+] ?[\w(]|[0-9)] ?[/-] ?[\w(]|\w ?/ ?[0-9(]|^-[a-z]")
_SPELLING = (
    (pattern_of(r"\\sqrt ?\{([^{}]*)\}"), r"sqrt(\1)"),
    (pattern_of(r"\^ ?\{([^{}]*)\}"), r"^(\1)"),
    (pattern_of(r"\^\((\w)\)"), r"^\1"),
    (pattern_of(r"\*\*"), "^"),
    (pattern_of(r"\\(?:cdot|times)(?![a-z])"), "*"),
    (pattern_of(r"\\(pi|infty|theta|alpha|beta|gamma|lambda)(?![a-z])"), r"\1"),
    (pattern_of(r"(?<!\w)\s+|\s+(?!\w)"), ""),
)
NEGATION = pattern_of(
    r"\b(?:not?|never|neither|nor|none|cannot|without|except|unlike|instead|rather|unsure|unknown|wrong|incorrect|false|wait|actually)\b|n't\b"
)
_NAME = pattern_of(r"[^\W\d_]+(?:[ '-][^\W\d_]+){0,3}")
_ID = pattern_of(r"[^\W\d_]\w*")


def as_same_moment(said: str, wanted: str) -> AnswerMatch | None:
    """A day or a time of day, written in two ways; a number such as 12.30 is one only where letters say so."""
    text = wanted + said
    if ":" not in text and "-" not in text and not any(map(str.isalpha, text)):
        return None
    mine, key = as_moment(said), as_moment(wanted)
    if mine is None or key is None or type(mine) is not type(key):
        return None
    return same_value(mine == key)


def as_yes_no(said: str, wanted: str) -> AnswerMatch | None:
    if wanted not in _OPPOSITE:
        return None
    if said == _OPPOSITE[wanted]:
        return AnswerMatch.DIFFERENT
    first = _FIRST_WORD.match(said)
    if first is None:
        return AnswerMatch.UNKNOWN
    if first[2]:
        return AnswerMatch.SEVERAL
    if first[1] == wanted:
        return AnswerMatch.CONTAINED
    return AnswerMatch.DIFFERENT if first[1] == _OPPOSITE[wanted] else AnswerMatch.UNKNOWN


def as_formula(said: str, wanted: str) -> AnswerMatch | None:
    if not (FORMULA.search(said) or FORMULA.search(wanted)):
        return None
    return agreed(_spelled(said) == _spelled(wanted))


def _spelled(formula: str) -> str:
    for pattern, replacement in _SPELLING:
        formula = pattern.sub(replacement, formula)
    return formula


def as_text(said: str, wanted: str) -> AnswerMatch:
    if " or " in said and " or " not in wanted:
        parts = said.removeprefix("either ").split(" or ")
        if any(trimmed(part) == wanted for part in parts):
            return AnswerMatch.SEVERAL
    at = _whole_words(said, wanted)
    if at >= 0:
        around = said[:at] + said[at + len(wanted) :]
        return AnswerMatch.UNKNOWN if NEGATION.search(around) else AnswerMatch.CONTAINED
    return AnswerMatch.DIFFERENT if _are_two_names(said, wanted) else AnswerMatch.UNKNOWN


def _whole_words(text: str, words: str) -> int:
    """Where the text holds these words, and not as a part of others, or -1."""
    at = text.find(words)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(words) : at + len(words) + 1]
        if not (before.isalnum() or after.isalnum() or before in _JOINS or after in _JOINS):
            return at
        at = text.find(words, at + 1)
    return -1


_JOINS = frozenset("_-+#'/\\")


def _are_two_names(one: str, other: str) -> bool:
    """Short names that share no beginning of a word, and are not each other's initials; or two identifiers."""
    if _NAME.fullmatch(one) and _NAME.fullmatch(other):
        left, right = one.replace("-", " ").split(), other.replace("-", " ").split()
        if {word[:4] for word in left} & {word[:4] for word in right}:
            return False
        if any(
            min(len(left), len(right)) == 1 and _initials(a).startswith(b[0][:2])
            for a, b in ((left, right), (right, left))
        ):
            return False
        return one[:3] != other[:3]
    both_ids = _ID.fullmatch(one) and _ID.fullmatch(other)
    return bool(both_ids) and any(map(str.isdigit, one)) and any(map(str.isdigit, other))


def _initials(words: list[str]) -> str:
    return "".join(word[0] for word in words) if len(words) > 1 else "?"


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


def as_quantity(said: str, wanted: str) -> AnswerMatch | None:
    key = quantity_of(wanted)
    if key is None:
        return None
    found = quantity_of(said)
    if found is None:
        return _number_in(said, *key)
    if found == key:
        return AnswerMatch.OTHER_FORM
    if found[1] != key[1]:
        return AnswerMatch.CONTAINED if found[0] == key[0] and not key[1] else AnswerMatch.UNKNOWN
    if said.endswith("%") != wanted.endswith("%"):
        return _with_and_without_percent(said, wanted)
    return AnswerMatch.DIFFERENT


def _with_and_without_percent(said: str, wanted: str) -> AnswerMatch:
    """50 may be what a key that asks for a percentage says of 50%."""
    if number_of(said.rstrip("% ")) != number_of(wanted.rstrip("% ")):
        return AnswerMatch.DIFFERENT
    return AnswerMatch.CONTAINED if said.endswith("%") else AnswerMatch.UNKNOWN


def _number_in(said: str, value: Fraction, unit: str) -> AnswerMatch:
    """A text that is no number against a key that is one."""
    parts = [number_of(VARIABLE.sub("", part.strip())) for part in _BETWEEN.split(said)]
    if len(parts) > 1 and None not in parts:
        return AnswerMatch.SEVERAL if len(set(parts)) > 1 else agreed(parts[0] == value and not unit)
    if unit or not _PROSE.search(said) or FORMULA.search(said) or NEGATION.search(said):
        return AnswerMatch.UNKNOWN
    numbers = list(_IN_PROSE.finditer(said))
    if any(number_of(number[0]) == value for number in numbers):
        return AnswerMatch.CONTAINED
    ends_with_number = len(numbers) == 1 and numbers[0].end() == len(said)
    return AnswerMatch.DIFFERENT if ends_with_number and said[:1].isalpha() else AnswerMatch.UNKNOWN


def as_number_in_words(said: str, wanted: str) -> AnswerMatch | None:
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


_LETTERS = pattern_of(
    r"(?:(?:both|either|options?) )?\(?[a-z]\b[.)]?(?:(?: ?, ?| ?& ?| (?:or|and) |, (?:or|and) )\(?[a-z]\b[.)]?)*"
)
_ONE_LETTER = pattern_of(r"\b[a-z]\b")
_OPTION = pattern_of(r"(?:option )?(?:\(([a-z])\)|\[([a-z])\]|([a-z])[.):])(?:[ *]+(\S.*))?")
_NEXT_OPTION = pattern_of(r"(?<!\w)\(([a-z])\)|\b(?:or|and) ([a-z])(?:[.):]|$)")
_DENIED = pattern_of(r"(?:is|was|seems|looks|cannot|can't|isn't)\b.*\b(?:not|wrong|incorrect|false|be)\b|isn't|not\b")


def as_option(said: str, wanted: str) -> AnswerMatch | None:
    key = letters_of(wanted)
    if key is None:
        return None
    found = letters_of(said) or _labelled_letters(said)
    if found is None:
        return AnswerMatch.UNKNOWN
    if found == key:
        return AnswerMatch.OTHER_FORM
    if len(set(found)) > len(key) == 1:
        return AnswerMatch.SEVERAL
    return AnswerMatch.UNKNOWN if set(found) == set(key) else AnswerMatch.DIFFERENT


def letters_of(text: str) -> tuple[str, ...] | None:
    """("a",) of "(a)" and ("a", "c") of "a and c"; None where there is anything else."""
    if _LETTERS.fullmatch(text) is None:
        return None
    return tuple(_ONE_LETTER.findall(text))


def _labelled_letters(text: str) -> tuple[str, ...] | None:
    """("c",) of "c: because of this"."""
    option = _OPTION.fullmatch(text)
    if option is None or _DENIED.match(option[4] or ""):
        return None
    first = option[1] or option[2] or option[3]
    others = (found[1] or found[2] for found in _NEXT_OPTION.finditer(option[4] or ""))
    return tuple(dict.fromkeys((first, *others)))
