"""A tool or the model's endpoint answered that there were too many requests.

Why it matters
    What the agent could do depended on the load of the machinery, so the rollout is not comparable to others.

What to do
    Lower the concurrency of the run or raise the quota, and run the affected rollouts again.

Limits
    An agent that waits and calls again may lose nothing, so the symptom alone does not explain a failure. Errors are
    told from their first words: a long result that speaks of rate limits further down is not counted, a short one that
    quotes somebody else's is.
"""

from collections.abc import Iterator

from blade.core.finding import Cause, Evidence
from blade.core.rollout import Rollout
from blade.detectors._engine import detector
from blade.detectors._phrases import any_of

PHRASES = (
    r"\btoo many requests\b",
    r"\brate[ _-]?limit(?:ed|s)?[ _-]?(?:error|exceeded|reached|hit)\b",
    r"\brate[ _-]limited\b",
    r"\bexceeded (?:your|the|my|our)? ?(?:\w+ )?rate[ _-]?limit",
    r"\b(?:http|status|code|error)\W{1,8}429\b",
)
HEAD = 300
"""Characters at the start of a result in which an error is expected."""

_limited = any_of(PHRASES)


@detector("INF002", suggests=Cause.INFRA, kind="associated", reads=("steps|error",), phrases=PHRASES)
def rate_limited(rollout: Rollout) -> Iterator[Evidence]:
    if rollout.error and (found := _limited.search(rollout.error)):
        yield Evidence(key=rollout.key, step=None, field="error", quote=found[0])
    for step in rollout.steps or ():
        if step.party == "tool" and (found := _limited.search(step.text[:HEAD])):
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=found[0])
