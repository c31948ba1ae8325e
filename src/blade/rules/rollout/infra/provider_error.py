"""The harness recorded an error, and the agent produced nothing.

Why it matters
    The rollout says nothing about the model: it was never asked, or its reply never arrived.

What to do
    Run these rollouts again; where they come back, look at the endpoint and at the limits of the harness.

Limits
    A request that the provider refuses because the prompt is too long or is filtered looks the same. An error after
    the agent's first words is not counted here.
"""

from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout
from blade.rules.declaration import rule


@rule(
    "INF001",
    scope="rollout",
    suggests=Cause.INFRA,
    kind="direct",
    reads=("error|steps|answer",),
    when=lambda f: f.agent_messages == 0 and f.calls == 0,
    status="stable",
)
def provider_error(rollout: Rollout) -> Iterator[Evidence]:
    said = any(step.party == "agent" and (step.text.strip() or step.kind == "call") for step in rollout.steps or ())
    error = (rollout.error or "").strip()
    if error and not said and not rollout.answer:
        yield Evidence(key=rollout.key, step=None, field="error", quote=error[:LONGEST_QUOTE])
