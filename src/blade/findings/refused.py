"""Calls that the schema of their own tool does not take."""

from __future__ import annotations

from blade.attribution.groups import FailureGroup
from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext
from blade.model.diagnosis import Support
from blade.model.finding import Differs

MOST_SHOWN = 2


def refused(group: FailureGroup, context: RunContext) -> FindingDraft:
    """Arguments of another type than the request declares, unknown ones, or required ones that are lacking."""
    passes = f"{len(group.passing)} passing" if group.passing else "no passing"
    return FindingDraft(
        title=f"It calls `{group.name}` with arguments that the tool's own schema refuses",
        what=f"{group.failing.in_words}, with nothing else to explain the failure, and {passes} "
        f"rollout{'' if len(group.passing) == 1 else 's'}.",
        fix="decode calls with the tool's schema, or have the harness refuse such a call and say what it takes",
        brief=f"calls of `{group.name}` that break its schema",
        kind="harness",
        where=tuple(_shown(walk, group.name) for walk in context.read(group.failing)[:MOST_SHOWN]),
        support=Support.CONSISTENT,
    )


def _shown(walk: AlignedTrajectory, tool: str) -> QuotedSentence:
    found = next((one for one in walk.differs if one.kind == Differs.REFUSED and one.name == tool), None)
    call = walk.call_at(found.step, tool) if found is not None else None
    evidence = quotes.of_call(walk.rollout, call) if call is not None else None
    if found is None or call is None or evidence is None:
        return f"{walk.place}.", ()
    return f"{walk.place}:{call.index} calls `{tool}` `{evidence.quote}`, where `{found.detail}` is not as declared.", (
        evidence,
    )
