r"""Is the answer the one in the key? Compared as text and as exact numbers, without a model.

EQUAL, OTHER_FORM and NOT_EXTRACTED are claims: two readers would agree. Whatever takes knowledge of the task (order in a list,
units, rounding, synonyms, equivalent formulas) is UNKNOWN or CONTAINED, never a claim.

Work is bounded: texts of LONGEST characters or more are only tested for identity, and of the final text only the tail is read.
"""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from blade.diagnose.moments import as_moment, as_number

LONGEST = 200
"""The table cuts stored texts there; what may be cut is not compared."""
TAIL = 2000
"""An answer is stated at the end; nothing before these last characters is read."""
NEAR_END = 300
"""A statement that more text than this follows is a step, not the answer."""
LEAD = 100
"""How far before a statement it may be negated."""


class Match(StrEnum):
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


def compare_answer(answer: str | None, expected: str, final_text: str) -> Match:
    """Compare the extracted answer with the key; where nothing was extracted, what the final text states."""
    key = expected.strip()
    if answer is None or _is_nothing(answer, key):
        return _compare_final(final_text, key)
    return _compare(answer.strip(), key)


_NOTHING = frozenset({"", "none", "null", "nan", "n/a"})


def _is_nothing(answer: str, key: str) -> bool:
    """Verifiers write "None" for an answer that they did not find."""
    if len(answer) >= LONGEST:
        return not answer.strip()
    said = answer.strip().lower()
    return said in _NOTHING and said != key.lower()


# Of two texts


_WHOLE = re.compile(r"[1-9][0-9]{0,15}")
"""A whole number that is written in one way only, as most answers are."""


@lru_cache(maxsize=4096)
def _compare(answer: str, key: str) -> Match:
    if not key:
        return Match.UNKNOWN
    if answer == key:
        return Match.EQUAL
    if _WHOLE.fullmatch(answer) and _WHOLE.fullmatch(key):
        return Match.DIFFERENT
    if _is_opaque(answer) or _is_opaque(key):
        return Match.UNKNOWN
    boxes = _boxes(answer)
    if len({_value(box) for box in boxes}) > 1:
        return Match.SEVERAL
    wanted, said = _items(key), _items(answer)
    if wanted is not None and len(wanted) != 1:
        return _compare_lists(answer, said, wanted)
    if said is not None and len(said) != 1:
        return Match.UNKNOWN
    return _compare_scalars(said[0] if said else boxes[0] if boxes else answer, wanted[0] if wanted else key)


_OPAQUE = re.compile(
    r"```|<\?|#include|\{\s*[\"']|\[\s*[\[{]"
    r"|(?:def|class|import|from|return|function|module|var|let|const)\s+\w+[\s(:;,=.]"
    r"|(?:select|insert|update|delete|with|create|drop|alter)\s.*\b(?:from|into|set|as|table|view)\b",
    re.IGNORECASE | re.DOTALL,
)


def _is_opaque(text: str) -> bool:
    """Long, code, SQL or nested JSON: equal only when identical."""
    return len(text) >= LONGEST or (len(text) > 3 and _OPAQUE.match(text) is not None)


def _compare_scalars(answer: str, key: str) -> Match:
    said, wanted = _without_labels(_plain(answer), _plain(key))
    if not said or not wanted:
        return Match.UNKNOWN
    if said == wanted:
        # "B.", "Option B" and "Answer: B" are how an option is decorated, as "(B)" is.
        decorated = len(wanted) == 1 and wanted.isalpha() and any(mark in answer for mark in ".: ")
        return Match.OTHER_FORM if decorated else Match.EQUAL
    for rule in (_as_moment, _as_option, _as_words, _as_number, _as_yes_no, _as_formula):
        verdict = rule(said, wanted)
        if verdict is not None:
            return verdict
    return _as_text(said, wanted)


