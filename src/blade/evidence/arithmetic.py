"""Exact values of written arithmetic: integers and decimals with + - * / ^ and parentheses, in linear time and without `eval`.

A number may have its thousands grouped by commas. A factor may stand before a parenthesis without a sign between them.
Whatever else a text holds makes it no arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from blade.model.pattern import pattern_of

LONGEST = 400
"""Characters of an expression; a longer one is no line of a worked solution."""
LARGEST_POWER = 64
LARGEST = 10**60
"""Values whose numerator or denominator grows beyond this are not followed."""

_TOKEN = pattern_of(
    r"\s*(?:((?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,30})(?:\.[0-9]{1,30})?|\.[0-9]{1,30})|([-+*/^()])|(\S))"
)
Value: TypeAlias = int | Fraction
"""Whole numbers stay whole as long as they can: that is most of them, and much faster."""
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "negate": 3, "^": 4}
_RIGHT = frozenset(("^", "negate"))


@lru_cache(maxsize=4096)
def value_of(expression: str) -> Value | None:
    """The value of an expression; None where it is none, divides by zero or grows beyond all use."""
    tokens = _tokens(expression) if len(expression) <= LONGEST else []
    if not tokens:
        return None
    try:
        return _evaluated(tokens)
    except (IndexError, ZeroDivisionError, OverflowError):
        return None


def _tokens(expression: str) -> list[Value | str]:
    """Numbers and signs, with what is implied put in; empty where anything else stands."""
    tokens: list[Value | str] = []
    follows = False
    for number, sign, other in _TOKEN.findall(expression.rstrip()):
        if other or (follows and number):  # two numbers in a row are no arithmetic
            return []
        if number:
            plain = number.replace(",", "")
            tokens.append(Fraction(plain) if "." in plain else int(plain))
        elif follows and sign == "(":
            tokens += ("*", sign)
        elif sign == "-" and not follows:
            tokens.append("negate")
        elif sign != "+" or follows:
            tokens.append(sign)
        follows = bool(number) or sign == ")"
    return tokens


def _evaluated(tokens: list[Value | str]) -> Value | None:
    """Two stacks; an operator waits until one that binds less tightly comes."""
    values: list[Value] = []
    waiting: list[str] = []
    for token in tokens:
        if not isinstance(token, str):
            values.append(token)
        elif token == "(":
            waiting.append(token)
        elif token == ")":
            while waiting[-1] != "(":
                _apply(waiting.pop(), values)
            waiting.pop()
        else:
            while token != "negate" and waiting and waiting[-1] != "(" and _goes_first(waiting[-1], token):
                _apply(waiting.pop(), values)
            waiting.append(token)
    while waiting:
        _apply(waiting.pop(), values)
    return values[0] if len(values) == 1 else None


def _goes_first(waiting: str, token: str) -> bool:
    return _BINDS[waiting] > _BINDS[token] or (_BINDS[waiting] == _BINDS[token] and token not in _RIGHT)


def _apply(operator: str, values: list[Value]) -> None:
    right = values.pop()
    if operator == "negate":
        values.append(-right)
        return
    if operator == "(":
        raise IndexError
    found = _combined(operator, values.pop(), right)
    if not -LARGEST <= found <= LARGEST or found.denominator > LARGEST:
        raise OverflowError
    values.append(found)


def _combined(operator: str, left: Value, right: Value) -> Value:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if operator == "/":
        return _whole(Fraction(left) / right)
    if right.denominator != 1 or not -LARGEST_POWER <= right <= LARGEST_POWER:
        raise OverflowError
    return _whole(Fraction(left) ** int(right))


def _whole(value: Fraction) -> Value:
    return value.numerator if value.denominator == 1 else value
