"""Findings: what to act on, in four parts, each with places and quotes; ranked by what mending it would give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from msgspec.structs import replace

from blade.attribution.groups import Group, groups
from blade.custom_rules import CustomLabel
from blade.evidence.context import Context, FindingDraft
from blade.evidence.refs import MOST_REFS, none
from blade.findings.custom_labels import by_label
from blade.findings.examples import examples
from blade.findings.families import DRAFTS
from blade.findings.giving_up import by_giving_up
from blade.findings.guesses import by_guess
from blade.findings.others import by_user, unexplained
from blade.findings.shut_out import by_shut_out
from blade.findings.unexplained_habit import by_habit
from blade.model.diagnosis import Doubt, Finding, RuleStatistics
from blade.stats.headroom import headroom
from blade.stats.rollout_index import Ref, RolloutIndex

MOST = 8
OVERLAP = 0.5
"""A finding most of whose failures another one already names is left out."""
ELSEWHERE = ("answer:none", "answer:equal", "answer:other form", "answer:not extracted")
"""Groups that are a mode or a doubt about the verifier, and no finding of their own."""


def findings(
    context: Context, custom: Sequence[tuple[CustomLabel, RuleStatistics]] = (), doubts: Sequence[Doubt] = ()
) -> list[tuple[Finding, Group]]:
    """The findings of a run with their rollouts, best to mend first; they say different things.

    What `doubts` put down to the benchmark beyond question is not put down to the agent as well.
    """
    rollouts = context.rollouts
    agents = map(_without_withheld(context), groups(context.partition, rollouts))
    shut_out, habit = by_shut_out(context), by_habit(context)
    kept_out = shut_out[0].alone if shut_out is not None else none(rollouts)
    mine = [group for group in map(_without([*_unsound(doubts), *kept_out], rollouts), agents) if group.failing]
    drafted = [(group, DRAFTS[group.family](group, context)) for group in mine]
    told = rollouts.marked(kept_out.rows, habit[0].failing.rows if habit is not None else kept_out.rows)
    habits = (
        *(by_user(context), by_guess(context, doubts, mine), by_giving_up(context, mine), shut_out, habit),
        unexplained(context, told),
    )
    drafted += [one for one in habits if one is not None]
    drafted += [by_label(label, seen, context) for label, seen in custom if label.fix is not None and seen.fired_failed]
    ranked = sorted(
        ((_finding(group, draft, context), group) for group, draft in drafted), key=lambda one: _rank(one[0])
    )
    chosen: list[tuple[Finding, Group]] = []
    named = rollouts.marked()
    for one, group in ranked:
        hit = rollouts.those(group.failing.rows)
        says_more = group.family == "label" or int((~named[hit]).sum()) > OVERLAP * len(group.failing)
        if one.id not in ELSEWHERE and says_more and len(chosen) < MOST:
            chosen.append((one, group))
            named[hit] = True
    return chosen


def _unsound(doubts: Sequence[Doubt]) -> list[Ref]:
    return [place for doubt in doubts if doubt.strong and not doubt.preview for place in doubt.places]


def _without(places: Sequence[Ref], rollouts: RolloutIndex) -> Callable[[Group], Group]:
    if not places:
        return lambda group: group
    named = rollouts.marked(rollouts.at(places))
    return lambda group: replace(group, failing=group.failing.less(named), alone=group.alone.less(named))


def _without_withheld(context: Context) -> Callable[[Group], Group]:
    """What the simulated user kept back is not the agent's to do: such rollouts are not counted as left out."""
    less = _without([(one.walk.rollout.key.task_id, one.walk.repeat) for one in context.withheld], context.rollouts)
    return lambda group: less(group) if group.family == "left-out" else group


def _rank(finding: Finding) -> tuple[bool, float, float, int, str]:
    """What can be mended before what is described, and then by what it would give."""
    room = finding.headroom
    low = room.interval.low if room.interval is not None else -inf
    return not finding.fix, -room.only_defect, -low, -finding.rollouts, finding.id


def _finding(group: Group, draft: FindingDraft, context: Context) -> Finding:
    where = draft.where or examples(group, context)
    rollouts = context.rollouts
    hit, only = rollouts.those(group.failing.rows, group.passing.rows), rollouts.those(group.alone.rows)
    return Finding(
        id=group.id,
        title=draft.title,
        what=draft.what,
        against=where[0][0] if where else "",
        where=tuple(text for text, _ in where[1:]),
        fix=draft.fix,
        brief=draft.brief,
        kind=draft.kind,
        support=draft.support,
        rollouts=len(group.failing),
        tasks=len(group.tasks),
        task_ids=group.tasks,
        locations=group.failing.named(MOST_REFS),
        evidence=tuple(one for _, found in where for one in found),
        headroom=headroom(rollouts, hit, only, estimable=draft.estimable),
    )
