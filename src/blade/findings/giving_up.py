"""One habit behind several findings: closing after a call that failed, whatever was still due."""

from __future__ import annotations

from collections.abc import Sequence

from blade.attribution.groups import FailureGroup
from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext, at, none
from blade.evidence.in_words import closing
from blade.findings.left_out import AFTER_AN_ERROR, GAVE_UP, reason

MOST_SHOWN = 2
MOST_TOOLS = 3


def by_giving_up(context: RunContext, groups: Sequence[FailureGroup]) -> tuple[FailureGroup, FindingDraft] | None:
    """Failures that end on an error; None where they all lack one tool, which is a finding of its own."""
    gave_up = [(group, _giving_up(group, context)) for group in groups if group.family == "left-out"]
    mine = [(group, walks) for group, walks in gave_up if walks]
    if len(mine) < 2:
        return None
    walks = list({walk.place: walk for _, found in mine for walk in found}.values())
    rollouts = context.rollouts
    failing = at(rollouts, [(walk.rollout.key.task_id, walk.repeat) for walk in walks])
    alone = rollouts.marked(*(group.alone.rows for group, _ in mine))
    group = FailureGroup(
        family="gave-up",
        name="",
        detail="",
        failing=failing,
        passing=none(rollouts),
        alone=failing.only(alone),
    )
    fix, brief, kind = AFTER_AN_ERROR
    return group, FindingDraft(
        title="It gives up after an error",
        what=f"{failing.in_words} end on a call that failed, with a change still due: {_tools(mine)}.",
        fix=fix,
        brief=brief,
        kind=kind,
        where=tuple(_shown(walk) for walk in walks[:MOST_SHOWN]),
    )


def _giving_up(group: FailureGroup, context: RunContext) -> list[AlignedTrajectory]:
    return [walk for walk in context.read(group.failing) if reason(walk, group.name) == GAVE_UP]


def _tools(mine: Sequence[tuple[FailureGroup, list[AlignedTrajectory]]]) -> str:
    names = [f"`{group.name}` in {len(walks)}" for group, walks in mine]
    return ", ".join(names[:MOST_TOOLS]) + (f" and {len(names) - MOST_TOOLS} more" if len(names) > MOST_TOOLS else "")


def _shown(walk: AlignedTrajectory) -> QuotedSentence:
    """The error, and what the agent said after it."""
    last = walk.calls[-1]
    result = walk.result_of(last)
    error = quotes.of_text(walk.rollout, result, ("error",)) if result is not None else None
    words = closing(walk)
    said = f'; it ends with (:{words.step}) "{words.quote}"' if words is not None and words.step != last.index else ""
    told = f' (:{error.step}) "{error.quote}"' if error is not None else ""
    return f"{walk.place}: `{last.tool}` fails{told}{said}.", tuple(one for one in (error, words) if one is not None)
