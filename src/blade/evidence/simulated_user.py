"""The simulated user: what its script gives it, what it said of that, what it kept back, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from blade.evidence import quotes
from blade.evidence.actions import parsed
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.provenance import leaves, source
from blade.model.finding import Evidence
from blade.model.pattern import pattern_of
from blade.model.rollout import Step

MOST_FACTS = 40
SHORTEST = 4
LONG_NUMBER = 5

_TOKEN = pattern_of(r"[\w.+@#-]+")
_NOT_FACTS = pattern_of(r"^\d+(?:st|nd|rd|th|am|pm|k|x|kg|lb|min|hr|days?|hours?)$", re.IGNORECASE)


@lru_cache(maxsize=4096)
def facts(script: str | None) -> tuple[str, ...]:
    """Ids, addresses and long numbers of a script, in order: what an agent cannot know unless it is told."""
    # Most are words, which are no facts.
    tokens = [token.strip("-_.+") for token in _TOKEN.findall(script or "") if not token.isalpha()]
    return tuple(dict.fromkeys(token for token in tokens if _is_fact(token)))[:MOST_FACTS]


def _is_fact(token: str) -> bool:
    """An e-mail address, a word that holds digits, or a number of five digits or more."""
    if len(token) < SHORTEST or token.isalpha() or _NOT_FACTS.match(token) is not None:
        return False
    if "@" in token:
        return "." in token.partition("@")[2]
    digits = sum(letter.isdigit() for letter in token)
    return digits > 0 and (any(letter.isalpha() for letter in token) or (token.isdecimal() and digits >= LONG_NUMBER))


def told(steps: Sequence[Step], wanted: Sequence[str], before: int | None = None) -> tuple[str, ...]:
    """Those facts that the user said, before a step where one is given."""
    said = " ".join(
        step.text.lower() for step in steps if step.party == "user" and (before is None or step.index < before)
    )
    return tuple(fact for fact in wanted if fact.lower().lstrip("#") in said)


PHONE_NUMBER = 8


def asks_for(walk: AlignedTrajectory, argument: str) -> bool:
    """Whether the agent names the argument in anything it says: `user_id` as "user ID"."""
    phrase = _phrase(argument)
    said = (f" {_spaced(step.text)} " for step in walk.steps if step.party == "agent" and step.kind == "message")
    return bool(phrase) and any(f" {phrase} " in text for text in said)


NOT_GIVING = ("don't have", "do not have", "not have", "don't remember", "not sure", "unable to", "can't find")


def put_off(walk: AlignedTrajectory, argument: str = "") -> Step | None:
    """What the user said instead: the message that puts the agent off, one that names the argument before others."""
    heard = [step for step in walk.steps if step.party == "user" and step.text.strip()]
    off = [step for step in heard if any(words in step.text.lower() for words in NOT_GIVING)]
    naming = [step for step in off if _phrase(argument) and _phrase(argument) in _spaced(step.text)]
    return next(iter([*naming, *off, *heard]), None)


def _phrase(argument: str) -> str:
    return _spaced(argument).strip()


def _spaced(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", text.lower())


class Withheld(Struct, frozen=True, kw_only=True):
    """A fact that a rollout needed, was not given, and never used."""

    walk: AlignedTrajectory
    fact: str
    argument: str
    reply: Evidence | None
    """What the user said instead."""
    plain: bool
    """Whether that names what was asked for."""


def withheld(walks: Sequence[AlignedTrajectory]) -> list[Withheld]:
    """Of the failing rollouts of one task: those whose user never gave a fact that the task's calls use."""
    found: list[Withheld] = []
    if not any(facts(walk.due.script) for walk in walks):
        return found
    used = _used(walks)
    for walk in walks:
        script = facts(walk.due.script)
        heard = told(walk.steps, script)
        for fact in script:
            if walk.passed or fact in heard or _has_it(walk, fact):
                continue
            argument = next((name for name in _arguments(fact, used, walk, heard) if asks_for(walk, name)), None)
            if argument is not None:
                found.append(_withheld(walk, fact, argument))
                break
    return found


def _arguments(fact: str, used: Mapping[str, str], walk: AlignedTrajectory, heard: Sequence[str]) -> tuple[str, ...]:
    """Names under which an agent may ask for a fact: the argument that takes it, or what it is by its form.

    Who the user is, is asked for by address or number; where it tells none of them and nothing is done, it keeps it back.
    """
    if fact.lower() in used:
        return (used[fact.lower()],)
    names = _names(fact)
    stuck = not walk.changes and not any(_names(other) for other in heard)
    return names if stuck else ()


def _names(fact: str) -> tuple[str, ...]:
    if "@" in fact:
        return ("email", "e_mail")
    return ("phone", "phone_number", "telephone") if fact.lstrip("+").isdecimal() and len(fact) >= PHONE_NUMBER else ()


