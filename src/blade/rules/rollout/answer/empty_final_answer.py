"""The agent ended without an answer: its last message is empty, or it only thought.

Why it matters
    There is nothing to judge, so the rollout fails whatever the agent knew.

What to do
    Look at the raw reply of the model: a chat template that drops the text, a parser that takes the answer for
    reasoning and a token limit spent on thoughts are the usual reasons.

Limits
    The quote is what stands last before the silence, because an empty message holds no words; where nothing at all
    was written, the rule is quiet. An agent that ends with a call is not counted, since many harnesses end that way, nor
    is one whose answer the harness took from elsewhere, such as a patch.
"""

from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.rules.declaration import rule


@rule(
    "ANS002",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="direct",
    reads=("steps", "answer|steps"),
    when=lambda f: f.empty_final,
    status="stable",
)
def empty_final_answer(rollout: Rollout) -> Iterator[Evidence]:
    if rollout.answer:
        return
    steps = rollout.steps or ()
    acts = [step for step in steps if step.party == "agent" and step.kind != "reasoning"]
    if acts and (acts[-1].kind != "message" or acts[-1].text.strip()):
        return
    thoughts = [step for step in steps if step.party == "agent"]
    if not thoughts:
        return
    before = [step for step in steps if step.index <= thoughts[-1].index and _words(step)[1]]
    if before:
        field, words = _words(before[-1])
        yield Evidence(key=rollout.key, step=before[-1].index, field=field, quote=words[-LONGEST_QUOTE:])


def _words(step: Step) -> tuple[str, str]:
    """The field of a step that holds something to read, and what it holds."""
    if step.text.strip():
        return "text", step.text.strip()
    return ("arguments", step.arguments) if step.arguments else ("tool", step.tool or "")
