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
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.model.tools import changes_state, is_deep
from blade.rules.declaration import rule
from blade.rules.phrases import any_of
from blade.rules.rollout.behavior.claimed_without_action import PHRASES, claims

CLOSING = 2
"""Messages at the end that close a rollout; the very last is often a farewell."""
SHORTEST_ID = 5
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_set_to = any_of(
    (r"\b(?:set|changed|updated|switched|moved|raised|lowered)(?: from \S+)? to [\"'*`]*([A-Za-z][\w-]*)",),
    re.IGNORECASE,
)
_TOKEN = r"#?[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?"
_token = re.compile(_TOKEN)
_month = "|".join(f"{name}[a-z]*" for name in MONTHS)
_iso = any_of((r"\b(\d{4})-(\d\d)-(\d\d)\b",), re.IGNORECASE)
_spoken = any_of(
    (rf"\b(?:({_month})\.? (\d{{1,2}})(?:st|nd|rd|th)?|(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_month}))\b",),
    re.IGNORECASE,
)
_money = re.compile(r"[$\u20ac\u00a3] ?(\d[\d,]*(?:\.\d+)?)|\b(\d[\d,]*(?:\.\d+)?) (?:dollars|euros|USD|EUR)\b")
_money_name = re.compile(r"amount|price|total|refund|payment|cost|fee|sum", re.IGNORECASE)
_kind = re.compile(
    rf"(?P<word>[A-Za-z][a-z_]{{2,19}})|(?P<day>\d{{4}}-\d\d-\d\d)"
    rf"|(?P<id>(?=.{{{SHORTEST_ID}}})(?=\D*\d)(?=[^A-Za-z]*[A-Za-z]){_TOKEN})"
)
_NO_VALUE = frozenset("the your a an be our match reflect this that you it its their my use include".split())  # noqa: SIM905
_SHAPES = re.sub(rb"[A-Za-z]", b"A", re.sub(rb"\d", b"9", bytes(range(256))))
"""Every letter as one and the same, and every digit."""
_NUMBER_OR_TEXT = (str, int, float)


Day = tuple[int, int]
"""Month and day."""
Differences = str | float | Day
Leaf = tuple[str, str | float]
"""A value of a call that holds no others, behind its name."""


class _Value(NamedTuple):
    """A value of a call that a sentence can contradict."""

    kind: str
    """A word, a day, an id, or an amount of money that is the only number of the call, so that it is no part of a sum."""
    name: str
    text: str
    """As the call writes it."""


class _Call(NamedTuple):
    """What a call states."""

    leaves: list[Leaf]
    values: list[_Value]
    """What a sentence can contradict."""
    kinds: set[str]


class _Claim(NamedTuple):
    """A sentence that claims something done, and what it states of the kinds that the call has."""

    text: str
    set_to: re.Match[str] | None
    """Where it says to which word something was set."""
    ids: list[tuple[bytes, str]]
    """What may be ids in small letters, behind their forms."""
    days: set[Day]
    amounts: list[float]


