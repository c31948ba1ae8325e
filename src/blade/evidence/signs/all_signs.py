"""Every family of signs, in the order in which they are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from blade.evidence.signs.actors import actor_signs
from blade.evidence.signs.answers import answer_signs
from blade.evidence.signs.chat import chat_signs
from blade.model.finding import Sign
from blade.model.rollout import Rollout

SignsOf = Callable[[Rollout], Iterator[Sign]]

FAMILIES: tuple[SignsOf, ...] = (
    chat_signs,
    answer_signs,
    actor_signs,
)
MOST = 24
"""Signs that are kept of a rollout: a log full of errors must not fill the table."""


def signs(rollout: Rollout) -> tuple[Sign, ...]:
    """The signs of a rollout, family by family."""
    return tuple(islice((sign for family in FAMILIES for sign in family(rollout)), MOST))
