"""A tool did not find an id that nobody had given: it stands in nothing that the agent had read.

Why it matters
    The agent made the id up instead of looking it up or asking for it. Where the tool does not refuse, the same habit
    changes somebody else's record.

What to do
    Give the agent a tool that finds the id, name that tool in the error, and tell it to ask where it has none.

Limits
    Only errors that say that something was not found or is not valid are looked at: elsewhere an id may be one that the
    agent was free to make. An id is letters and digits, or six digits and more; one whose digits were heard in
    another form is taken as given. Ids in the descriptions of tools are not read. Where neither a prompt nor a word of
    the user is recorded, nothing is said.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from blade.model.finding import Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.model.tools import is_deep
from blade.rules.declaration import rule
from blade.rules.error_words import error_words
from blade.rules.phrases import any_of

PHRASES = (
    r"\bnot (?:found|exist|valid|recogni[sz]ed)\b",
    r"n't exist\b",
    r"\bno such\b",
    r"\b(?:invalid|unknown|unrecogni[sz]ed|nonexistent|non-existent)\b",
    r"\bno (?:\w+ )?(?:\w+ )?(?:match|found|with|has the|exist|record|entry|result)",
    r"\b(?:could not|cannot|can't|unable to|failed to) (?:be )?(?:find|found|locate)",
    r"\b(?:does not|doesn't|did not) match any\b",
    r"\bnot (?:on file|in our|in the)\b",
    r"\b404\b",
)
"""Words in which a tool says that there is no such thing."""
HEAD = 300
"""Characters at the start of an error in which that is expected."""
LONG_NUMBER = 6
"""Digits of a number that is a name and no amount."""
LONGEST_ID = 64
TELLING_DIGITS = 4
"""Digits in a row that, once heard, make an id one that was only written in another form."""

_ID = re.compile(r"#?[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
_NO_ID = re.compile(
    r"""(?:19|20)\d\d(?:[-_]?(?:q[1-4]|h[12]|w\d\d|fy|\d{2,4}|\d\d[-_]\d\d(?:t[\d-]*z?)?))?  # years, quarters, dates
      | (?:q[1-4]|fy|h[12])[-_]?(?:19|20)?\d\d
      | (?:\d{1,2}[-_]?)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-_]?\d{1,2}(?:[-_]?\d{2,4})?
      | \d{1,2}[-_]\d{1,2}[-_]\d{2,4}
      | t?\d+(?:[a-z]{1,5})                                                    # an amount with its unit, an ordinal
      | [a-z]{1,6}\d                                                           # a variable, a version
      | (?:utf|sha|md|base|int|float|uint|iso|latin|python|http|h|mp|cp|ascii)[-_]?\d+(?:[-_]\d+)?
      | \+?\d{3}-\d{3,4}-\d{4}                                                 # a telephone number
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NO_NAME = re.compile(
    r"amount|price|cost|total|budget|limit|size|count|date|time|since|until|start|end|offset|seed|phone|zip|postal|year|"
    r"width|height|port|value|quer|text|message|content|body|command|code_?block|script|sql|path|file|url|email|expression|"
    r"pattern|regex|old_str|new_str|input|summary|title|description|note|reason|subject|keyword|password",
    re.IGNORECASE,
)
"""Names of arguments that hold what an agent may compose or reckon."""
_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
_NO_DIGITS = bytes(code for code in range(256) if not chr(code).isascii() or not chr(code).isdigit())
_SMALL = bytes(range(128)).lower() + bytes(range(128, 256))
_SPOKEN = (b"underscore", b"hyphen", b"dash")
_DIGIT = re.compile(r"\d")
_DIGITS = re.compile(rf"\d{{{TELLING_DIGITS},}}")


Denied = set[tuple[int | None, str | None]]
"""Calls whose results say that there is no such thing, by place and id."""

_denies = any_of(PHRASES)


@rule(
    "BEH008",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    phrases=PHRASES,
    within="errors",
    status="stable",
)
def invented_id(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    results = (step for step in steps if step.kind == "result")
    denied = {(s.answers, s.call_id) for s in results if error_words(s) and _denies.is_in(s.text[:HEAD])}
    judged: set[str] = set()
    for place in [place for place, step in enumerate(steps) if _is_denied(step, denied)] if denied else ():
        call = steps[place]
        ids = [one for one in dict.fromkeys(_ids(call)) if one not in judged]
        judged.update(ids)
        unheard = _unheard(ids, _heard(steps[:place], denied)) if ids else ids
        if not unheard:
            continue
        prompt = "\n".join(step.text for step in rollout.prompt)
        if not prompt and not any(step.party == "user" and step.text.strip() for step in steps[:place]):
            continue
        for one in _unheard(unheard, prompt):
            if one in (call.arguments or ""):
                yield Evidence(key=rollout.key, step=call.index, field="arguments", quote=one)


def _is_denied(step: Step, denied: Denied) -> bool:
    return step.kind == "call" and ((step.index, step.call_id) in denied or (step.index, None) in denied)


def _heard(before: tuple[Step, ...], denied: Denied) -> str:
    """What others said before a call, and arguments that a tool took."""
    words = [step.text for step in before if step.party != "agent"]
    words += [step.arguments or "" for step in before if step.kind == "call" and not _is_denied(step, denied)]
    return "\n".join(words)


def _unheard(ids: list[str], heard: str) -> list[str]:
    """The ids that were not heard in any form; most are found as they stand, which is quick."""
    odd = [one for one in ids if one not in heard and not any(digits in heard for digits in _DIGITS.findall(one))]
    digits = _digits(heard) if odd else b""
    if not any(_digits(one) in digits for one in odd):
        return odd
    flat = _flat(heard)
    return [one for one in odd if _flat(one) not in flat]


def _digits(text: str) -> bytes:
    """Digits alone: where those of an id do not follow each other, it was not heard in any form."""
    return text.encode("utf-8", "replace").translate(None, _NO_DIGITS)


def _flat(text: str) -> bytes:
    """Letters and digits alone: case, spaces and signs do not make another id, spoken or written."""
    small = text if text.isascii() else text.lower()
    flat = small.encode("utf-8", "replace").translate(_SMALL, _SIGNS)
    for word in _SPOKEN:
        flat = flat.replace(word, b"")
    return flat


def _ids(call: Step) -> Iterator[str]:
    text = call.arguments or ""
    if is_deep(text):
        return
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return
    if isinstance(value, dict):
        yield from _leaves("", value)


def _leaves(name: str, value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner, item in value.items():
            yield from _leaves(str(inner), item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(name, item)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        text = str(value)
        if len(text) <= LONGEST_ID and _looks_like_an_id(text) and not _is_composed(name):
            yield text


def _looks_like_an_id(text: str) -> bool:
    if text.isdecimal():
        return len(text) >= LONG_NUMBER and not _NO_ID.fullmatch(text)
    return _ID.fullmatch(text) is not None and len(_DIGIT.findall(text)) > 1 and not _NO_ID.fullmatch(text)


@lru_cache(maxsize=1024)
def _is_composed(name: str) -> bool:
    return _NO_NAME.search(name) is not None
