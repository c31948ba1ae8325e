"""The agent ends by saying that something was done, and no call that changes anything was carried out.

Why it matters
    The user is told of a change that was not made. Such rollouts read like successes, so nobody looks at them.

What to do
    Have the agent name the call that made the change, and check claims against calls before the rollout ends.

Limits
    Whether a tool changes something is told from its name: one that is named like a look-up and changes something is
    taken for a look-up. A claim is known by the verbs of changes; where the user has just said yes to a question and no
    call follows, by any verb. One in another language is missed, and so is one in a rollout without any call, where
    nothing tells that there were tools. A passive claim may report what others did.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.model.tools import changes_state
from blade.rules.closing import may_admit, says_done
from blade.rules.declaration import rule
from blade.rules.error_words import error_words
from blade.rules.phrases import PhraseSet, any_of

_DONE = (
    r"(?:cancell?ed|updated|booked|rebooked|changed|modified|refunded|exchanged|processed|created|deleted|removed|"
    r"added|sent|scheduled|rescheduled|upgraded|downgraded|issued|placed|submitted|initiated|closed|renamed|moved|"
    r"applied|activated|deactivated|enabled|disabled|assigned|posted|saved|filed|registered|reserved|paid|"
    r"replaced|reset|restored|merged|published|archived|notified|enrolled|approved|rejected|set up|completed|switched)"
)
_NOUN = (
    r"(?:cancell?ation|refund|booking|transfer|update|exchange|return|payment|reservation|change|order|upgrade|request)"
)
_ADVERB = r"(?: now| just| also| already| successfully| gone ahead and| all| both| went ahead and)"
PHRASES = (
    rf"\b(?:ve|have|has|been|successfully|now|just|also|already|all|both|ahead and|is|are|was|were|I|we) {_DONE}\b",
    rf"\b{_NOUN}(?: is| was| has been)? (?:complete|completed|successful)\b",
    r"\btransferred \W?\d",
)
"""What every claim holds; told apart from other talk by `OWN` and `PASSIVE`."""
OWN = (
    rf"\b(?:I|we)(?:.ve| have){_ADVERB}{{0,2}} {_DONE}\b(?! (?:an? |the )?transfer\b)",
    rf"\b(?:I|we)(?:.ve| have){_ADVERB}{{0,2}} transferred \W?\d",
    rf"\b(?:I|we){_ADVERB}{{0,2}} {_DONE} (?:your|the|it|this|that|both|all|you|them)\b",
    rf"\bsuccessfully {_DONE} (?:your|the)\b",
)
"""Claims in which the agent names itself."""
PASSIVE = (
    rf"\b(?:has|have|was|were)(?: now| just| all| both)?(?: been)?(?: now)? successfully {_DONE}\b",
    rf"\b(?:has|have)(?: now| just| both| all)? been {_DONE}\b(?! by\b)",
    rf"\b(?:your|the) (?:\w+ ){{1,3}}(?:is|are) now {_DONE}\b(?! by\b)",
    rf"\b{_NOUN}(?: is| was| has been)? (?:complete|completed|successful)\b",
)
"""Claims that do not: they may report what a tool has shown, so its results must not hold the word."""

STATE = (rf"\b(?:is|are)(?: all| both)? {_DONE}\b(?! by\b)",)
"""How things stand: a claim only behind a change that was made."""

_own = any_of(OWN)
_passive = any_of(PASSIVE)
_state = any_of(STATE)
_last_word = re.compile(r"\w+$")
NO_CLAIM = (
    r"\b(?:if|once|when|after|until|unless|before|whether|not|never|no|none|nothing|cannot|would|should|could|might|may)\b",
    r"\b(?:already|any|which|that|by the airline|please|will)\b",
    "n['\u2019]t\\b",
)
"""Words before a claim in its sentence that make it a condition, a denial or a report."""
_no_claim = re.compile("|".join(NO_CLAIM), re.IGNORECASE)
_may_be_no_claim = any_of(NO_CLAIM, re.IGNORECASE)
_ENDS = ".!?:;\n"
"""Signs behind which a sentence begins."""
_blanks = re.compile(r"\s*")
_sentence_end = re.compile(r"[.!?;](?=\s|$)|\n")


_within_talk = re.compile(r"(?<=[.!])\s")
SHORT_REPLY = 80
"""Characters of a reply that is a yes and nothing more."""
_asks_leave = re.compile(
    r"\b(?:shall|should|may|can) (?:I|we)\b|\b(?:do|would|are) you\b|\bis (?:that|this|it|everything)\b|\b(?:confirm|correct|right|okay|proceed|go ahead)\b",
    re.IGNORECASE,
)
_asks_to_know = re.compile(
    r"\b(?:what|which|when|where|who|how|why|have|know|give|provide|tell|share|else|other|more|help|assist)\b",
    re.IGNORECASE,
)
_holds_back = re.compile(r"\b(?:no|not|never|later|wait|but|unless|if|instead|sorry)\b|n['\u2019]t\b|\?", re.IGNORECASE)


@rule(
    "BEH009",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.calls > 0 and f.user_messages > 0,
    phrases=PHRASES,
    within="closing",
    status="stable",
)
def claimed_without_action(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    if _may_have_changed(steps):
        return
    last = _last_call(steps)
    if last is None:
        return
    for place, step in enumerate(steps[last + 1 :], last + 1):
        if step.party == "agent" and step.kind == "message":
            quote = _claim(step.text, steps) or _done_upon_a_yes(steps[:place], step.text)
            if quote:
                yield Evidence(key=rollout.key, step=step.index, field="text", quote=quote)


def _done_upon_a_yes(before: tuple[Step, ...], text: str) -> str | None:
    """The sentence that reports something done, where the user has just said yes to a question for leave."""
    talk = list(islice((step for step in reversed(before) if step.kind in ("message", "call")), 2))
    if [(step.party, step.kind) for step in talk] != [("user", "message"), ("agent", "message")]:
        return None
    reply, question = talk[0].text, talk[1].text
    if len(reply) > SHORT_REPLY or "?" not in question or _holds_back.search(reply):
        return None
    asked = _within_talk.split(question)[-1]
    leave = "?" in asked and _asks_leave.search(asked) and not _asks_to_know.search(asked)
    if not leave or may_admit(text):
        return None
    return next((sentence[-LONGEST_QUOTE:] for sentence in says_done(text)), None)


def claims(text: str) -> Iterator[str]:
    """The sentences of a message that claim something done, whole."""
    for begin, found, _ in _claimed(text, (_own, _passive, _state)):
        end = _sentence_end.search(text, found.end())
        yield text[begin : end.start() if end else len(text)]


def _claim(text: str, steps: Sequence[Step]) -> str | None:
    """The first claim in a message, from the beginning of its sentence; a passive one only of what no result shows."""
    for begin, found, form in _claimed(text, (_own, _passive)):
        if form is _own or not _is_shown(_stem(found[0]), steps):
            return text[max(begin, found.end() - LONGEST_QUOTE) : found.end()]
    return None


def _is_shown(word: str, steps: Sequence[Step]) -> bool:
    return any(word in step.text.lower() for step in steps if step.kind == "result")


def _claimed(text: str, forms: Sequence[PhraseSet]) -> Iterator[tuple[int, re.Match[str], PhraseSet]]:
    """Where the sentence of each claim begins, the claim and its form; conditions, denials and reports are left out."""
    claimed = [(one, form) for form in forms for one in form.finditer(text)]
    for found, form in sorted(claimed, key=lambda one: one[0].start()):
        begin = _sentence_begin(text, found.start())
        near = max(begin, found.end() - LONGEST_QUOTE)
        if not _may_be_no_claim.is_in(text[near : found.end()]) or not _no_claim.search(text, near, found.end()):
            yield begin, found, form


def _sentence_begin(text: str, place: int) -> int:
    """Where the sentence begins that a place of a text belongs to."""
    last = max(text.rfind(sign, 0, place) for sign in _ENDS)
    blanks = _blanks.match(text, last + 1, place) if last >= 0 else None
    return blanks.end() if blanks else 0


def _stem(claim: str) -> str:
    """The last word of a claim without its ending: `cancelled` is shown by `canceled` and by `cancel_date` as well."""
    word = _last_word.search(claim.lower())
    return word[0].removesuffix("ed").rstrip("l") if word else claim


def _last_call(steps: tuple[Step, ...]) -> int | None:
    return next((place for place in reversed(range(len(steps))) if steps[place].kind == "call"), None)


def _may_have_changed(steps: tuple[Step, ...]) -> bool:
    """Whether a call that changes something was carried out, or was left without a result that says otherwise."""
    for step in reversed(steps):
        if step.kind == "result" and changes_state(step.tool or "") and not _is_error(step):
            return True
    failed = {(step.answers, step.call_id) for step in steps if step.kind == "result" and _is_error(step)}
    return any(
        step.kind == "call"
        and changes_state(step.tool or "")
        and not failed & {(step.index, step.call_id), (step.index, None)}
        for step in steps
    )


def _is_error(step: Step) -> bool:
    return step.failed or bool(error_words(step))
