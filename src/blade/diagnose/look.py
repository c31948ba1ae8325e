"""What is looked at in each rollout during the one pass: the rules, the differences, and how far it came."""

from __future__ import annotations

from blade.core.finding import Looked
from blade.core.rollout import Rollout, Step
from blade.core.tools import changes_state
from blade.detectors import look as look_with_rules
from blade.diagnose.differences import differences


def look(rollout: Rollout) -> Looked:
    """Hits of the rules, differences from what was due, and the stages that a rollout reached; picklable."""
    seen = look_with_rules(rollout)
    attempted, feedback = stages(rollout)
    return Looked(
        hits=seen.hits,
        cannot_look=seen.cannot_look,
        differs=differences(rollout),
        attempted=attempted,
        feedback=feedback,
    )


def stages(rollout: Rollout) -> tuple[bool | None, bool | None]:
    """Whether the core action was attempted (a change, a patch or an answer), and whether a result came after it.

    None where it cannot be told: without a step; for feedback, where the core action was an answer and nothing changed.
    """
    features = rollout.features
    if features is None or not features.steps:
        return None, None
    answered = features.agent_messages > 0 or (features.calls > 0 and bool(rollout.answer))
    core = _first_change(rollout.steps or ()) if features.calls else None
    if core is None:
        return answered, None
    return True, any(step.kind == "result" and step.index > core for step in rollout.steps or ())


def _first_change(steps: tuple[Step, ...]) -> int | None:
    calls = (step for step in steps if step.kind == "call" and step.party == "agent")
    return next((step.index for step in calls if changes_state(step.tool or "")), None)
