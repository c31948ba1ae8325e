"""The failure modes of the catalog as the truth knows them: the group and the party of each. Kept apart from the rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

Group = Literal["agent", "benchmark", "machinery", "limit", "unknown"]
UNATTRIBUTED = "unattributed"

_BY_PARTY: Mapping[tuple[Group, str], tuple[str, ...]] = {
    ("machinery", "harness"): ("missing-row", "agent-not-installed", "agent-crashed", "no-agent-output", "run-error"),
    ("machinery", "environment"): ("environment-failed", "provider-failed", "service-unavailable"),
    ("machinery", "verifier"): ("grader-did-not-run", "grader-crashed", "grader-hung", "no-verdict"),
    ("benchmark", "verifier"): (
        "test-cannot-pass",
        "prompt-test-mismatch",
        "correct-but-rejected",
        "inconsistent-verdict",
    ),
    ("benchmark", "task"): ("hidden-requirement", "expected-answer-wrong", "task-data-defect"),
    ("benchmark", "tool"): ("tool-defect",),
    ("benchmark", "user_simulator"): ("user-withheld", "user-left-early", "user-off-script"),
    ("limit", "limit"): ("time-limit", "step-limit", "token-limit", "context-overflow"),
    ("agent", "agent"): (
        *("no-action", "handed-back", "refused", "stand-in", "malformed-call", "loop", "output-missing"),
        *("service-not-up", "wrong-format", "several-answers", "answered-unanswerable", "action-missing"),
        *("partial-actions", "action-extra", "wrong-object", "wrong-order", "statement-missing", "patch-empty"),
        *("patch-not-applied", "wrong-argument", "wrong-answer", "one-check-failed", "some-checks-failed"),
        *("all-checks-failed", "regression"),
    ),
    ("unknown", "unknown"): (UNATTRIBUTED,),
}
GROUP: Mapping[str, Group] = {mode: group for (group, _), modes in _BY_PARTY.items() for mode in modes}
PARTY: Mapping[str, str] = {mode: party for (_, party), modes in _BY_PARTY.items() for mode in modes}
"""The party that the truth names for a mode unless a mechanism names another."""
PARTY_GROUP: Mapping[str, Group] = {
    "agent": "agent",
    "limit": "limit",
    "task": "benchmark",
    "tool": "benchmark",
    "user_simulator": "benchmark",
    "harness": "machinery",
    "environment": "machinery",
    "verifier": "benchmark",
}
"""For a mode that the catalog does not have, as a reader may define one."""

_SAME_PARTIES = (
    ("harness", "environment"),
    ("verifier", "task"),
)
"""Parties between which the rows of a mode seldom decide: either is right."""


def group_of(mode: str, party: str) -> Group:
    """The group of a mode, by the party that is named where the catalog does not have it."""
    return GROUP.get(mode, PARTY_GROUP.get(party, "unknown"))


def is_machinery(mode: str) -> bool:
    """Whether a rollout of this mode was not validly graded."""
    return GROUP.get(mode) == "machinery"


def same_party(one: str, other: str) -> bool:
    """Whether two parties are one, or so close that the rows seldom decide."""
    return one == other or any({one, other} <= set(pair) for pair in _SAME_PARTIES)


def unknown_modes(modes: Iterable[str]) -> list[str]:
    """Those of some modes that the catalog does not have."""
    return sorted({mode for mode in modes if mode not in GROUP})
