"""What the simulated user did at the end of a talk: gave the go-ahead and hung up, or took its wish back."""

from __future__ import annotations

import re

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.model.finding import Evidence
from blade.model.pattern import pattern_of
from blade.model.rollout import Step

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
    said = [
        step for step in walk.steps if step.party == "agent" and step.kind == "message" and step.index < reply.index
    ]
    asked = bool(said) and any(_ASKS.search(question) for question in _QUESTION.findall(said[-1].text))
    return asked and len(reply.text) <= SHORT_REPLY and not _HOLDS_BACK.search(reply.text)


def withdrew(walk: AlignedTrajectory) -> Evidence | None:
    """The user's words, where it takes back something that it had asked for."""
    heard = (step for step in walk.steps if step.party == "user")
    step = next((one for one in heard if _WITHDRAWS.search(one.text)), None)
    match = _WITHDRAWS.search(step.text) if step is not None else None
    return quotes.holding(walk.rollout, step, match[0]) if step is not None and match is not None else None


def _last(walk: AlignedTrajectory) -> Step | None:
    return next((step for step in reversed(walk.steps) if step.party == "user" and step.text.strip()), None)
