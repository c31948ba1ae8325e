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
from blade.detectors._engine import detector
from blade.detectors.behavior.claimed_without_action import PHRASES, claims

SHORTEST_ID = 5
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

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


class _Claim(NamedTuple):
    """A sentence of a closing message, and everything that the changes and their results hold."""

    sentence: str
    known: str


@detector("BEH010", suggests=Cause.BEHAVIOR, kind="associated", reads=("steps",), phrases=PHRASES)
def claim_contradicts_call(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    made = _carried_out(steps)
    if not made:
        return
    last, known = made[-1][0], "\n".join(f"{call.arguments}\n{result.text}" for call, result in made)
    for step in (one for one in steps if one.index > last.index and one.party == "agent" and one.kind == "message"):
        for sentence in claims(step.text):
            found = _contradiction(_Claim(sentence, known), last.arguments or "")
            if found is not None:
                yield Evidence(key=rollout.key, step=step.index, field="text", quote=sentence[:LONGEST_QUOTE].strip())
                yield Evidence(key=rollout.key, step=last.index, field="arguments", quote=found)
                return


def _carried_out(steps: tuple[Step, ...]) -> list[tuple[Step, Step]]:
    """The calls that change something and whose result is no error, each with its result."""
    calls = {
        (step.index, step.call_id): step for step in steps if step.kind == "call" and changes_state(step.tool or "")
    }
    results = (step for step in steps if step.kind == "result" and not step.failed and step.answers is not None)
    return [(calls[key], step) for step in results if (key := (step.answers or 0, step.call_id)) in calls]


def _contradiction(claim: _Claim, arguments: str) -> str | None:
    """The value of the call that a sentence contradicts, as the call writes it."""
    leaves = list(_leaves("", _decoded(arguments)))
    for name, value in leaves:
        against = (
            _other_word(claim, name, value)
            or _other_id(claim, value, [str(one) for _, one in leaves])
            or _other_date(claim, value, [str(one) for _, one in leaves])
            or _other_amount(claim, name, value, leaves)
        )
        if against and str(value) in arguments:
            return str(value)[:LONGEST_QUOTE]
    return None


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


def _other_id(claim: _Claim, value: object, values: list[str]) -> bool:
    """Whether the sentence names one id of the same form, and none of the call's."""
    text = str(value)
    shape = _shape(text)
    if len(text) < SHORTEST_ID or "9" not in shape or "A" not in shape or not _token.fullmatch(text):
        return False
    mine = [token for token in dict.fromkeys(_token.findall(claim.sentence)) if _shape(token) == shape]
    alike = {one.lstrip("#").lower() for one in values if _shape(one) == shape}
    return (
        len(mine) == 1
        and mine[0].lstrip("#").lower() not in alike
        and mine[0].lstrip("#").lower() not in claim.known.lower()
    )


def _days(text: str) -> set[tuple[int, int]]:
    """Month and day of every date in a text."""
    found = {(int(month), int(day)) for _, month, day in _iso.findall(text)}
    for before, day, day_first, after in _spoken.findall(text):
        found.add((MONTHS.index((before or after)[:3].lower()) + 1, int(day or day_first)))
    return found


def _other_date(claim: _Claim, value: object, values: list[str]) -> bool:
    """Whether the sentence names one day, and neither the call nor its result has it."""
    if not isinstance(value, str) or not _iso.fullmatch(value):
        return False
    told = _days(claim.sentence)
    return len(told) == 1 and not told & _days(claim.known) and not told & _days("\n".join(values))


def _other_amount(claim: _Claim, name: str, value: object, leaves: list[tuple[str, object]]) -> bool:
    """Whether the sentence names one amount of money, and the call had one other that is no part of a sum."""
    amounts = [one for _, one in leaves if isinstance(one, int | float)]
    told = [float((one or other).replace(",", "")) for one, other in _money.findall(claim.sentence)]
    if len(amounts) != 1 or len(told) != 1 or not isinstance(value, int | float) or not _money_name.search(name):
        return False
    known = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", claim.known)]
    return told[0] not in known and told[0] != float(value)


def _other_word(claim: _Claim, name: str, value: object) -> bool:
    """Whether the sentence says that the argument, by its name, was set to another word."""
    if not isinstance(value, str) or not _word.fullmatch(value):
        return False
    noun = re.escape(name.rpartition("_")[2])
    set_to = rf"\b{noun}\b(?: \S+){{0,5}}? (?:set|changed|updated|switched|moved|raised|lowered)(?: from \S+)? to [\"'*`]*([A-Za-z][\w-]*)"
    found = re.search(set_to, claim.sentence, re.IGNORECASE)
    word = found[1].lower() if found else ""
    return (
        bool(word)
        and word not in _NO_VALUE
        and word not in claim.known.lower()
        and value.lower() not in claim.sentence.lower()
    )
