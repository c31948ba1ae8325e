"""What a finding says about a group of attributions: the mode's own words, its numbers, quotes, and the mode's action."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from blade.attribution.overruled import defined
from blade.evidence import quotes
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext
from blade.findings.calls import argument, extra, left_out, refused_by_schema
from blade.findings.examples import shown_by
from blade.findings.groups import FailureGroup
from blade.model.attribution import Confidence
from blade.model.diagnosis import Support
from blade.model.finding import Evidence
from blade.model.rollout import RolloutKey
from blade.modes.catalog import by_code
from blade.modes.declaration import FailureMode

MOST_SHOWN = 2
MOST_READ = 3
LONGEST = 160
KIND_OF_OWNER = {
    "harness": "harness",
    "test author": "verifier",
    "task author": "data",
    "tool author": "harness",
    "user simulator": "harness",
    "prompt": "prompt",
}
KIND_OF_PARTY = {
    "agent": "prompt",
    "limit": "harness",
    "user_simulator": "harness",
    "tool": "harness",
    "environment": "infrastructure",
    "harness": "infrastructure",
    "verifier": "verifier",
    "task": "data",
    "unknown": "prompt",
}
"""Of a mode that readers define, by who has to act."""
BY_CALLS = {
    "action-extra": extra,
    "no-action": left_out,
    "action-missing": left_out,
    "partial-actions": left_out,
    "wrong-argument": argument,
    "malformed-arguments": refused_by_schema,
}
"""Modes of which the calls tell more: what stood in the way, where a passing repeat had the value from."""
SUPPORT = {
    Confidence.PROVEN: Support.DIRECT,
    Confidence.LIKELY: Support.CONSISTENT,
    Confidence.SUSPECTED: Support.UNCLEAR,
}


def draft_of(group: FailureGroup, context: RunContext) -> FindingDraft:
    """The words of a finding about a mode and its subject."""
    if group.mode not in by_code():
        return _of_readers(group, context)
    declared = by_code()[group.mode]
    by_calls = BY_CALLS.get(group.mode) if group.subject else None
    drafted = (
        by_calls(group, context)
        if (by_calls is not None and group.detail) or (by_calls is not argument and by_calls)
        else None
    )
    if drafted is not None:
        return drafted
    settled = group.confidence is not Confidence.SUSPECTED
    return FindingDraft(
        title=declared.titled(group.subject) if group.subject else declared.row,
        what=_what(group, declared, context),
        fix=_fix(group, declared, context),
        brief=declared.row[0].lower() + declared.row[1:],
        kind=KIND_OF_OWNER[declared.owner],
        where=tuple(_shown(group, context)),
        support=SUPPORT[group.confidence],
        estimable=settled and not declared.result,
    )


def _of_readers(group: FailureGroup, context: RunContext) -> FindingDraft:
    """A finding about a mode that readers define: what they say of it is all that is known."""
    own = defined(context.partition.attributions.readings)[group.mode]
    noted = _rows(group, context).filter(pl.col("note") != "").head(1)
    said = [f'In {task}#{repeat}, {by} says: "{note}"' for task, repeat, by, note in _noted(noted)]
    return FindingDraft(
        title=own.definition.rstrip("."),
        what=" ".join([f"{group.failing.in_words}, by readers.", *said]),
        fix=f"Fix what {own.by} describes; responsible: {own.party.replace('_', ' ')}" if said else "",
        brief=f"what readers call {group.mode}",
        kind=KIND_OF_PARTY[own.party],
        where=tuple(_shown(group, context)),
        support=SUPPORT[group.confidence],
        estimable=group.confidence is not Confidence.SUSPECTED,
    )


def _noted(rows: pl.DataFrame) -> list[tuple[str, int, str, str]]:
    return rows.select("task_id", "repeat", "by", pl.col("note").str.slice(0, LONGEST)).rows()


def _fix(group: FailureGroup, declared: FailureMode, context: RunContext) -> str:
    """The mode's action; where nothing more is supported, which rollouts to read."""
    if group.confidence is Confidence.SUSPECTED:
        return read_these(group)
    return f"{declared.action.rstrip('.')}{_to_learn_from(group, declared, context)}"


def read_these(group: FailureGroup) -> str:
    """What to do where the evidence supports nothing more."""
    named = group.failing.named(MOST_READ)
    if len(named) == 1:
        return f"Read {named[0]}: what is seen there is a suspicion only"
    return f"Read these {len(named)} rollouts: {', '.join(named)}. What is seen there is a suspicion only"


def _what(group: FailureGroup, declared: FailureMode, context: RunContext) -> str:
    """How many rollouts, what the mode means, and what was compared in the first."""
    first = _rows(group, context).head(1)
    contrast = first["contrast"][0] if first.height else ""
    said = f" In {group.failing.named(1)[0]}: {contrast}." if contrast else ""
    noted = _noted(_rows(group, context).filter(pl.col("note") != "").head(1))
    said += "".join(f' In {task}#{repeat}, {by} says: "{note}"' for task, repeat, by, note in noted)
    return f"{group.failing.in_words}. {declared.definition}{said}"


def _rows(group: FailureGroup, context: RunContext) -> pl.DataFrame:
    return context.partition.attributions.table[group.failing.rows]


def _shown(group: FailureGroup, context: RunContext) -> Iterator[QuotedSentence]:
    """The quotes that decided, of different tasks first; else what a rollout that was read again shows."""
    rows = _rows(group, context).filter(pl.col("evidence").list.len() > 0).unique("task_id", maintain_order=True)
    shown = 0
    for task, repeat, evidence in rows.select("task_id", "repeat", "evidence").head(MOST_SHOWN).iter_rows():
        found = [evidence_of(context.run.name, task, repeat, one) for one in evidence[:1]]
        shown += 1
        yield f'{found[0].location}: "{quotes.shown(" ".join(found[0].quote.split()), LONGEST)}".', tuple(found)
    for walk in context.read(group.failing)[: MOST_SHOWN - shown]:
        piece = shown_by(walk, group.mode)
        if piece is not None:
            yield f'{piece.location}: "{quotes.shown(" ".join(piece.quote.split()), LONGEST)}".', (piece,)


def evidence_of(run: str, task: str, repeat: int, quote: dict[str, object]) -> Evidence:
    """A quote of the table of attributions, with its location."""
    step = quote["step"]
    return Evidence(
        key=RolloutKey(run=run, task_id=task, repeat=repeat),
        step=step if isinstance(step, int) else None,
        field=str(quote["field"]),
        quote=str(quote["quote"]),
    )


def _to_learn_from(group: FailureGroup, declared: FailureMode, context: RunContext) -> str:
    """Passing repeats of the same tasks that earned it, where the agent's result is at fault and nothing speaks against
    the task.
    """
    if not declared.result or not _rows(group, context)["valid"].all():
        return ""
    named = [
        f"{task}#{repeat}"
        for task in group.failing.within(context.contrasts).tasks
        for repeat in context.contrasts[task].passing
        if repeat not in context.contrasts[task].lucky and task not in context.defects
    ]
    if not named:
        return ""
    more = f" and {len(named) - MOST_READ} more" if len(named) > MOST_READ else ""
    return f"; to train on, passing repeats of the same tasks are {', '.join(named[:MOST_READ])}{more}"