# Normal form

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
_TAGGED = re.compile(r"<(\w{1,20})>([^<>]*)</\1>")
_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mbox|operatorname)\s*\{([^{}]*)\}")
_GROUPED_DIGITS = re.compile(r"(?<=[0-9])(?:\\,|\{,\}|,\\!)(?=[0-9]{3})")
_SPACE = re.compile(r"\\[,;: ]\s*")
_NO_WIDTH = re.compile(r"\\!|\\left(?![a-z])|\\right(?![a-z])")
_SAID_TO_BE_ANSWER = re.compile(
    r"(?:(?:so|thus|hence|therefore),? )?(?:the |my )?(?:final |correct |best )?"
    r"(?:answer|solution|result|option|choice)(?: is(?: option)?:?| ?:| ?=|(?= \(?[a-z]\)?$)) ?(?=\S)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?!not\b)([a-z][a-z_-]+) ?:(?![:/]) ?(?=\S)", re.IGNORECASE)
_VARIABLE = re.compile(r"([a-z](?:_\{?\w\}?|\([a-z]\))?) ?= ?(?=[^=]+$)", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    """Without case, repeated white space, wrappers and closing punctuation; latex keeps its case."""
    text = " ".join(text.split())
    if not text.isascii():
        text = text.translate(_CHARACTERS)
    if "\\" in text or "{,}" in text:
        text = _plain_latex(text)
    before = ""
    while text != before:
        before = text
        text = _unwrapped(_trimmed(text))
        if len(text) > 6:
            text = text[found.end() :] if (found := _SAID_TO_BE_ANSWER.match(text)) else text
    return text if "\\" in text else text.lower()


def _plain_latex(text: str) -> str:
    text = _GROUPED_DIGITS.sub(",", text)
    text = _TEXT_COMMAND.sub(r"\1", text)
    text = _NO_WIDTH.sub("", _SPACE.sub(" ", text))
    return text.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac").replace("\\%", "%").replace("\\$", "$")


def _trimmed(text: str) -> str:
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


def _boxes(text: str) -> list[str]:
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


def _without_labels(said: str, wanted: str) -> tuple[str, str]:
    """Without a `label:` or `x =` that one side alone has, or that both have alike; two different ones mean two things."""
    for pattern in (_LABEL, _VARIABLE):
        left, right = pattern.match(said), pattern.match(wanted)
        if left and right and left[1].lower() != right[1].lower():
            continue
        said = said[left.end() :] if left else said
        wanted = wanted[right.end() :] if right else wanted
    return said, wanted


def _value(text: str) -> Fraction | str:
    plain = _plain(text) if len(text) < LONGEST else text
    number = _number(plain)
    return plain if number is None else number


# Lists

_ITEM = re.compile(r"""\s*(?:"([^"\\]*)"|'([^'\\]*)'|([^\[\]{}"',]+))\s*(?:,|$)""")
_NAME_ITEM = re.compile(r"(?!.*[0-9])[^\W_].*[^\W_]")


def _items(text: str) -> list[str] | None:
    """The scalars of a JSON or Python list; None for anything else, a list in a list too."""
    return _split(text[1:-1]) if text[:1] == "[" and text[-1:] == "]" else None


def _split(inner: str) -> list[str] | None:
    found: list[str] = []
    at = 0
    if not inner.strip():
        return found
    while at < len(inner):
        item = _ITEM.match(inner, at)
        if item is None:
            return None
        found.append(next(part for part in item.groups() if part is not None).strip())
        at = item.end()
    return found


def _compare_lists(answer: str, said: list[str] | None, wanted: list[str]) -> Match:
    """A key of several values, or of none."""
    if said is None and "," in answer:
        said = _split(answer)
    if said is None or (len(said) == 1 and answer[:1] != "["):
        return _any_of(answer, wanted)
    left, right = [_value(item) for item in said], [_value(item) for item in wanted]
    if left == right:
        return Match.EQUAL if answer[:1] == "[" and _texts(said) == _texts(wanted) else Match.OTHER_FORM
    # Whether order matters, whether one of the values is enough: the verifier knows.
    if set(left) <= set(right) and (left or not right):
        return Match.UNKNOWN
    comparable = all(_is_word(item) for item in (*left, *right))
    return Match.DIFFERENT if comparable else Match.UNKNOWN


def _texts(items: list[str]) -> list[str]:
    return [_plain(item) for item in items]


def _is_word(value: Fraction | str) -> bool:
    return isinstance(value, Fraction) or value.replace("_", "").isalnum()


def _any_of(answer: str, alternatives: list[str]) -> Match:
    """Names in a key are ways of saying it; of numbers, letters and ids all may be wanted."""
    if not alternatives or not all(_NAME_ITEM.fullmatch(item) for item in alternatives):
        return Match.UNKNOWN
    verdicts = [_compare_scalars(answer, item) for item in alternatives]
    return next((m for m in (Match.EQUAL, Match.OTHER_FORM, Match.CONTAINED) if m in verdicts), Match.UNKNOWN)


# Options

_LETTERS = re.compile(
    r"(?:(?:both|either|options?) )?\(?[a-z]\b[.)]?(?:(?: ?, ?| ?& ?| (?:or|and) |, (?:or|and) )\(?[a-z]\b[.)]?)*"
)
_ONE_LETTER = re.compile(r"\b[a-z]\b")
_OPTION = re.compile(r"(?:option )?(?:\(([a-z])\)|\[([a-z])\]|([a-z])[.):])(?:[ *]+(\S.*))?")
_NEXT_OPTION = re.compile(r"(?<!\w)\(([a-z])\)|\b(?:or|and) ([a-z])(?:[.):]|$)")
_DENIED = re.compile(r"(?:is|was|seems|looks|cannot|can't|isn't)\b.*\b(?:not|wrong|incorrect|false|be)\b|isn't|not\b")


def _as_option(said: str, wanted: str) -> Match | None:
    key = _letters(wanted)
    if key is None:
        return None
    found = _letters(said) or _labelled_letters(said)
    if found is None:
        return Match.UNKNOWN
    if found == key:
        return Match.OTHER_FORM
    if len(set(found)) > len(key) == 1:
        return Match.SEVERAL
    return Match.UNKNOWN if set(found) == set(key) else Match.DIFFERENT


def _letters(text: str) -> tuple[str, ...] | None:
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


# Numbers

_DECIMAL = r"(?:(?:0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{3})+)(?:\.[0-9]+)?|\.[0-9]+)"
_NUMBER = re.compile(
    rf"([-+]?) ?(?:({_DECIMAL})(?:e([-+]?[0-9]{{1,3}})| ?/ ?({_DECIMAL}))?"
    rf"|(?:({_DECIMAL}) ?(?:\\times|\\cdot|\*|x) ?)?10(?:\^|\*\*)(?:([-+]?[0-9]{{1,3}})|[{{(]([-+]?[0-9]{{1,3}})[)}}])"
    rf"|\\frac ?\{{ ?({_DECIMAL}) ?\}} ?\{{ ?({_DECIMAL}) ?\}}|\\frac([0-9])([0-9]))( ?%)?"
)
_SCALE = r"(?:percent|hundred|thousand|million|billion|trillion|dozen|mod|times|or|and|to)\b"
_QUANTITY = re.compile(
    rf"([$€£¥]?) ?([-+]?{_DECIMAL})(?: (?!{_SCALE})([^\W\d_][^\W\d_ ]*(?: [^\W\d_]+){{0,2}})|([^\W\d_]{{2,}}))?"
)
_IN_PROSE = re.compile(
    rf"(?<![\w.,:/^*+=($€£¥-])[-+]?{_DECIMAL}%?(?![\w/^*+%:!-]|[.,][0-9.])(?! {_SCALE})",
)
_PROSE = re.compile(r"[^\W\d_]{2}")
_BETWEEN = re.compile(r" ?(?:,? \b(?:or|and)\b |, |;|&) ?")


@lru_cache(maxsize=4096)
def _number(text: str) -> Fraction | None:
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


def _quantity(text: str) -> tuple[Fraction, str] | None:
    """A number and its unit."""
    value = _number(text)
    if value is not None:
        return value, ""
    found = _QUANTITY.fullmatch(text)
    value = _number(found[2]) if found else None
    if found is None or value is None:
        return None
    return value, found[1] + (found[3] or found[4] or "")


def _as_number(said: str, wanted: str) -> Match | None:
    key = _quantity(wanted)
    if key is None:
        return None
    found = _quantity(said)
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
    if _number(said.rstrip("% ")) != _number(wanted.rstrip("% ")):
        return Match.DIFFERENT
    return Match.CONTAINED if said.endswith("%") else Match.UNKNOWN


def _number_in(said: str, value: Fraction, unit: str) -> Match:
    """A text that is no number against a key that is one."""
    parts = [_number(_VARIABLE.sub("", part.strip())) for part in _BETWEEN.split(said)]
    if len(parts) > 1 and None not in parts:
        return Match.SEVERAL if len(set(parts)) > 1 else _agreed(parts[0] == value and not unit)
    if unit or not _PROSE.search(said) or _FORMULA.search(said) or _NEGATION.search(said):
        return Match.UNKNOWN
    numbers = list(_IN_PROSE.finditer(said))
    if any(_number(number[0]) == value for number in numbers):
        return Match.CONTAINED
    ends_with_number = len(numbers) == 1 and numbers[0].end() == len(said)
    return Match.DIFFERENT if ends_with_number and said[:1].isalpha() else Match.UNKNOWN


def _agreed(same: bool) -> Match:
    return Match.OTHER_FORM if same else Match.UNKNOWN


# Words and formulas

_OPPOSITE = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
_FIRST_WORD = re.compile(r"(yes|no|true|false)(?: ?[,.;:-] ?| (or|and) (?:yes|no|true|false)\b)")
_FORMULA = re.compile(r"[\\^{}=<>|√π∞]|\*\*|[a-z]\(|[\w)] ?[*+] ?[\w(]|[0-9)] ?[/-] ?[\w(]|\w ?/ ?[0-9(]|^-[a-z]")
_SPELLING = (
    (re.compile(r"\\sqrt ?\{([^{}]*)\}"), r"sqrt(\1)"),
    (re.compile(r"\^ ?\{([^{}]*)\}"), r"^(\1)"),
    (re.compile(r"\^\((\w)\)"), r"^\1"),
    (re.compile(r"\*\*"), "^"),
    (re.compile(r"\\(?:cdot|times)(?![a-z])"), "*"),
    (re.compile(r"\\(pi|infty|theta|alpha|beta|gamma|lambda)(?![a-z])"), r"\1"),
    (re.compile(r"(?<!\w)\s+|\s+(?!\w)"), ""),
)
_NEGATION = re.compile(
    r"\b(?:not?|never|neither|nor|none|cannot|without|except|unlike|instead|rather|unsure|unknown|wrong|incorrect|false|wait|actually)\b|n't\b"
)
_NAME = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+){0,3}")
_ID = re.compile(r"[^\W\d_]\w*")


