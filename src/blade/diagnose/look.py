"""What is looked at in each rollout during the one pass: the rules, the differences, and how far it came."""

from __future__ import annotations

import msgspec

from blade.core.finding import Looked
from blade.core.rollout import Rollout, Step
from blade.core.tools import changes_state
from blade.detectors import look as look_with_rules
from blade.diagnose.differences import differences, final_text


def look(rollout: Rollout, raw: bytes) -> Looked:
    """Hits of the rules, differences from what was due, and the stages that a rollout reached; picklable."""
    seen = look_with_rules(rollout, raw)
    attempted, feedback = stages(rollout)
    return msgspec.structs.replace(seen, differs=differences(rollout), attempted=attempted, feedback=feedback)


def stages(rollout: Rollout) -> tuple[bool | None, bool | None]:
    """Whether the core action was attempted (a change, a patch or an answer), and whether a result came after it.

    None where the artifact cannot show it: without a step, or for feedback where the agent called nothing.
    """
    steps = rollout.steps
    if not steps:
        return None, None
    core = _first_change(steps)
    if core is not None:
        return True, any(step.kind == "result" and step.index > core for step in steps)
    answered = bool(rollout.answer) or bool(final_text(steps).strip())
    called = any(step.kind == "call" for step in steps)
    return answered, False if called else None


def _first_change(steps: tuple[Step, ...]) -> int | None:
    calls = (step for step in steps if step.kind == "call" and step.party == "agent")
    return next((step.index for step in calls if changes_state(step.tool or "")), None)
