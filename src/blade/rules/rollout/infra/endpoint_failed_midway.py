"""The model's endpoint failed after the agent had begun: overloaded, filtered, out of context, or a request refused.

Why it matters
    The agent was cut off by something other than its own decision, and what it had done so far was judged.

What to do
    Run these rollouts again; where they come back, look at the length of the trajectory, the filter of the provider and
    the form of the requests that the harness sends.

Limits
    Told from the error that the harness recorded, from the reason for which it stopped, or from a last message that is
    the text of such an error. An error of a judge's endpoint that is worded in the same way is counted, unless its words
    name the judge, or the agent was asked once and had answered. A context that is full may be the agent's own doing.
"""

import re
from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Features, Rollout, Step
from blade.rules.declaration import rule
from blade.rules.phrases import any_of

PHRASES = (
    r"overloaded",
    r"context[ _-]?(?:length|size|window)",
    r"\b(?:prompt|input|request|messages?)[ _](?:is |are )?(?:too[ _](?:long|large)|exceeds?)",
    r"exceed\w* (?:\w+ )?(?:limit|context|maximum)",
    r"content[ _-]?(?:filter|management|policy|moderation)",
    r"\b\w{0,24}(?:api|server|provider|llm|model|engine|service|request|permission|authentication|connection|inference)\w{0,16}[ _]?(?:error|exception)\b",
    r"\b(?:internal[ _]server|service[ _]unavailable|bad[ _]request|permission[ _]denied)\b",
    r"\b(?:litellm|openai|anthropic|vertexai|bedrock|azure|cohere|mistral|google)[\w.]*(?:error|exception)",
    r"\b(?:error code|status code|http)\W{1,4}(?:4\d\d|5\d\d)\b",
    r"^\W*5(?:0[0-4]|2\d) ",
    r"^\W{0,3}(?:50[0-4]|52\d|408|429)\W{0,3}$",
    r"\bupstream connect error\b",
    r"\b(?:PERMISSION_DENIED|RECITATION|PROHIBITED_CONTENT|INVALID_ARGUMENT|FAILED_PRECONDITION|UNAVAILABLE|DEADLINE_EXCEEDED)\b",
    r"\bmodel[ _](?:is )?(?:not[ _]available|not[ _]found|unavailable|overloaded)\b",
)
"""What errors of an endpoint hold, whoever writes them."""
STOPS = (
    "failed",
    "content_filter",
    "content-filter",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "model_error",
)
LONGEST = 600
"""Characters of a message that is an error and nothing else."""

_fails = any_of(PHRASES)
_not_the_models = re.compile(r"judge|verif|grader|grading|scor(?:er|ing)|assert|\btests?\b|tool_error", re.IGNORECASE)
_is_an_error = re.compile(
    r"\W*(?:[\w.]*(?:error|exception)\b\W|(?:api|provider|llm|server|http|request)\s+(?:error|failed)|error\s+code|\{\W*(?:type\W+)?error\b|5\d\d\s)",
    re.IGNORECASE,
)


def _stopped(features: Features) -> bool:
    return features.stop is not None and features.stop.lower() in STOPS


@rule(
    "INF007",
    scope="rollout",
    suggests=Cause.INFRA,
    kind="direct",
    reads=("steps", "error|steps", "stop|steps"),
    when=_stopped,
    phrases=PHRASES,
    within="closing",
    status="stable",
)
def endpoint_failed_midway(rollout: Rollout) -> Iterator[Evidence]:
    acts = [
        step for step in rollout.steps or () if step.party == "agent" and (step.text.strip() or step.kind == "call")
    ]
    if not acts:
        return
    if rollout.stop is not None and rollout.stop.lower() in STOPS:
        yield Evidence(key=rollout.key, step=None, field="stop", quote=rollout.stop)
    error = rollout.error or ""
    if (found := _fails.search(error)) and not _not_the_models.search(error) and not rollout.answered_at_once:
        begin = max(0, found.end() - LONGEST_QUOTE)
        yield Evidence(key=rollout.key, step=None, field="error", quote=error[begin : begin + LONGEST_QUOTE].strip())
    if len(acts) > 1 and _is_cut_off(acts[-1]):
        yield Evidence(key=rollout.key, step=acts[-1].index, field="text", quote=acts[-1].text.strip()[:LONGEST_QUOTE])


def _is_cut_off(last: Step) -> bool:
    """Whether the last message is an error of the endpoint, which the harness put into the agent's mouth."""
    if last.kind != "message" or len(last.text) > LONGEST:
        return False
    return _is_an_error.match(last.text) is not None and _fails.search(last.text) is not None
