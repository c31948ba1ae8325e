"""One habit behind several findings: values that the agent makes up, whatever the tool they are given to."""

from __future__ import annotations

from collections.abc import Sequence

from blade.attribution.groups import FailureGroup
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext, at, none
from blade.model.diagnosis import Doubt

CODE = "BEH013"
MOST_SHOWN = 2


def by_guess(
    context: RunContext, doubts: Sequence[Doubt], groups: Sequence[FailureGroup]
) -> tuple[FailureGroup, FindingDraft] | None:
    """Failures with a made-up id or address; None where they are all of one argument, which is a finding of its own."""
    guessed = [doubt for doubt in doubts if doubt.code == CODE]
    rollouts = context.rollouts
    failing = at(rollouts, [place for doubt in guessed for place in doubt.places])
    made_up = rollouts.marked(failing.rows)
    mine = [group for group in groups if group.family == "argument" and group.failing.only(made_up)]
    if len(mine) < 2:
        return None
    alone = rollouts.marked(*(group.alone.rows for group in mine))
    group = FailureGroup(
        family="guess",
        name="",
        detail="",
        failing=failing,
        passing=none(rollouts),
        alone=failing.only(alone),
    )
    return group, FindingDraft(
        title="It makes up ids and addresses instead of looking them up",
        what=f"{failing.in_words} give a value that nothing they had seen contains, as {_arguments(mine)}.",
        fix="have the agent look ids and addresses up before a call, and let the harness refuse one that no message and no "
        "result holds",
        brief="ids and addresses looked up before they are used",
        kind="harness",
        where=tuple(_shown(doubt) for doubt in guessed[:MOST_SHOWN]),
    )


def _arguments(groups: Sequence[FailureGroup]) -> str:
    names = [f"`{group.detail}` of `{group.name}`" for group in groups]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _shown(doubt: Doubt) -> QuotedSentence:
    return doubt.message.partition(": ")[2] + ".", doubt.evidence
