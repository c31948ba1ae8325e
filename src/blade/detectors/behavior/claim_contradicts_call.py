"""The agent ends by stating an id, a date, an amount or a setting as done that its own last change did not have.

Why it matters
    The user is told of another change than the one that was made. Such rollouts read like successes, so nobody looks at
    them.

What to do
    Have the agent read its closing words off the result of the call, and check them against it before the rollout ends.

Limits
    Only a sentence that claims something done is looked at, and only where it states exactly one value of the same form
    as the call's and none that the call or its result holds. Amounts that may be a sum are left out. A claim in another
    language is missed.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from blade.core.finding import LONGEST_QUOTE, Cause, Evidence
from blade.core.rollout import Rollout, Step
from blade.core.tools import changes_state, is_deep
from blade.detectors._rule import detector
from blade.detectors.behavior.claimed_without_action import PHRASES, claims

CLOSING = 2
"""Messages at the end that close a rollout; the very last is often a farewell."""
SHORTEST_ID = 5
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_digit = re.compile(r"\d")
_set_to = re.compile(
    r"\b(?:set|changed|updated|switched|moved|raised|lowered)(?: from \S+)? to [\"'*`]*([A-Za-z][\w-]*)", re.IGNORECASE
)
_token = re.compile(r"#?[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
_iso = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_month = "|".join(f"{name}[a-z]*" for name in MONTHS)
_spoken = re.compile(
    rf"\b(?:({_month})\.? (\d{{1,2}})(?:st|nd|rd|th)?|(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_month}))\b", re.IGNORECASE
)
_money = re.compile(r"[$\u20ac\u00a3] ?(\d[\d,]*(?:\.\d+)?)|\b(\d[\d,]*(?:\.\d+)?) (?:dollars|euros|USD|EUR)\b")
_money_name = re.compile(r"amount|price|total|refund|payment|cost|fee|sum", re.IGNORECASE)
_word = re.compile(r"[A-Za-z][a-z_]{2,19}")
_NO_VALUE = frozenset("the your a an be our match reflect this that you it its their my use include".split())  # noqa: SIM905


Day = tuple[int, int]
"""Month and day."""
Told = str | float | Day


class _Claim(NamedTuple):
    """A sentence of a closing message that claims something done, and the values that it states."""

    sentence: str
    ids: tuple[str, ...]
    days: frozenset[Day]
    amounts: tuple[float, ...]
    set_to: tuple[str, str] | tuple[()]
    """The word to which it says that something was set, behind the words before; empty where it says nothing of it."""


@detector(
    "BEH010",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    phrases=PHRASES,
    within="closing",
    status="stable",
)
def claim_contradicts_call(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    made = _carried_out(steps)
    if not made:
        return
    last = made[-1][0]
    said = [step for step in steps if step.index > last.index and step.party == "agent" and step.kind == "message"]
    for step in said[-CLOSING:]:
        for claim in map(_claim, claims(step.text)):
            found = _contradiction(claim, last.arguments or "", made) if any(claim[1:]) else None
            if found is not None:
                quote = claim.sentence[:LONGEST_QUOTE].strip()
                yield Evidence(key=rollout.key, step=step.index, field="text", quote=quote)
                yield Evidence(key=rollout.key, step=last.index, field="arguments", quote=found)
                return


def _claim(sentence: str) -> _Claim:
    found = _set_to.search(sentence)
    set_to = (sentence[: found.start()], found[1].lower()) if found else ()
    if not _digit.search(sentence):
        return _Claim(sentence, (), frozenset(), (), set_to)
    tokens = dict.fromkeys(token for token in _token.findall(sentence) if len(token) >= SHORTEST_ID)
    amounts = (float((one or other).replace(",", "")) for one, other in _money.findall(sentence))
    return _Claim(sentence, tuple(filter(_is_id, tokens)), frozenset(_days(sentence)), tuple(amounts), set_to)


def _is_id(token: str) -> bool:
    return any(letter.isdigit() for letter in token) and any(letter.isalpha() for letter in token)


def _carried_out(steps: tuple[Step, ...]) -> list[tuple[Step, Step]]:
    """The calls that change something and whose result is no error, each with its result."""
    calls = {
        (step.index, step.call_id): step for step in steps if step.kind == "call" and changes_state(step.tool or "")
    }
    results = (step for step in steps if step.kind == "result" and not step.failed and step.answers is not None)
    return [(calls[key], step) for step in results if (key := (step.answers or 0, step.call_id)) in calls]


def _contradiction(claim: _Claim, arguments: str, made: list[tuple[Step, Step]]) -> str | None:
    """The value of the call that a sentence contradicts, as the call writes it; None where a change shows what it states."""
    leaves = list(_leaves("", _decoded(arguments)))
    for name, value in leaves:
        told = _told_instead(claim, name, value, leaves)
        if told is not None and str(value) in arguments:
            known = "\n".join(f"{call.arguments}\n{result.text}" for call, result in made)
            return None if _is_shown(told, known) else str(value)[:LONGEST_QUOTE]
    return None


def _told_instead(claim: _Claim, name: str, value: object, leaves: list[tuple[str, object]]) -> Told | None:
    """What the sentence states in place of an argument's value."""
    values = [str(one) for _, one in leaves]
    return (
        _other_word(claim, name, value)
        or _other_id(claim, value, values)
        or _other_day(claim, value, values)
        or _other_amount(claim, name, value, leaves)
    )


