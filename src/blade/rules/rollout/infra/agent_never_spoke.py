"""The trajectory holds no word and no call of the agent.

Why it matters
    There is nothing to judge. The agent was never asked, its replies were lost, or each of them was empty.

What to do
    Look at the log of the harness and at the raw replies of the model, and run these rollouts again.

Limits
    The quote is the last that somebody else said, because silence holds no words; where nobody said anything the rule is
    quiet. A harness that leaves the agent's turns out of what it records looks the same.
"""

from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout
from blade.rules.declaration import rule


@rule(
    "INF006",
    scope="rollout",
    suggests=Cause.INFRA,
    kind="direct",
    reads=("steps", "answer|steps"),
    when=lambda f: f.agent_messages == 0 and f.calls == 0,
    status="stable",
)
def agent_never_spoke(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    if rollout.answer or any(step.party == "agent" and (step.text.strip() or step.kind == "call") for step in steps):
        return
    heard = [step for step in steps if step.text.strip()]
    if heard:
        quote = heard[-1].text.strip()[-LONGEST_QUOTE:].strip()
        yield Evidence(key=rollout.key, step=heard[-1].index, field="text", quote=quote)