def _as_moment(said: str, wanted: str) -> Match | None:
    """A day or a time of day, written in two ways; a number such as 12.30 is one only where letters say so."""
    text = wanted + said
    if ":" not in text and "-" not in text and not any(map(str.isalpha, text)):
        return None
    mine, key = as_moment(said), as_moment(wanted)
    if mine is None or key is None or type(mine) is not type(key):
        return None
    return _same_value(mine == key)


def _as_words(said: str, wanted: str) -> Match | None:
    """A number in words on one side and in digits on the other."""
    in_words = [as_number(text) for text in (said, wanted)]
    if in_words == [None, None]:
        return None
    in_digits = [_number(text) for text in (said, wanted)]
    if in_words[0] is not None and in_digits[1] is not None:
        return _same_value(in_words[0] == in_digits[1])
    if in_words[1] is not None and in_digits[0] is not None:
        return _same_value(in_words[1] == in_digits[0])
    return None


def _same_value(same: bool) -> Match:
    return Match.OTHER_FORM if same else Match.DIFFERENT


def _as_yes_no(said: str, wanted: str) -> Match | None:
    if wanted not in _OPPOSITE:
        return None
    if said == _OPPOSITE[wanted]:
        return Match.DIFFERENT
    first = _FIRST_WORD.match(said)
    if first is None:
        return Match.UNKNOWN
    if first[2]:
        return Match.SEVERAL
    if first[1] == wanted:
        return Match.CONTAINED
    return Match.DIFFERENT if first[1] == _OPPOSITE[wanted] else Match.UNKNOWN


