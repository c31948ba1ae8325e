"""Parts of a verifier's account that do not hold, wherever the row has them: `verifier-part:NAME`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from blade.model.finding import Sign
from blade.model.pattern import pattern_of
from blade.model.rollout import Rollout

LONGEST_SUBJECT = 120
TRAJECTORY = frozenset(
    ("response", "responses_create_params", "messages", "trajectory", "traj", "history", "output", "input")
)
"""Fields that hold what was said and done, and no account of it."""
DEEPEST = 6
_MOST_ITEMS = 200
_VERDICT = pattern_of(
    r"(?:^|_)(?:match|matched|matches|met|passed|satisfied|fulfilled|correct|success|succeeded|holds|ok)$",
    re.IGNORECASE,
)
"""How flags are named that are false where a part of the verdict does not hold."""


def verifier_parts(rollout: Rollout) -> Iterator[Sign]:
    """Flags inside a verifier's account that are false, each with what it is about and its path in the row."""
    asked = [name for name in rollout.fields if name not in TRAJECTORY]
    holding = [name for name in asked if any(_of_field(name, rollout.field(name)))]
    # A row is mostly trajectory: it is decoded whole only where the order of its fields matters.
    row = rollout.row if len(holding) > 1 else {name: rollout.field(name) for name in holding}
    for name, value in row.items():
        yield from _of_field(name, value)


def _of_field(name: str, value: object) -> Iterator[Sign]:
    if name not in TRAJECTORY and "." not in name and isinstance(value, dict | list):
        yield from _parts(name, name, value, 0)


def _parts(path: str, name: str, value: object, depth: int) -> Iterator[Sign]:
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        for inner, item in value.items():
            if item is False and _VERDICT.search(inner):
                yield _sign(f"{path}.{inner}", name, value)
            elif isinstance(item, dict | list) and "." not in inner:  # a path could not name it
                yield from _parts(f"{path}.{inner}", inner, item, depth + 1)
    elif isinstance(value, list):
        for place, item in enumerate(value[:_MOST_ITEMS]):
            if isinstance(item, dict | list):
                yield from _parts(f"{path}.{place}", name, item, depth + 1)


def _sign(path: str, name: str, part: Mapping[str, object]) -> Sign:
    kind = f"verifier-part:{name}"[:LONGEST_SUBJECT]
    return Sign(kind=kind, subject=_about(part)[:LONGEST_SUBJECT], quote="false", field=path)


def _about(part: Mapping[str, object]) -> str:
    """The call that a part holds, or its first words."""
    calls = (item.get("name") for item in part.values() if isinstance(item, dict))
    words = (item for item in part.values() if isinstance(item, str) and item.strip())
    return next((one for one in (*calls, *words) if isinstance(one, str)), "")
