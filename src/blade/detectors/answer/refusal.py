"""The agent declined the task.

Why it matters
    A refused task fails whatever the agent could have done, and a share of refusals is often an artifact of the
    prompt or of a safety filter.

What to do
    Read a few: where the task is harmless, change the prompt or the filter; where refusing is right, check that the
    verifier rewards it.

Limits
    Refusing may be what the task wants, as when a policy forbids what a user asks for. A refusal in other words than
    the usual ones, or in another language, is missed.
"""

from collections.abc import Iterator

from blade.core.finding import Cause, Evidence
from blade.core.rollout import Rollout
from blade.detectors._engine import detector
from blade.detectors._phrases import any_of

PHRASES = (
    r"\bI (?:can ?not|can.t|won.t|will not)(?: and will not)? (?:help|assist|comply|fulfill?|provide|answer|engage)\b",
    r"\bI(?:.m| am) (?:unable|not able) to (?:help|assist|comply|fulfill?|provide|answer|engage)\b",
    r"\bI must (?:decline|refuse)\b",
)
OPENING = 300
"""Characters of the last message in which a refusal is taken for one; further down it is about details."""

_declines = any_of(PHRASES)


@detector(
    "ANS003",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.refusals > 0,
    phrases=PHRASES,
)
def refusal(rollout: Rollout) -> Iterator[Evidence]:
    said = [
        s for s in rollout.steps or () if s.party == "agent" and s.kind in ("message", "refusal") and s.text.strip()
    ]
    for step in said:
        if step.kind == "refusal":
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=step.text.strip()[:OPENING])
    if said and said[-1].kind == "message":
        found = _declines.search(said[-1].text[:OPENING])
        if found:
            yield Evidence(key=rollout.key, step=said[-1].index, field="text", quote=found[0])
