"""The simulated user against its script: `user:withheld`, `user:left-early`, `user:off-script`; and `key:foreign`.

`key:foreign` (subject "given|in the key"): the user gives an identity where key and script have another; then nothing else is
said of that user, who never had the script. `user:off-script`: an id that the user gives and that neither its script nor
anybody before it names. Of failed rollouts: `user:withheld`, a fact that the agent asks for, the script holds and the agent
never gets; `user:left-early`, the user agrees to something and ends the talk with it, or ends it before the agent's second
turn, while something due is undone; `user:withdrew`, the user takes back a request, while something due is undone. A transfer that the user only accepts is no early end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.differences import limits_of
from blade.evidence.identities import form_of, is_named, other_identity
from blade.evidence.presence import may_hold
from blade.evidence.provenance import is_name
from blade.evidence.quotes import telling_sentence
from blade.evidence.simulated_user import ENDS, facts, hung_up, withdrew, withheld
from blade.model.finding import Sign
from blade.model.pattern import pattern_of
from blade.model.rollout import Rollout, Step

LONGEST = 200
"""Characters of a quote; the sign's own limit."""
LONGEST_SUBJECT = 120
LONGEST_SIDE = 58
"""Characters of each of two identities: both and the bar between them keep within a subject."""
SHORTEST_ID = 6
"""Shorter words of capitals and digits are flights, sizes and models."""
_HANDS_OVER = pattern_of(r"transfer|escalat|hand_?o(?:ff|ver)", re.IGNORECASE)
_TO_A_PERSON = pattern_of(r"human|agent|operator|person|staff|supervisor|representative|support", re.IGNORECASE)
_ASKS_WHO = pattern_of(
    r"\b(?:user|customer|account|member|profile|login)[ -]?(?:id|name|number|identification)\b|\be-?mail\b|\busername\b",
    re.IGNORECASE,
)
"""How an agent asks who the user is."""
_may_ask_who = may_hold("user|customer|account|member|profile|login|mail")
_ACCEPTS_TRANSFER = pattern_of(r"\btransfer|\bhuman\b|representative|supervisor", re.IGNORECASE)
_may_accept_transfer = may_hold(_ACCEPTS_TRANSFER.pattern)
_ORDERS = pattern_of(r"\b(?:go ahead|proceed|i confirm)\b", re.IGNORECASE)
_CLAUSE = pattern_of(r"[^.,;!?]+")


@lru_cache(maxsize=1024)
def is_transfer(tool: str) -> bool:
    """Whether a tool hands the user over to a person."""
    return _HANDS_OVER.search(tool) is not None and _TO_A_PERSON.search(tool) is not None


def asks_for_transfer(steps: Sequence[Step], before: int) -> bool:
    """Whether it was the user who first spoke of being handed over, before a step."""
    said = (step for step in steps if step.kind == "message" and step.index < before)
    return next((step.party == "user" for step in said if _speaks_of_transfer(step.text)), False)


def _speaks_of_transfer(text: str) -> bool:
    return _may_accept_transfer(text) and _ACCEPTS_TRANSFER.search(text) is not None


def user_signs(rollout: Rollout, *, failed: bool, undone: bool) -> Iterator[Sign]:
    """What the simulated user did; `undone` says whether something due was not done."""
    other = other_identity(rollout)
    if other is not None:
        subject = f"{other.given[:LONGEST_SIDE]}|{other.wanted[:LONGEST_SIDE]}"
        quote, field = (other.given[:LONGEST], "text") if other.step is not None else ("", "")
        yield Sign(kind="key:foreign", subject=subject, quote=quote, field=field, step=other.step)
        return
    if not rollout.due.script:
        return
    walk = AlignedTrajectory(rollout=rollout)
    if failed:
        yield from _withheld(walk)
    if failed and undone and not limits_of(rollout, rollout.due):
        yield from _left_early(walk)
    if failed and undone and (back := withdrew(walk)) is not None:
        yield _said("user:withdrew", "", back.step, back.quote)
    yield from _made_up(walk)


