"""No answer could be extracted from what the agent said.

Why it matters
    The verifier had nothing to compare, so the rollout fails whatever stands in the text.

What to do
    Read the end of the message: where an answer stands there in another form, mend the extraction or show the form in
    the prompt; where there is none, look at what ended the rollout.

Limits
    Only rows that have a field for the extracted answer can show this. Conversations with a user are not looked at: they
    are judged by what was done. An agent that said nothing is the business of ANS002, and a verifier that raised before it
    came to the answer that of TSK013.
"""

import re
from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Features, Rollout
from blade.rules.declaration import rule

_error = re.compile(r"error|exception|traceback|crash", re.IGNORECASE)
_raised = re.compile(
    r"Traceback|\b\w*(?:Error|Exception|Timeout)\b|panic|\braised\b|unreachable|timed out|connection|\bHTTP\b|\b5\d\d\b"
)
_of_the_answer = re.compile(r"\b(?:extract\w*|pars(?:e|ing)|answers?|boxed|regex|format)\b(?!\.\w)", re.IGNORECASE)


def _verifier_failed(rollout: Rollout) -> bool:
    """Whether the verifier says that it raised or could not be reached, and not over the answer."""
    told = (said.text for said in rollout.due.said if _error.search(said.field))
    return any(_raised.search(text) and not _of_the_answer.search(text) for text in told)


def _spoke_alone(features: Features) -> bool:
    """Whether the agent spoke, no answer is recorded, and it was no conversation: that has no answer to extract."""
    return features.agent_messages > 0 and features.user_messages == 0 and not features.answered


@rule(
    "ANS005",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="direct",
    reads=("steps", "answer|steps"),
    when=_spoke_alone,
    status="stable",
)
def no_final_answer(rollout: Rollout) -> Iterator[Evidence]:
    if rollout.answer is not None and rollout.answer.strip():
        return
    steps = rollout.steps or ()
    said = [step for step in steps if step.party == "agent" and step.kind in ("message", "refusal")]
    if not said or not said[-1].text.strip() or any(step.party == "user" for step in steps):
        return
    if (rollout.answer is None and not rollout.due.extracts) or _verifier_failed(rollout):
        return
    quote = said[-1].text.strip()[-LONGEST_QUOTE:].strip()
    yield Evidence(key=rollout.key, step=said[-1].index, field="text", quote=quote)
