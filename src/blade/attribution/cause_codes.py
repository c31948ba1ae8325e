"""Which cause a failure mode stands for, and back: the one table of the reference's codes.

A mode names its cause in its own file. The agent's result modes name none: what the other rollouts of the task show
decides between unreliable and knowledge.
"""

from __future__ import annotations

from blade.model.finding import Cause

GENERIC: dict[Cause, str] = {
    Cause.INFRA: "run-error",
    Cause.TASK: "test-cannot-pass",
    Cause.DATA: "expected-answer-wrong",
    Cause.BEHAVIOR: "handed-back",
    Cause.UNRELIABLE: "wrong-answer",
    Cause.KNOWLEDGE: "wrong-answer",
}
"""The generic mode of each cause, for a person who names only the cause."""
PARTIES: dict[Cause, str] = {
    Cause.INFRA: "harness",
    Cause.TASK: "task",
    Cause.DATA: "task",
    Cause.BEHAVIOR: "agent",
    Cause.UNRELIABLE: "agent",
    Cause.KNOWLEDGE: "agent",
}
"""Who has to act, where only the cause is known."""