def _as_formula(said: str, wanted: str) -> Match | None:
    if not (_FORMULA.search(said) or _FORMULA.search(wanted)):
        return None
    return _agreed(_spelled(said) == _spelled(wanted))


def _spelled(formula: str) -> str:
    for pattern, replacement in _SPELLING:
        formula = pattern.sub(replacement, formula)
    return formula


def _as_text(said: str, wanted: str) -> Match:
    if " or " in said and " or " not in wanted:
        parts = said.removeprefix("either ").split(" or ")
        if any(_trimmed(part) == wanted for part in parts):
            return Match.SEVERAL
    at = _whole_words(said, wanted)
    if at >= 0:
        around = said[:at] + said[at + len(wanted) :]
        return Match.UNKNOWN if _NEGATION.search(around) else Match.CONTAINED
    return Match.DIFFERENT if _are_two_names(said, wanted) else Match.UNKNOWN


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


# Of a final text

_STATED = re.compile(r"answer(?:\s+is\b|[\s*_]*:)[\s:*_]*", re.IGNORECASE)
_AT_END = re.compile(r"\*\*([^*\n]{1,200})\*\*[.\s]*\Z|<(\w{1,20})>([^<>]{1,300})</\2>\s*\Z")
_SENTENCE_END = re.compile(r"\.\s+(?=[A-Z])|\n")
_CONDITION = re.compile(r"\b(?:if|whether|unless|suppose|maybe|perhaps|might)\b")
_RETRACTED = re.compile(r"\b(?:wait|actually|however|correction|mistake)\b", re.IGNORECASE)


