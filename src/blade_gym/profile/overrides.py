"""Options as `+key=value`, NeMo Gym's other way to say them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from blade.model.errors import RequestError

_TRUE = ("true", "1", "yes", "on")
_FALSE = ("false", "0", "no", "off")


def parse(tokens: Sequence[str], known: Collection[str]) -> dict[str, str]:
    """`+key=value`, `++key=value` and `key=value` as a map; raises for a token that is none, or that nobody knows."""
    found = {}
    for token in tokens:
        name, equals, value = token.lstrip("+").partition("=")
        if not equals or not name:
            raise RequestError(f"unexpected argument: {token}", hint="options are --name value, or +name=value")
        if name not in known:
            close = get_close_matches(name, sorted(known), n=1)
            raise RequestError(f"unknown option: {token}", hint=f"did you mean {close[0]}?" if close else "see --help")
        found[name] = value.strip("'\"")
    return found


def flag(name: str, text: str) -> bool:
    """A yes or a no; raises for anything else."""
    word = text.lower()
    if word not in (*_TRUE, *_FALSE):
        raise RequestError(f"{name} is true or false, not {text!r}", hint=f"+{name}=true")
    return word in _TRUE
