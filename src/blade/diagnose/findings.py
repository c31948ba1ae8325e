"""Findings: what to act on, in four parts, each with places and quotes; ranked by what mending it would give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from blade.core.diagnosis import Finding
from blade.diagnose.context import Context, Draft
from blade.diagnose.drafts import DRAFTS
from blade.diagnose.drafts.others import by_user, unexplained
from blade.diagnose.examples import examples
from blade.diagnose.groups import Group, groups
from blade.metrics.headroom import headroom

MOST = 8
MOST_PLACES = 200
"""Places kept of one finding; the count is of all."""
OVERLAP = 0.5
"""A finding most of whose failures another one already names is left out."""
ELSEWHERE = ("answer:none", "answer:equal", "answer:other form", "answer:not extracted")
"""Groups that are a mode or a doubt about the verifier, and no finding of their own."""


def findings(context: Context) -> tuple[Finding, ...]:
    """The findings of a run, best to mend first; together they say different things."""
    mine = [group for group in map(_without_withheld(context), groups(context.partition)) if group.failing]
    drafted = [(group, DRAFTS[group.family](group, context)) for group in mine]
    drafted += [one for one in (by_user(context), unexplained(context)) if one is not None]
    ranked = sorted((_finding(group, draft, context) for group, draft in drafted), key=_rank)
    chosen: list[Finding] = []
    named: set[str] = set()
    for one in ranked:
        fresh = [place for place in one.places if place not in named]
        if one.id not in ELSEWHERE and len(fresh) > OVERLAP * len(one.places) and len(chosen) < MOST:
            chosen.append(one)
            named.update(one.places)
    return tuple(chosen)


def _without_withheld(context: Context) -> Callable[[Group], Group]:
    """What the simulated user kept back is not the agent's to do: such rollouts are not counted as left out."""
    kept = {(one.walk.rollout.key.task_id, one.walk.repeat) for one in context.withheld}

    def less(group: Group) -> Group:
        if group.family != "left-out" or not kept:
            return group
        failing = tuple(place for place in group.failing if place not in kept)
        return replace(group, failing=failing, alone=tuple(place for place in group.alone if place not in kept))

    return less


def _rank(finding: Finding) -> tuple[float, float, int, str]:
    room = finding.headroom
    low = room.interval.low if room.interval is not None else -1.0
    return -room.only_defect, -low, -finding.rollouts, finding.id


def _finding(group: Group, draft: Draft, context: Context) -> Finding:
    where = draft.where or examples(group, context)
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
        headroom=headroom(context.run, group.failing + group.passing, group.alone, estimable=draft.estimable),
    )
