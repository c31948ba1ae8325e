"""The normal form of an answer: without wrappers, markup and labels."""

from __future__ import annotations

import re
from functools import lru_cache

from blade.model.pattern import pattern_of

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
