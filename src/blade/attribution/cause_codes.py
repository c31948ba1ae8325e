"""Which cause a failure mode stands for, and back: the one table of the reference's codes.

A mode names its cause in its own file. The agent's result modes name none: what the other rollouts of the task show
decides between unreliable and knowledge.
"""

from __future__ import annotations

from blade.model.attribution import Responsible
from blade.model.finding import Cause

GENERIC: dict[Cause, str] = {
    Cause.INFRA: "run-error",
    Cause.TASK: "test-cannot-pass",
    Cause.DATA: "task-data-defect",
    Cause.BEHAVIOR: "handed-back",
    Cause.UNRELIABLE: "wrong-answer",
    Cause.KNOWLEDGE: "wrong-answer",
}
"""The generic mode of each cause, for a person who names only the cause."""
PARTIES: dict[Cause, Responsible] = {
    Cause.INFRA: "harness",
    Cause.TASK: "task",
    Cause.DATA: "task",
    Cause.BEHAVIOR: "agent",
    Cause.UNRELIABLE: "agent",
    Cause.KNOWLEDGE: "agent",
}
"""Who has to act, where only the cause is known."""
CAUSES: dict[str, Cause] = {
    "agent": Cause.BEHAVIOR,
    "limit": Cause.BEHAVIOR,
    "user_simulator": Cause.TASK,
    "tool": Cause.TASK,
    "verifier": Cause.TASK,
    "task": Cause.TASK,
    "harness": Cause.INFRA,
    "environment": Cause.INFRA,
}
"""The cause of a mode that readers define, of which only the party is known; unknown has none."""
GROUP_OF_CAUSE: dict[Cause, str] = {
    Cause.INFRA: "machinery",
    Cause.TASK: "benchmark",
    Cause.DATA: "benchmark",
    Cause.BEHAVIOR: "agent",
    Cause.UNRELIABLE: "agent",
    Cause.KNOWLEDGE: "agent",
}
"""How the groups of the modes begin that speak for a cause: a verdict on a task leaves such modes as they are."""
