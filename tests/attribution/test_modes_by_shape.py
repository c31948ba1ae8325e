"""A mode that is not asked again about a shape of evidence does not apply to it: what applies is the same as when all are asked."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from blade.attribution.attribute import ModesByShape
from blade.model.finding import Difference, Differs, Sign
from blade.modes.catalog import all_modes
from blade.modes.evidence import RolloutEvidence, TaskFacts

KINDS = (
    "status",
    "log:collection-error",
    "frame:test",
    "grader:own-error",
    "log:not-finished",
    "log:usage-error",
    "log:test-failed",
    "missing:named-in-prompt",
    "missing:not-in-prompt",
    "ends:question",
    "ends:refusal",
    "agent:no-output",
    "agent:no-start",
    "action:wrong-argument",
    "answer:sign",
)
signs = st.lists(
    st.builds(Sign, kind=st.sampled_from(KINDS), subject=st.sampled_from(("", "NameError", "a.py"))), max_size=3
)
differs = st.lists(
    st.builds(Difference, kind=st.sampled_from(list(Differs)), name=st.sampled_from(("", "time", "answer", "none"))),
    max_size=3,
)
evidences = st.builds(
    RolloutEvidence,
    outcome=st.sampled_from(("failed", "errored", "unscored")),
    error_class=st.sampled_from((None, "VerifierTimeoutError")),
    answer=st.sampled_from((None, "4")),
    calls=st.sampled_from((None, 0, 3)),
    checks_met=st.sampled_from((None, 0, 1)),
    checks_asked=st.sampled_from((None, 2)),
    signs=signs.map(tuple),
    differs=differs.map(tuple),
    task=st.builds(TaskFacts, passes=st.sampled_from((0, 1))),
)


@given(st.lists(evidences, min_size=2, max_size=12))
@settings(max_examples=60, deadline=None)
def test_what_applies_does_not_depend_on_what_was_asked_before(rollouts: list[RolloutEvidence]) -> None:
    modes = ModesByShape()
    for one in [*rollouts, *rollouts]:
        every = [(mode.code, found) for mode in all_modes() if (found := mode.applies(one)) is not None]
        assert [(mode.code, found) for mode, found in modes.applying(one)] == every
