"""Numbers in the blocks of our agents and models: what is none is named with the rest that is wrong, before it is used."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from blade_gym.config.interpolate import MISSING
from blade_gym.config.problem import ConfigProblem
from blade_gym.config.servers import Instance

_WHOLE, _ABOVE, _FROM = "a whole number from 1", "a number above 0", "a number from 0"
_AGAIN = {"max_tries": _WHOLE, "retry_seconds": _FROM}
_ASKING = {"timeout_seconds": _ABOVE, **_AGAIN}
_KEYS = {
    "simple_agent": {"max_steps": _WHOLE, "rollout_timeout_seconds": _ABOVE},
    "openai_model": _ASKING,
    "vllm_model": _ASKING,
    "local_model": {"threads": _WHOLE, "context": _WHOLE, **_AGAIN},
    "replay_model": _AGAIN,
    "scripted_model": _AGAIN,
}
"""By type; those of other types are their own."""


def problems(found: Sequence[Instance]) -> Iterator[ConfigProblem]:
    """Values that are not the numbers that they have to be; what is null, or filled in only later, is left alone."""
    for one in found:
        for name, what in _KEYS.get(one.type, {}).items():
            given = one.config.get(name)
            if not _open(given) and not _is(given, what):
                key = f"{one.key}.{name}"
                yield ConfigProblem(kind="server", key=key, message=f"is {what}, not {given!r}")


def _open(value: object) -> bool:
    return value is None or (isinstance(value, str) and ("${" in value or value == MISSING))


def _is(value: object, what: str) -> bool:
    """Whether a value, or the text of one as a variable gives it, is such a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    if what == _WHOLE:
        return str(value).isdecimal() and int(value) >= 1
    try:
        number = float(value)
    except ValueError:
        return False
    return math.isfinite(number) and (number > 0 if what == _ABOVE else number >= 0)