def _withheld(walk: AlignedTrajectory) -> Iterator[Sign]:
    """A value of the calls, or who the user is."""
    for one in withheld([walk]):
        subject = f"{one.argument}: {one.fact}"[:LONGEST_SUBJECT]
        yield _said(
            "user:withheld", subject, one.reply.step if one.reply else None, one.reply.quote if one.reply else ""
        )
        return
    who = {fact.lower(): fact for fact in facts(walk.due.script) if form_of(fact)}
    asked = (
        next((step for step in walk.steps if _is_said(step, "agent") and _asks_who(step.text)), None) if who else None
    )
    if asked is None or is_named(walk.steps, who) or is_named(walk.rollout.prompt, who):
        return
    reply = next((step for step in walk.steps if step.index > asked.index and _is_said(step, "user")), None)
    if reply is not None and not any(map(form_of, facts(reply.text))):
        quote = telling_sentence(reply.text, ("have", "remember", "id"))
        yield _said("user:withheld", next(iter(who.values()))[:LONGEST_SUBJECT], reply.index, quote)


def _asks_who(text: str) -> bool:
    return _may_ask_who(text) and _ASKS_WHO.search(text) is not None


def _reply_to(walk: AlignedTrajectory, subject: str, phrase: str) -> Sign:
    """What the user said when it was first asked for something."""
    asked = next((step for step in walk.steps if _is_said(step, "agent") and phrase.lower() in step.text.lower()), None)
    after = -1 if asked is None else asked.index
    reply = next((step for step in walk.steps if step.index > after and _is_said(step, "user")), None)
    quote = telling_sentence(reply.text, (phrase, "have", "remember", "not")) if reply is not None else ""
    return _said("user:withheld", subject[:LONGEST_SUBJECT], reply.index if reply is not None else None, quote)


def _is_said(step: Step, party: str) -> bool:
    return step.party == party and step.kind == "message" and bool(step.text.strip())


def _said(kind: str, subject: str, step: int | None, quote: str) -> Sign:
    found = step is not None and bool(quote)
    return Sign(
        kind=kind,
        subject=subject,
        quote=quote[:LONGEST].strip() if found else "",
        field="text" if found else "",
        step=step,
    )


def _left_early(walk: AlignedTrajectory) -> Iterator[Sign]:
    """The user's last words, where they agree to something or come before the agent's second turn, and end the talk."""
    last = next((step for step in reversed(walk.steps) if _is_said(step, "user")), None)
    if last is None or any(step.index > last.index and step.party == "agent" for step in walk.steps):
        return
    if any(map(is_transfer, walk.tools)) or _only_a_transfer(last.text):
        return
    agreed, token = hung_up(walk), ENDS.search(last.text)
    turns = [step for step in walk.steps if _is_said(step, "agent")]
    asked = len(turns) < 2 and not walk.calls and any("?" in step.text for step in turns)  # a refusal asks for nothing
    if agreed is None and not (asked and token is not None):
        return
    quote = last.text.strip()[-LONGEST:] if token is not None or agreed is None else agreed.quote
    yield _said("user:left-early", token[0][:LONGEST_SUBJECT] if token else "", last.index, quote)


def _only_a_transfer(text: str) -> bool:
    """Whether the user accepts to be handed over, and tells the agent to do nothing else."""
    orders = (clause for clause in _CLAUSE.findall(text) if _ORDERS.search(clause))
    return _ACCEPTS_TRANSFER.search(text) is not None and all(_ACCEPTS_TRANSFER.search(one) for one in orders)


def _made_up(walk: AlignedTrajectory) -> Iterator[Sign]:
    script = (walk.due.script or "").lower()
    if not facts(walk.due.script):
        return
    for place, step in enumerate(walk.steps):
        for given in facts(step.text) if _is_said(step, "user") else ():
            if _is_id(given) and given.lower() not in script and not _was_said(walk, walk.steps[:place], given):
                yield _said("user:off-script", given[:LONGEST_SUBJECT], step.index, given)
                return


def _was_said(walk: AlignedTrajectory, before: Sequence[Step], given: str) -> bool:
    wanted = {given.lower(): given}
    return is_named(tuple(before), wanted) or is_named(walk.rollout.prompt, wanted)


def _is_id(token: str) -> bool:
    """An account, an address, or letters with digits that are long enough to be nothing else."""
    long = len(token) >= SHORTEST_ID and token.isupper() and any(map(str.isdigit, token))
    return bool(form_of(token)) or (long and is_name(token))
