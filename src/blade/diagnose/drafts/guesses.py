"""One habit behind several findings: values that the agent makes up, whatever the tool they are given to."""

from __future__ import annotations

from collections.abc import Sequence

from blade.core.diagnosis import Doubt
from blade.diagnose.context import Draft, Said
from blade.diagnose.groups import Group, spread

CODE = "BEH013"
MOST_SHOWN = 2


def by_guess(doubts: Sequence[Doubt], groups: Sequence[Group]) -> tuple[Group, Draft] | None:
    """Failures with a made-up id or address; None where they are all of one argument, which is a finding of its own."""
    guessed = [doubt for doubt in doubts if doubt.code == CODE]
    places = {place for doubt in guessed for place in doubt.places}
    mine = [group for group in groups if group.family == "argument" and places & set(group.failing)]
    if len(mine) < 2:
        return None
    failing = tuple(place for doubt in guessed for place in doubt.places)
    alone = {place for group in mine for place in group.alone}
    group = Group(
        family="guess",
        name="",
        detail="",
        failing=failing,
        passing=(),
        alone=tuple(place for place in failing if place in alone),
    )
    return group, Draft(
        title="It makes up ids and addresses instead of looking them up",
        what=f"{spread(failing)} give a value that nothing they had seen contains, as {_arguments(mine)}.",
        fix="have the agent look ids and addresses up before a call, and let the harness refuse one that no message and no "
        "result holds",
        brief="ids and addresses looked up before they are used",
        kind="harness",
        where=tuple(_shown(doubt) for doubt in guessed[:MOST_SHOWN]),
    )


def _arguments(groups: Sequence[Group]) -> str:
    names = [f"`{group.detail}` of `{group.name}`" for group in groups]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _shown(doubt: Doubt) -> Said:
    return doubt.message.partition(": ")[2] + ".", doubt.evidence
