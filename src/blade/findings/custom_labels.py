"""Findings of a package's own labels: what the team says is wrong, and what it would do about it."""

from __future__ import annotations

from blade.attribution.groups import FailureGroup
from blade.custom_rules import CustomLabel, Fix
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext, marked, none
from blade.model.diagnosis import RuleStatistics
from blade.model.finding import Evidence

MOST_REFS = 2


def by_label(label: CustomLabel, seen: RuleStatistics, context: RunContext) -> tuple[FailureGroup, FindingDraft]:
    """The failures in which a label holds; `label` has a fix, and `seen` says how it goes with failing."""
    fix = label.fix or Fix(kind="prompt", action=label.message)
    rollouts = context.rollouts
    hit = rollouts.marked(rollouts.fired[label.name])
    failing, passing = marked(rollouts, hit & rollouts.failed), marked(rollouts, hit & rollouts.passed)
    group = FailureGroup(
        family="label",
        name=label.name,
        detail="",
        failing=failing,
        passing=passing,
        alone=failing if label.direct else none(rollouts),
    )
    return group, FindingDraft(
        title=label.message.rstrip("."),
        what=f"{failing.in_words} that fail, and {len(passing)} that pass{'' if len(passing) != 1 else 'es'}, "
        f"carry the package's label `{label.name}`.",
        fix=fix.action,
        brief=fix.action,
        kind=fix.kind,
        where=tuple(_shown(one) for one in seen.evidence[:MOST_REFS]),
        support=seen.support,
    )


def _shown(one: Evidence) -> QuotedSentence:
    where = f"{one.key}:{one.step}" if one.step is not None else f"{one.key}, {one.field}"
    return f'{where}: "{one.quote}".', (one,)
