"""The conversation grew longer than the context of the model.

Evidence
    A status, an error or a stop word names the context as full.
Contradicted by
    A run whose passes have the same status.
False alarms
    A prompt that is longer than the context from the start: then nothing ran.
Example
    `"stop": "context_length_exceeded"` after 80 steps.
"""

from __future__ import annotations

from blade.model.attribution import Confidence, Stage
from blade.model.finding import Cause, Differs
from blade.model.pattern import pattern_of
from blade.modes.declaration import mode
from blade.modes.evidence import Candidate, RolloutEvidence

_FULL = pattern_of(
    r"(?i)context.{0,3}(?:length|window|overflow|limit|size)|maximum context|prompt.{0,4}(?:is )?too.{0,1}long|input.{0,4}too.{0,1}long|context.{0,3}full|\bctx\b"
)


@mode(
    "context-overflow",
    group="limit",
    order=315,
    party="limit",
    stage=Stage.AGENT_ACTED,
    cause=Cause.BEHAVIOR,
    row="Context was full",
    title="The context of the model fills up",
    action="Decide: shorten tool outputs, summarize earlier steps, or use a model with a longer context.",
    owner="harness",
)
def context_overflow(evidence: RolloutEvidence) -> Candidate | None:
    words = (evidence.error_class or "", evidence.stop or "")
    stated = evidence.sign("agent:context-full")
    if stated is not None and not evidence.passes_with(stated):
        told = "the last message reports that the context of the model is full"
        return Candidate(confidence=Confidence.LIKELY, signs=(stated,), contrast=told)
    sign = next((one for one in evidence.of("status", "agent:cut-by-tokens") if _FULL.search(one.subject)), None)
    cut = next((one for one in evidence.all_of(Differs.CUT) if _FULL.search(one.detail)), None)
    named = not evidence.judged and any(map(_FULL.search, words))
    if (sign is None or evidence.is_usual_status(sign)) and cut is None and not named:
        return None
    told = "the context of the model is recorded as full"
    return Candidate(
        confidence=Confidence.LIKELY,
        signs=(sign,) if sign is not None else (),
        differences=(cut,) if cut is not None else (),
        contrast=told,
    )
