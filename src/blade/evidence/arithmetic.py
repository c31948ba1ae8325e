"""Exact values of written arithmetic: integers and decimals with + - * / ^ and parentheses, in linear time and without `eval`.

A number may have its thousands grouped by commas. A factor may stand before a parenthesis without a sign between them.
Whatever else a text holds makes it no arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from blade.model.pattern import pattern_of

LONGEST = 400
"""Characters of an expression; a longer one is no line of a worked solution."""
LARGEST_POWER = 64
LARGEST = 10**60
"""Values whose numerator or denominator grows beyond this are not followed."""

_TOKEN = pattern_of(
    r"\s*(?:((?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,30})(?:\.[0-9]{1,30})?|\.[0-9]{1,30})|([-+*/^()]))"
)
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "negate": 3, "^": 4}
_RIGHT = frozenset(("^", "negate"))


def value_of(expression: str) -> Fraction | None:
    """The value of an expression; None where it is none, divides by zero or grows beyond all use."""
    tokens = list(_tokens(expression)) if len(expression) <= LONGEST else [None]
    if not tokens or None in tokens:
        return None
    try:
        return _evaluated([token for token in tokens if token is not None])
    except (IndexError, ZeroDivisionError, OverflowError):
        return None


def _tokens(expression: str) -> Iterator[Fraction | str | None]:
    """Numbers and signs, with what is implied put in; a None where anything else stands."""
    at, text, before = 0, expression.strip(), ""
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            yield None
            return
        at = found.end()
        sign = found[2] or ""
        follows = before in ("number", ")")
        if follows and not sign:
            yield None  # two numbers in a row
            return
        if follows and sign == "(":
            yield "*"
        if sign in ("-", "+") and not follows:
            sign = "negate" if sign == "-" else ""
            if sign:
                yield sign
            before = "sign"
            continue
        yield sign or Fraction(found[1].replace(",", ""))
        before = sign if sign in ("(", ")") else "sign" if sign else "number"


def _evaluated(tokens: list[Fraction | str]) -> Fraction | None:
    """Two stacks; an operator waits until one that binds less tightly comes."""
    values: list[Fraction] = []
    waiting: list[str] = []
    for token in tokens:
        if isinstance(token, Fraction):
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


def _apply(operator: str, values: list[Fraction]) -> None:
    right = values.pop()
    if operator == "negate":
        values.append(-right)
        return
    if operator == "(":
        raise IndexError
    left = values.pop()
    if operator == "^":
        if right.denominator != 1 or abs(right) > LARGEST_POWER:
            raise OverflowError
        values.append(left ** int(right))
    else:
        values.append(_plain(operator, left, right))
    if max(abs(values[-1].numerator), values[-1].denominator) > LARGEST:
        raise OverflowError


def _plain(operator: str, left: Fraction, right: Fraction) -> Fraction:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    return left * right if operator == "*" else left / right