def _compare_final(final_text: str, key: str) -> Match:
    text = final_text[-TAIL:].rpartition("</think>")[2].strip()
    if not text:
        return Match.NONE
    if key and final_text.strip() == key:
        return Match.NOT_EXTRACTED
    if not key or _is_opaque(key):
        return Match.UNKNOWN
    boxes = _boxes(text)
    if boxes:
        return _as_stated(
            _compare(boxes[-1].strip(), key) if len({_value(box) for box in boxes}) == 1 else Match.SEVERAL
        )
    stated = _stated(text)
    if stated:
        return _as_stated(_compare(stated, key))
    return _compare_last_line(text, key)


def _as_stated(verdict: Match) -> Match:
    return Match.NOT_EXTRACTED if verdict in (Match.EQUAL, Match.OTHER_FORM) else verdict


def _stated(text: str) -> str | None:
    """What the text calls its answer, or sets off at its end, unless it doubts or takes it back."""
    if found := _AT_END.search(text, max(0, len(text) - NEAR_END - LONGEST)):
        return None if _is_doubted(text[: found.start()]) else (found[1] or found[3]).strip()
    tail = text[-NEAR_END - LONGEST :]
    statements = list(_STATED.finditer(tail))
    if not statements or _is_doubted(tail[: statements[-1].start()]):
        return None
    rest = tail[statements[-1].end() :]
    stated = _SENTENCE_END.split(rest, maxsplit=1)[0].strip()
    after = rest[len(stated) :]
    return None if len(after) > NEAR_END or _RETRACTED.search(after) else stated


def _is_doubted(before: str) -> bool:
    """Whether the sentence that leads to a statement negates it or makes it a condition."""
    sentence = before[-LEAD:].rpartition("\n")[2].rpartition(". ")[2].lower()
    return bool(_NEGATION.search(sentence) or _CONDITION.search(sentence))


def _compare_last_line(text: str, key: str) -> Match:
    """The last line was not called the answer: what it says instead of a name may be anything, a number may not."""
    line = text.rpartition("\n")[2].strip()
    verdict = _as_stated(_compare(line, key))
    if verdict is Match.UNKNOWN:
        return Match.NONE
    if verdict is Match.DIFFERENT and line != text:
        plain = _plain(key)
        return verdict if _letters(plain) or _quantity(plain) else Match.NONE
    return verdict
