"""The agent ends by saying that something was done, and no call that changes anything was carried out.

Why it matters
    The user is told of a change that was not made. Such rollouts read like successes, so nobody looks at them.

What to do
    Have the agent name the call that made the change, and check claims against calls before the rollout ends.

Limits
    Whether a tool changes something is told from its name: one that is named like a look-up and changes something is
    taken for a look-up. A claim in other words or in another language is missed, and so is one in a rollout without any
    call, where nothing tells that there were tools. A passive claim may report what others did.
"""

import re
from collections.abc import Iterator

from blade.core.finding import LONGEST_QUOTE, Cause, Evidence
from blade.core.rollout import Rollout, Step
from blade.core.tools import changes_state
from blade.detectors._engine import detector
from blade.detectors._phrases import any_of

_DONE = (
    r"(?:cancell?ed|updated|booked|rebooked|changed|modified|refunded|exchanged|processed|created|deleted|removed|"
    r"added|sent|scheduled|rescheduled|upgraded|downgraded|issued|placed)"
)
PHRASES = (rf"(?:ve|been|successfully|now|just|also|already) {_DONE}\b",)
"""What every claim holds; told apart from other talk by `CLAIMS`."""
CLAIMS = (
    rf"\bI(?:.ve| have)(?: now| just| also| already| successfully){{0,2}} {_DONE}\b",
    rf"\bI(?: just| also| successfully) {_DONE}\b",
    rf"\b(?:has|have|was|were)(?: now| just| all| both)?(?: been)?(?: now)? successfully {_DONE}\b",
    rf"\b(?:has|have)(?: now| just| both| all)? been {_DONE}\b",
    rf"\bsuccessfully {_DONE} (?:your|the)\b",
)

_claims = any_of(CLAIMS)
_no_claim = re.compile(
    r"\b(?:if|once|when|after|until|unless|before|whether|not|never|no|none|nothing|cannot|would|should|could|might|may|already|any|"
    r"which|that|by the airline|please|will)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
"""Words before a claim in its sentence that make it a condition, a denial or a report."""
_sentence = re.compile(r"[.!?:;\n]\s*")


@detector("BEH009", suggests=Cause.BEHAVIOR, kind="associated", reads=("steps",), phrases=PHRASES)
def claimed_without_action(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    if _may_have_changed(steps):
        return
    last = _last_call(steps)
    if last is None:
        return
    for step in steps[last + 1 :]:
        if step.party == "agent" and step.kind == "message":
            for found in _claims.finditer(step.text):
                begin = max((end.end() for end in _sentence.finditer(step.text, 0, found.start())), default=0)
                begin = max(begin, found.end() - LONGEST_QUOTE)
                if not _no_claim.search(step.text, begin, found.end()):
                    quote = step.text[begin : found.end()]
                    yield Evidence(key=rollout.key, step=step.index, field="text", quote=quote)
                    break


def _last_call(steps: tuple[Step, ...]) -> int | None:
    return next((place for place in reversed(range(len(steps))) if steps[place].kind == "call"), None)


def _may_have_changed(steps: tuple[Step, ...]) -> bool:
    """Whether a call that changes something was carried out, or was left without a result that says otherwise."""
    for step in reversed(steps):
        if step.kind == "result" and not step.failed and changes_state(step.tool or ""):
            return True
    failed = {(step.answers, step.call_id) for step in steps if step.kind == "result" and step.failed}
    return any(
        step.kind == "call"
        and changes_state(step.tool or "")
        and not failed & {(step.index, step.call_id), (step.index, None)}
        for step in steps
    )
