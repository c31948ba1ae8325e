"""The first false equation in a worked solution, found by working out both sides exactly.

Only what is stated as true is judged: a line of prose or of formulas, outside code, with numbers on both sides of `=`. A side
that is rounded as its decimals say is true. A line that asks, assumes, denies or speaks of another base or modulus is passed
over, and so is a side that a word or a letter continues: silence is no claim that a line is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from msgspec import Struct

from blade.evidence.arithmetic import LONGEST, value_of
from blade.model.pattern import pattern_of

LONGEST_LINE = 2_000
"""A longer line is data, not a step of a solution."""
MOST_TEXT = 100_000
"""Characters of a text that are read."""

_MAY_STATE = pattern_of(r"[0-9)\]}][ $]*=[ $]*[-+(\[{.0-9\\\u2212]")
_EQUALS = pattern_of(r"(?<![=<>!:~+*/^-])=(?![=>])")
_AT_END = pattern_of(r"(?<![-+*/^().,0-9\s])[-+*/^().,0-9\s]+\Z|\A[-+*/^().,0-9\s]+\Z")
_AT_START = pattern_of(r"[-+*/^().,0-9\s]+")
_NOT_STATED = pattern_of(
    r"""[?\u2260\u2261\u2248]|n[\u2019']t\b|\b(?:not?|never|if|unless|suppose|assum\w+|wrong|incorrect|false|mistake|contradict\w*
    |impossible|instead|wait|check\w*|try\w*|verify|would|should|could|maybe|mod|modulo|modulus|base|binary|hex\w*|octal|remainder
    |approx\w*|about|round\w*|roughly|nearly|clock|a\.?m|p\.?m)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TAKES_NUMBERS = pattern_of(
    r"(?:\b(?:log|ln|lg|sin|cos|tan|sec|csc|cot|exp|sqrt|root|abs|floor|ceil|min|max|gcd|lcm|of|and|mod|plus|minus|times|by|over|or"
    r"|divided|multiplied|added|subtracted|choose|per|from|than|between|xor)|\\[a-z]+)\s*\Z",
    re.IGNORECASE,
)
"""Words that take the numbers after them as their own: `log 100 = 2`, `the sum of 3 and 4 = 7`."""
_GOES_ON = pattern_of(
    r"\s*(?:\Z|[.,;:!)\"'|\u2192]+(?:\s|\Z)|\(|\[|(?:so|then|which|thus|hence|therefore|because|since|as|altogether)\b)",
    re.IGNORECASE,
)
"""What may stand behind a number without making it another."""
_BINDING = frozenset("%!|\u221a_\\<>\u00b0\u00b2\u00b3&~")
"""What makes the numbers after it something else."""
_TOUCHING = frozenset("'@#:")
"""What does so where no space is between."""
_SAME_SIGN = str.maketrans("\u2212\u2013\u00d7\u00b7\u00f7\u2217\u22c5[]{}$", "--**/**()() ")
_DECIMALS = pattern_of(r"\(?-?[0-9,]*\.([0-9]+)\)?")
_LATEX = (("\\times", "*"), ("\\cdot", "*"), ("\\div", "/"), ("\\left", ""), ("\\right", ""))
_POWER = pattern_of(r"(?<=[0-9)])\*\*(?=[-0-9(])")
_FENCE = "```"


class FalseEquation(Struct, frozen=True, kw_only=True):
    """Two sides of a line that are said to be equal and are not."""

    line: str
    """As the text has it."""
    left: str
    right: str


def first_false(text: str) -> FalseEquation | None:
    """The first false equation of a text; None where every one that can be worked out holds."""
    if "=" not in text or _MAY_STATE.search(text, 0, MOST_TEXT) is None:
        return None
    for line in _lines(text[:MOST_TEXT]):
        if (found := _false_in(line)) is not None:
            return found
    return None


def _lines(text: str) -> Iterator[str]:
    """The lines that may state an equation, without those of code."""
    in_code = False
    for line in text.split("\n"):
        if line.lstrip().startswith(_FENCE):
            in_code = not in_code
        elif not in_code and len(line) <= LONGEST_LINE and _MAY_STATE.search(line) is not None:
            yield line


def _false_in(line: str) -> FalseEquation | None:
    if _NOT_STATED.search(line) is not None:
        return None
    sides = _EQUALS.split(_plain(line))
    for place, (before, after) in enumerate(pairwise(sides)):
        left, right = _ending(before, in_chain=place > 0), _beginning(after)
        if left and right and _differ(left, right):
            return FalseEquation(line=line, left=left, right=right)
    return None


def _plain(line: str) -> str:
    """With one sign for each operation; no longer than the line's arithmetic needs."""
    for latex, sign in _LATEX:
        line = line.replace(latex, sign) if latex in line else line
    return _POWER.sub("^", line.translate(_SAME_SIGN)).replace("**", " ").replace("__", " ")


def _ending(side: str, *, in_chain: bool) -> str:
    """The arithmetic that ends a side, where nothing before it belongs to it; a bare number only in a chain of equations."""
    found = _AT_END.search(side, max(0, len(side) - LONGEST))
    if found is None:
        return ""
    own, before = found[0].strip(), side[: found.start()]
    own = own[own.rfind(". ") + 1 :].lstrip(" .,)") if not before.strip() or ". " in own else own.lstrip(" .,)")
    whole = not before.strip()
    if not _is_sum(own) and not (whole and in_chain):
        return ""
    return own if whole or _stands_alone(before, found[0], own) else ""


def _stands_alone(before: str, found: str, own: str) -> bool:
    """Whether words before arithmetic only lead to it."""
    word = before.rsplit(None, 1)[-1]
    touches = (word[-1].isalnum() or word[-1] in _TOUCHING) and not found[:1].isspace()
    one_letter = len(word) == 1 and word.isalpha()
    goes_on = own[:1] in tuple("+*/^") or (own[:1] == "-" and own[1:2].isspace())
    return not (touches or one_letter or goes_on or word[-1] in _BINDING or _TAKES_NUMBERS.search(before) is not None)


def _is_sum(own: str) -> bool:
    return any(sign in own.lstrip("-+( ") for sign in "+-*/^")


def _beginning(side: str) -> str:
    """The arithmetic that begins a side, where nothing behind it belongs to it."""
    found = _AT_START.match(side[:LONGEST])
    if found is None:
        return ""
    own, after = found[0].rstrip(), side[found.end() :]
    closed = own.endswith((".", ","))
    own, _, other = own.partition(". ") if ". " in own else (own.rstrip(".,"), "", "")
    while own.endswith("("):
        own, after = own[:-1].rstrip(), "(" + after
    while own.endswith(")") and own.count(")") > own.count("("):
        own = own[:-1].rstrip(" .,")
    return own if closed or other or _GOES_ON.match(after) is not None else ""


def _differ(left: str, right: str) -> bool:
    mine, other = value_of(left), value_of(right)
    if mine is None or other is None or mine == other:
        return False
    return abs(mine - other) > max(_rounded(left), _rounded(right))


def _rounded(side: str) -> Fraction:
    """By how much a side may be off that is written with decimals: one of its last place, be it rounded or cut."""
    found = _DECIMALS.fullmatch(side.strip())
    return Fraction(1, 10 ** len(found[1])) if found else Fraction(0)
