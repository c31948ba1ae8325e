"""Findings of a package's own labels: what the team says is wrong, and what it would do about it."""

from __future__ import annotations

from blade.attribution.groups import Group
from blade.custom_rules import Fix, Taught
from blade.evidence.context import Context, Draft, Said
from blade.evidence.refs import marked, none
from blade.model.diagnosis import Lookout
from blade.model.finding import Evidence

MOST_PLACES = 2


def by_label(label: Taught, seen: Lookout, context: Context) -> tuple[Group, Draft]:
    """The failures in which a label holds; `label` has a fix, and `seen` says how it goes with failing."""
    fix = label.fix or Fix(kind="prompt", action=label.message)
    rollouts = context.numbered
    hit = rollouts.marked(rollouts.fired[label.name])
    failing, passing = marked(rollouts, hit & rollouts.failed), marked(rollouts, hit & rollouts.passed)
    group = Group(
        family="label",
        name=label.name,
        detail="",
        failing=failing,
        passing=passing,
        alone=failing if label.direct else none(rollouts),
    )
    return group, Draft(
        title=label.message.rstrip("."),
        what=f"{failing.in_words} that fail, and {len(passing)} that pass{'' if len(passing) != 1 else 'es'}, "
        f"carry the package's label `{label.name}`.",
        fix=fix.action,
        brief=fix.action,
        kind=fix.kind,
        where=tuple(_shown(one) for one in seen.evidence[:MOST_PLACES]),
        grade=seen.grade,
    )


def _shown(one: Evidence) -> Said:
    where = f"{one.key}:{one.step}" if one.step is not None else f"{one.key}, {one.field}"
    return f'{where}: "{one.quote}".', (one,)
