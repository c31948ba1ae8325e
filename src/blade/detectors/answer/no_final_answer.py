"""No answer could be extracted from what the agent said.

Why it matters
    The verifier had nothing to compare, so the rollout fails whatever stands in the text.

What to do
    Read the end of the message: where an answer stands there in another form, mend the extraction or show the form in
    the prompt; where there is none, look at what ended the rollout.

Limits
    Only rows that have a field for the extracted answer can show this. Conversations with a user are not looked at: they
    are judged by what was done. An agent that said nothing is the business of ANS002.
"""

from collections.abc import Iterator

from blade.core.finding import LONGEST_QUOTE, Cause, Evidence
from blade.core.rollout import Features, Rollout
from blade.detectors._engine import detector


def _spoke_alone(features: Features) -> bool:
    # What was due costs more to read than all rules together, and a conversation has no answer to extract.
    return features.agent_messages > 0 and features.user_messages == 0


@detector(
    "ANS005",
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
    if rollout.answer is None and not rollout.due.extracts:
        return
    quote = said[-1].text.strip()[-LONGEST_QUOTE:].strip()
    yield Evidence(key=rollout.key, step=said[-1].index, field="text", quote=quote)
