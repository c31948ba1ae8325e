"""Where a value comes from: which result, message or prompt held it before it was used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from blade.evidence.actions import EMPTY, same
from blade.model.expected import DueCall
from blade.model.pattern import pattern_of
from blade.model.rollout import Rollout, Step

_DATE = pattern_of(r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}|\d{1,2}/\d{1,2}/\d{2,4}")
LONG = 6
"""Digits of a number that is a name and no amount."""
LONGEST_KNOWN = 200
"""Characters of a text of which it is kept whether it is a name."""
SHORTEST = 3
"""Shorter values stand everywhere by chance."""


def source(rollout: Rollout, value: object, before: int | None = None) -> Step | None:
    """The last result or message, before a step, that holds the value; None when none does."""
    pattern = _pattern(value)
    if pattern is None:
        return None
    heard = [step for step in rollout.steps or () if step.party != "agent" and (before is None or step.index < before)]
    return next((step for step in reversed(heard) if pattern.search(step.text)), None)


def in_prompt(rollout: Rollout, value: object) -> bool:
    """Whether what the agent was given holds the value."""
    pattern = _pattern(value)
    return pattern is not None and any(pattern.search(step.text) for step in rollout.prompt)


def holds(text: str, value: object) -> bool:
    """Whether a text holds the value, as whole words."""
    wanted = _traceable(value)
    if wanted is None or (wanted.isascii() and text.isascii() and wanted.lower() not in text.lower()):
        return False  # found out without a pattern, which takes longest to make
    pattern = _pattern(value)
    return pattern is not None and pattern.search(text) is not None


def can_be_traced(value: object) -> bool:
    """Whether a value is distinct enough to be looked for."""
    return _traceable(value) is not None


def is_name(value: object) -> bool:
    """Whether a value names something that has to be looked up: an id, an address; no plain word, date or amount."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        return False
    text = str(value)
    return _known_name(text) if len(text) <= LONGEST_KNOWN else _names(text)


def _names(text: str) -> bool:
    if " " in text or _DATE.match(text) or not can_be_traced(text):
        return False
    return "@" in text or (any(c.isdigit() for c in text) and (len(text) >= LONG or not text.isdecimal()))


_known_name = lru_cache(maxsize=4096)(_names)
"""The calls of a run, and those of its keys, name the same things again and again."""


def _traceable(value: object) -> str | None:
    if isinstance(value, bool) or value is None or isinstance(value, list | dict):
        return None
    text = " ".join(str(value).split())
    return text if SHORTEST <= len(text) <= 200 else None


def _pattern(value: object) -> re.Pattern[str] | None:
    text = _traceable(value)
    if text is None:
        return None
    return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)


def leaves(name: str, value: object) -> Iterator[tuple[str, object]]:
    """The scalars inside an argument, each with the name nearest to it."""
    if isinstance(value, Mapping):
        for inner, item in value.items():
            yield from leaves(str(inner), item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(name, item)
    else:
        yield name, value


def first_difference(name: str, due: object, made: object) -> tuple[str, object, object]:
    """The first scalar inside an argument that is not as it was due: its name, what was due, what was given."""
    wanted, given = list(leaves(name, due)), list(leaves(name, made))
    lacking = [leaf for leaf in wanted if leaf[1] not in EMPTY and not _among(leaf, given)]
    added = [leaf for leaf in given if leaf[1] not in EMPTY and not _among(leaf, wanted)]
    if not lacking and not added:
        return name, due, made
    inner = lacking[0][0] if lacking else added[0][0]
    given_here = next((value for leaf, value in added if leaf == inner), added[0][1] if added else None)
    return inner, lacking[0][1] if lacking else None, given_here


def _among(leaf: tuple[str, object], others: list[tuple[str, object]]) -> bool:
    return any(leaf[0] == name and same(leaf[1], value) for name, value in others)


def values_of(call: DueCall) -> list[tuple[str, object]]:
    """The scalars that a due call holds and that can be traced."""
    found = [leaf for name, value in call.arguments.items() for leaf in leaves(name, value)]
    return [(name, value) for name, value in found if can_be_traced(value)]
