"""Who a rollout is about: the identity that its key and script name, and the one that its user gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from blade.evidence.provenance import is_name
from blade.evidence.simulated_user import facts
from blade.model.expected import Due
from blade.model.pattern import pattern_of
from blade.model.rollout import Rollout, Step

_ARGUMENT = pattern_of(
    r"(?:user|customer|client|member|account|patient|person|employee|student|guest|passenger|caller|profile)_?(?:id|name|no|number)$"
    r"|^(?:user|customer|e?_?mail|email_address|username|login)$",
    re.IGNORECASE,
)
"""Names of arguments that say who somebody is."""
_ACCOUNT_NAME = pattern_of(r"[a-z]+(?:[_.-][a-z]+)+[_.-]?\d+", re.IGNORECASE)
_ADDRESS = pattern_of(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


class OtherIdentity(Struct, frozen=True, kw_only=True):
    """An identity that the user gives where the key has another."""

    given: str
    wanted: str
    step: int | None
    """None where the prompt holds it."""


def form_of(token: str) -> str:
    """The form of an identity that can be told without its name; empty for any other token."""
    return "address" if _ADDRESS.fullmatch(token) else "account" if _ACCOUNT_NAME.fullmatch(token) else ""


def identities_of_key(rollout: Rollout) -> tuple[str, ...]:
    """Who the key and the script are about: user ids, account names and addresses, in order."""
    due = rollout.due
    known = _known.get(id(due))
    if known is None or known[0] is not due:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        known = _known[id(due)] = due, _identities_of(due)
    return known[1]


_known: dict[int, tuple[Due, tuple[str, ...]]] = {}
MOST_KNOWN = 256
"""Keys whose identities are kept: the repeats of a task have one key, and stand near each other."""


def _identities_of(due: Due) -> tuple[str, ...]:
    named = [
        str(value)
        for call in due.calls or ()
        for name, value in call.arguments.items()
        if isinstance(value, str | int) and _names_somebody(name) and is_name(value)
    ]
    scripted = [fact for fact in facts(due.script) if form_of(fact)]
    return tuple(dict.fromkeys([*named, *scripted]))


@lru_cache(maxsize=1024)
def _names_somebody(argument: str) -> bool:
    return _ARGUMENT.search(argument) is not None


def other_identity(rollout: Rollout) -> OtherIdentity | None:
    """The first identity that the user gives where key and script have another of the same form, which nobody ever names.

    A user who corrects itself, or whose address is only looked up, is no other: the key's own identity then stands
    somewhere in the talk, or has another form.
    """
    mine = {identity.lower(): identity for identity in identities_of_key(rollout)}
    forms = {form: identity for identity in reversed(mine.values()) if (form := form_of(identity))}
    steps = rollout.steps or ()
    if not forms or is_named(steps, mine):
        return None
    given = next(_given(steps, forms), None) or next(_given(rollout.prompt, forms, of_prompt=True), None)
    return given if given is not None and not is_named(rollout.prompt, mine) else None


def is_named(steps: tuple[Step, ...], identities: dict[str, str]) -> bool:
    """Whether anything that is said, called or returned holds one of these identities in small letters."""
    for step in steps:
        said = f"{step.text}\n{step.arguments}".lower() if step.arguments else step.text.lower()
        if any(identity in said for identity in identities):
            return True
    return False


def _given(steps: tuple[Step, ...], forms: dict[str, str], *, of_prompt: bool = False) -> Iterator[OtherIdentity]:
    for step in steps:
        for fact in facts(step.text) if step.party == "user" else ():
            if (form := form_of(fact)) in forms:
                yield OtherIdentity(given=fact, wanted=forms[form], step=None if of_prompt else step.index)