@rule(
    "BEH010",
    scope="rollout",
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
    call = _read(last.arguments or "")
    said = [step for step in steps if step.index > last.index and step.party == "agent" and step.kind == "message"]
    for step in said[-CLOSING:]:
        for sentence in claims(step.text) if _may_contradict(step.text, call) else ():
            claim = _claim(sentence, call.kinds)
            found = _contradiction(claim, call, made)
            if found is not None:
                quote = sentence[:LONGEST_QUOTE].strip()
                yield Evidence(key=rollout.key, step=step.index, field="text", quote=quote)
                yield Evidence(key=rollout.key, step=last.index, field="arguments", quote=found)
                return


def _carried_out(steps: tuple[Step, ...]) -> list[tuple[Step, Step]]:
    """The calls that change something and whose result is no error, each with its result."""
    calls = {
        (step.index, step.call_id): step for step in steps if step.kind == "call" and changes_state(step.tool or "")
    }
    if not calls:
        return []
    results = (step for step in steps if step.kind == "result" and not step.failed and step.answers is not None)
    return [(calls[key], step) for step in results if (key := (step.answers or 0, step.call_id)) in calls]


def _read(arguments: str) -> _Call:
    leaves = list(_leaves([("", _decoded(arguments))]))
    values = [value for value in _values(leaves) if value.text in arguments]
    return _Call(leaves, values, {value.kind for value in values})


def _decoded(arguments: str) -> object:
    if is_deep(arguments):
        return None
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _leaves(holder: Iterable[tuple[str, object]]) -> Iterator[Leaf]:
    for name, value in holder:
        if isinstance(value, dict):
            yield from _leaves(value.items())
        elif isinstance(value, list):
            yield from _leaves([(name, item) for item in value])
        elif isinstance(value, _NUMBER_OR_TEXT) and value is not True and value is not False:
            yield name, value


def _values(leaves: list[Leaf]) -> Iterator[_Value]:
    alone = sum(not isinstance(value, str) for _, value in leaves) == 1
    for name, value in leaves:
        text = str(value)
        found = _kind.fullmatch(text)
        if found:
            yield _Value(found.lastgroup or "", name, text)
        if alone and not isinstance(value, str) and _money_name.search(name):
            yield _Value("amount", name, text)


def _shape(text: str) -> bytes:
    """A text letter by letter; what is not ASCII is a sign as any other."""
    return text.encode("ascii", "replace").translate(_SHAPES)


def _may_contradict(text: str, call: _Call) -> bool:
    """Whether a message holds anything that one of its sentences could state in place of a value of the call."""
    return (
        ("id" in call.kinds and _has_other_id(text, call))
        # A sentence begins between the two words of "Mar. 4": there they are no day.
        or ("day" in call.kinds and not _days(text.replace(". ", ".\n")) <= _plain_days(call))
        or ("word" in call.kinds and any(map(_word, _set_to.finditer(text))))
        or ("amount" in call.kinds and _money.search(text) is not None)
    )


def _has_other_id(text: str, call: _Call) -> bool:
    """Whether a message holds, whole or within a word, the form of an id of the call with other letters."""
    ids = {_bare(value.text) for value in call.values if value.kind == "id"}
    shaped = _shape(text)
    for shape in set(map(_shape, ids)):
        place = shaped.find(shape)
        while place >= 0:
            if text[place : place + len(shape)].lower() not in ids:
                return True
            place = shaped.find(shape, place + 1)
    return False


def _claim(sentence: str, kinds: set[str]) -> _Claim:
    return _Claim(
        text=sentence,
        set_to=_set_to.search(sentence) if "word" in kinds else None,
        ids=_ids(sentence) if "id" in kinds else [],
        days=_days(sentence) if "day" in kinds else set(),
        amounts=_amounts(sentence) if "amount" in kinds else [],
    )


def _contradiction(claim: _Claim, call: _Call, made: list[tuple[Step, Step]]) -> str | None:
    """The value of the call that a claim contradicts, as the call writes it; None where a change shows what it states."""
    for value in call.values:
        told = _told_instead(claim, value, call)
        if told is not None:
            known = "\n".join(f"{one.arguments}\n{result.text}" for one, result in made)
            return None if _is_shown(told, known) else value.text[:LONGEST_QUOTE]
    return None


def _told_instead(claim: _Claim, value: _Value, call: _Call) -> Differences | None:
    """What the claim states in place of a value."""
    if value.kind == "word":
        return _other_word(claim, value)
    if value.kind == "id":
        return _other_id(claim, value, call)
    return _other_day(claim, call) if value.kind == "day" else _other_amount(claim, value)


def _is_shown(told: Differences, known: str) -> bool:
    """Whether changes or their results hold what was stated: then it reports them."""
    if isinstance(told, float):
        return told in [float(number) for number in re.findall(r"\d+(?:\.\d+)?", known)]
    return told in _days(known) if isinstance(told, tuple) else told in known.lower()


def _word(set_to: re.Match[str]) -> str | None:
    """The word to which something is said to be set; None for one that is no value."""
    word = set_to[1].lower()
    return None if word in _NO_VALUE else word


def _other_word(claim: _Claim, value: _Value) -> str | None:
    """Another word to which the sentence says that the argument, by its name, was set."""
    word = _word(claim.set_to) if claim.set_to else None
    if claim.set_to is None or word is None or value.text.lower() in claim.text.lower():
        return None
    name = re.escape(value.name.rpartition("_")[2])
    return word if re.search(rf"\b{name}\b", claim.text[: claim.set_to.start()], re.IGNORECASE) else None


def _ids(text: str) -> list[tuple[bytes, str]]:
    """What may be ids in a text, in small letters and behind their forms."""
    tokens = [token for token in _token.findall(text) if len(token) >= SHORTEST_ID and not token.isalpha()]
    return [(_shape(bare), bare) for bare in map(_bare, dict.fromkeys(tokens))]


def _other_id(claim: _Claim, value: _Value, call: _Call) -> str | None:
    """The one id of the same form in the sentence, where it names none of the call's."""
    shape = _shape(_bare(value.text))
    mine = [one for other, one in claim.ids if other == shape]
    return mine[0] if len(mine) == 1 and mine[0] not in {_bare(str(leaf)) for _, leaf in call.leaves} else None


def _bare(text: str) -> str:
    """An id in small letters, without the sign of a number before it."""
    return text.lstrip("#").lower()


def _other_day(claim: _Claim, call: _Call) -> Day | None:
    """The one day that the sentence names, where the call has others only."""
    if len(claim.days) != 1:
        return None
    (day,) = claim.days
    return None if day in _days("\n".join(str(value) for _, value in call.leaves)) else day


def _plain_days(call: _Call) -> set[Day]:
    """The days that are values of their own."""
    return {(int(value.text[5:7]), int(value.text[8:])) for value in call.values if value.kind == "day"}


def _days(text: str) -> set[Day]:
    """Month and day of every date in a text."""
    found = {(int(one[2]), int(one[3])) for one in _iso.finditer(text)}
    for one in _spoken.finditer(text):
        before, day, day_first, after = one.groups()
        found.add((MONTHS.index((before or after)[:3].casefold()) + 1, int(day or day_first)))
    return found


def _amounts(text: str) -> list[float]:
    return [float((one or other).replace(",", "")) for one, other in _money.findall(text)]


def _other_amount(claim: _Claim, value: _Value) -> float | None:
    """The one amount of money that the sentence names, where the call had one other."""
    return claim.amounts[0] if len(claim.amounts) == 1 and claim.amounts[0] != float(value.text) else None
