"""Findings: what to act on, in four parts, each with places and quotes; ranked by what mending it would give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from msgspec.structs import replace

from blade.core.diagnosis import Doubt, Finding, Lookout
from blade.diagnose.context import Context, Draft
from blade.diagnose.drafts import DRAFTS
from blade.diagnose.drafts.giving_up import by_giving_up
from blade.diagnose.drafts.guesses import by_guess
from blade.diagnose.drafts.habit import by_habit
from blade.diagnose.drafts.others import by_user, unexplained
from blade.diagnose.drafts.shut_out import by_shut_out
from blade.diagnose.drafts.taught import by_label
from blade.diagnose.examples import examples
from blade.diagnose.groups import Group, Place, groups
from blade.metrics.headroom import headroom
from blade.teach import Taught

MOST = 8
MOST_PLACES = 200
"""Places kept of one finding; the count is of all."""
OVERLAP = 0.5
"""A finding most of whose failures another one already names is left out."""
ELSEWHERE = ("answer:none", "answer:equal", "answer:other form", "answer:not extracted")
"""Groups that are a mode or a doubt about the verifier, and no finding of their own."""


def findings(
    context: Context, taught: Sequence[tuple[Taught, Lookout]] = (), doubts: Sequence[Doubt] = ()
) -> list[tuple[Finding, Group]]:
    """The findings of a run with their rollouts, best to mend first; they say different things.

    What `doubts` put down to the benchmark beyond question is not put down to the agent as well.
    """
    agents = map(_without_withheld(context), groups(context.partition))
    shut_out = by_shut_out(context)
    kept_out = set(shut_out[0].alone) if shut_out is not None else set()
    mine = [group for group in map(_without(_unsound(doubts) | kept_out), agents) if group.failing]
    drafted = [(group, DRAFTS[group.family](group, context)) for group in mine]
    habit = by_habit(context)
    told = set(habit[0].failing) if habit is not None else kept_out
    habits = (
        *(by_user(context), by_guess(doubts, mine), by_giving_up(context, mine), shut_out, habit),
        unexplained(context, told | kept_out),
    )
    drafted += [one for one in habits if one is not None]
    drafted += [by_label(label, seen, context) for label, seen in taught if label.fix is not None and seen.fired_failed]
    ranked = sorted(
        ((_finding(group, draft, context), group) for group, draft in drafted), key=lambda one: _rank(one[0])
    )
    chosen: list[tuple[Finding, Group]] = []
    named = context.numbered.none()
    for one, group in ranked:
        hit = context.numbered.those(group.failing)
        says_more = group.family == "label" or int((~named[hit]).sum()) > OVERLAP * len(group.failing)
        if one.id not in ELSEWHERE and says_more and len(chosen) < MOST:
            chosen.append((one, group))
            named[hit] = True
    return chosen


def _unsound(doubts: Sequence[Doubt]) -> set[Place]:
    return {place for doubt in doubts if doubt.strong and not doubt.preview for place in doubt.places}


def _without(places: set[Place]) -> Callable[[Group], Group]:
    if not places:
        return lambda group: group

    def less(group: Group) -> Group:
        failing = tuple(place for place in group.failing if place not in places)
        return replace(group, failing=failing, alone=tuple(place for place in group.alone if place not in places))

    return less


def _without_withheld(context: Context) -> Callable[[Group], Group]:
    """What the simulated user kept back is not the agent's to do: such rollouts are not counted as left out."""
    kept = {(one.walk.rollout.key.task_id, one.walk.repeat) for one in context.withheld}

    less = _without(kept)
    return lambda group: less(group) if group.family == "left-out" else group


def _rank(finding: Finding) -> tuple[bool, float, float, int, str]:
    """What can be mended before what is described, and then by what it would give."""
    room = finding.headroom
    low = room.interval.low if room.interval is not None else -inf
    return not finding.fix, -room.only_defect, -low, -finding.rollouts, finding.id


def _finding(group: Group, draft: Draft, context: Context) -> Finding:
    where = draft.where or examples(group, context)
    hit, only = context.numbered.those(group.failing, group.passing), context.numbered.those(group.alone)
    return Finding(
        id=group.id,
        title=draft.title,
        what=draft.what,
        against=where[0][0] if where else "",
        where=tuple(text for text, _ in where[1:]),
        fix=draft.fix,
        brief=draft.brief,
        kind=draft.kind,
        grade=draft.grade,
        rollouts=len(group.failing),
        tasks=len(group.tasks),
        task_ids=group.tasks,
        places=tuple(f"{task}#{repeat}" for task, repeat in group.failing[:MOST_PLACES]),
        evidence=tuple(one for _, found in where for one in found),
        headroom=headroom(context.numbered, hit, only, estimable=draft.estimable),
    )