def _is_shown(told: Told, known: str) -> bool:
    """Whether changes or their results hold what was stated: then it reports them."""
    if isinstance(told, float):
        return told in [float(number) for number in re.findall(r"\d+(?:\.\d+)?", known)]
    return told in _days(known) if isinstance(told, tuple) else told in known.lower()


def _decoded(arguments: str) -> object:
    if is_deep(arguments):
        return None
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _leaves(name: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for inner, item in value.items():
            yield from _leaves(str(inner), item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(name, item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield name, value


def _shape(text: str) -> str:
    return re.sub(r"[A-Za-z]", "A", re.sub(r"\d", "9", text.lstrip("#")))


def _other_id(claim: _Claim, value: object, values: list[str]) -> str | None:
    """The one id of the same form in the sentence, where it names none of the call's."""
    text = str(value)
    if not claim.ids or len(text) < SHORTEST_ID or not _token.fullmatch(text) or not _is_id(text):
        return None
    shape = _shape(text)
    mine = [token.lstrip("#").lower() for token in claim.ids if _shape(token) == shape]
    return mine[0] if len(mine) == 1 and mine[0] not in {one.lstrip("#").lower() for one in values} else None


def _days(text: str) -> set[Day]:
    """Month and day of every date in a text."""
    found = {(int(month), int(day)) for _, month, day in _iso.findall(text)}
    for before, day, day_first, after in _spoken.findall(text):
        found.add((MONTHS.index((before or after)[:3].lower()) + 1, int(day or day_first)))
    return found


def _other_day(claim: _Claim, value: object, values: list[str]) -> Day | None:
    """The one day that the sentence names, where the call has others only."""
    if len(claim.days) != 1 or not isinstance(value, str) or not _iso.fullmatch(value):
        return None
    (day,) = claim.days
    return None if day in _days("\n".join(values)) else day


def _other_amount(claim: _Claim, name: str, value: object, leaves: list[tuple[str, object]]) -> float | None:
    """The one amount of money that the sentence names, where the call had one other, so that neither is a sum."""
    if len(claim.amounts) != 1 or not isinstance(value, int | float) or not _money_name.search(name):
        return None
    alone = sum(isinstance(one, int | float) for _, one in leaves) == 1
    return claim.amounts[0] if alone and claim.amounts[0] != float(value) else None


def _other_word(claim: _Claim, name: str, value: object) -> str | None:
    """Another word to which the sentence says that the argument, by its name, was set."""
    if not claim.set_to or not isinstance(value, str) or not _word.fullmatch(value):
        return None
    before, word = claim.set_to
    named = re.search(rf"\b{re.escape(name.rpartition('_')[2])}\b", before, re.IGNORECASE)
    return word if named and word not in _NO_VALUE and value.lower() not in claim.sentence.lower() else None
