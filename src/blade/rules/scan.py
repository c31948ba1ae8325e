"""What is looked at in each rollout during the one pass: the rules, the differences, and how far it came."""

from __future__ import annotations

from collections.abc import Sequence

from blade.evidence.differences import differences
from blade.model.finding import Detection
from blade.model.rollout import Rollout, Step
from blade.model.tools import changes_state
from blade.rules.engine import detect_all


def detect(rollouts: Sequence[Rollout]) -> list[Detection]:
    """Hits of the rules, differences from what was due, and the stages that each rollout reached; picklable."""
    seen = detect_all(rollouts)
    differs = list(map(differences, rollouts))
    reached = map(stages, rollouts)
    return [
        Detection(hits=one.hits, cannot_check=one.cannot_check, differs=other, attempted=attempted, feedback=feedback)
        for one, other, (attempted, feedback) in zip(seen, differs, reached, strict=True)
    ]


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