def _withheld(walk: AlignedTrajectory, fact: str, argument: str) -> Withheld:
    reply = put_off(walk, argument)
    phrase = argument.replace("_", " ").lower()
    words = quotes.of_text(walk.rollout, reply, (phrase, "have", "remember", "not")) if reply else None
    plain = words is not None and phrase in words.quote.lower()
    return Withheld(walk=walk, fact=fact, argument=argument, reply=words, plain=plain)


def _used(walks: Sequence[AlignedTrajectory]) -> dict[str, str]:
    """Values that the calls of a task use, made or due, with the name of the argument that takes them."""
    arguments = [parsed(call.arguments) for walk in walks for call in walk.calls]
    arguments += [call.arguments for call in walks[0].due.calls or ()]
    return {
        str(value).lower(): name
        for one in arguments
        for outer, item in one.items()
        for name, value in leaves(outer, item)
    }


def _has_it(walk: AlignedTrajectory, fact: str) -> bool:
    """Whether the agent had the fact all the same: it used it, or a result held it."""
    used = any(fact.lower() in (call.arguments or "").lower() for call in walk.calls)
    return used or source(walk.rollout, fact) is not None


_GO_AHEAD = pattern_of(
    r"\b(?:yes|i confirm|go ahead|please proceed|proceed with|sounds good|that's correct)\b", re.IGNORECASE
)
_ASKS = pattern_of(
    r"""\b(?:confirm|shall\ i|should\ i|may\ i|do\ you\ want\ me\ to|would\ you\ like\ (?:me\ to|to\ (?:proceed|go|continue))|proceed\?
    |go\ ahead\?|is\ (?:that|this)\ (?:ok|okay|correct|right|fine))""",
    re.IGNORECASE | re.VERBOSE,
)
"""How an agent asks for a go-ahead."""
_QUESTION = pattern_of(r"[^.!?\n]*\?|[^.!?\n]*\bplease confirm\b[^.!?\n]*", re.IGNORECASE)
_HOLDS_BACK = pattern_of(
    r"\b(?:no|not|never|later|think|leave|wait|instead|another|other|but|unless|if|what|which|why|how|transfer|sorry)\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
"""Words in a reply that make it anything but a plain yes."""
SHORT_REPLY = 160
_HANDED_OVER = pattern_of(
    r"\btransfer (?:me|to)\b|human agent|speak (?:to|with) (?:a|an) (?:human|person)", re.IGNORECASE
)
_WITHDRAWS = pattern_of(
    r"""\b(?:hold\ off|never\ ?mind|i'll\ wait|leave\ (?:it|that|this|the\ \w+|everything)\b[^.!?]{0,30}\b(?:for\ now|as\ is)
    |keep\ [^.!?]{0,50}\bas\ (?:is|it\ is)|let's\ skip|skip\ the|no\ longer\ (?:want|need)|don't\ (?:want|need)\ [^.!?]{0,40}
    \b(?:anymore|after\ all))\b""",
    re.IGNORECASE | re.VERBOSE,
)


ENDS = pattern_of(r"#{2,}\s?[A-Z][A-Z_-]{2,}\s?#{2,}|<(?:stop|end|exit|done|quit)>|\[(?:STOP|END|EXIT|DONE|QUIT)\]")
"""Tokens with which simulated users end a talk."""


def says_it_ends(walk: AlignedTrajectory) -> bool:
    """Whether the user's last words hold a token that ends the talk."""
    last = _last(walk)
    return last is not None and ENDS.search(last.text) is not None


def hung_up(walk: AlignedTrajectory) -> Evidence | None:
    """The user's last words, where they give the go-ahead and the agent has no turn left to act on it."""
    last = _last(walk)
    if last is None or not _agrees(walk, last) or _HANDED_OVER.search(last.text):
        return None
    if any(step.party == "agent" and step.index > last.index for step in walk.steps):
        return None
    return quotes.of_text(walk.rollout, last, ("go ahead", "proceed", "confirm", "yes"))


def _agrees(walk: AlignedTrajectory, reply: Step) -> bool:
    """Whether the user says yes: in the usual words, or by a short reply without a but to a question for a go-ahead."""
    if _GO_AHEAD.search(reply.text):
        return True
    if len(reply.text) > SHORT_REPLY or _HOLDS_BACK.search(reply.text):
        return False
    said = [
        step for step in walk.steps if step.party == "agent" and step.kind == "message" and step.index < reply.index
    ]
    return bool(said) and any(_ASKS.search(question) for question in _QUESTION.findall(said[-1].text))


def withdrew(walk: AlignedTrajectory) -> Evidence | None:
    """The user's words, where it takes back something that it had asked for."""
    heard = (step for step in walk.steps if step.party == "user")
    step = next((one for one in heard if _WITHDRAWS.search(one.text)), None)
    match = _WITHDRAWS.search(step.text) if step is not None else None
    return quotes.holding(walk.rollout, step, match[0]) if step is not None and match is not None else None


def _last(walk: AlignedTrajectory) -> Step | None:
    return next((step for step in reversed(walk.steps) if step.party == "user" and step.text.strip()), None)
