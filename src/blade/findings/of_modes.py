"""What a finding says about a group of attributions: the mode's own words, its numbers, quotes, and the mode's action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl
from msgspec.structs import replace

from blade.attribution.overruled import defined
from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext
from blade.evidence.in_words import ends
from blade.findings.beyond_differences import listed_places, unexplained
from blade.findings.calls import argument, extra, left_out, refused_by_schema
from blade.findings.examples import shown_by
from blade.findings.groups import FailureGroup, how_often
from blade.findings.passes_to_doubt import passes_to_doubt
from blade.findings.table_quotes import evidence_of
from blade.findings.withheld_facts import withheld_facts
from blade.model.attribution import UNATTRIBUTED, Confidence
from blade.model.diagnosis import Support
from blade.model.finding import Differs, Evidence
from blade.modes.catalog import by_code
from blade.modes.declaration import FailureMode

MOST_SHOWN = 2
MOST_SHOWN_ALONE = 4
"""Rollouts that are quoted where each has a subject of its own: what they share is for the reader to see."""
MOST_SUBJECTS = 3
LONGEST_NAME = 100
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
WHERE_IT_WENT_WRONG = {"work:false-equation": "have a false equation in their work"}
"""Symptoms that point at the step, by their flag."""
SUPPORT = {
    Confidence.PROVEN: Support.DIRECT,
    Confidence.LIKELY: Support.CONSISTENT,
    Confidence.SUSPECTED: Support.UNCLEAR,
}


def draft_of(group: FailureGroup, context: RunContext) -> FindingDraft:
    """The words of a finding about a mode and its subject."""
    if group.mode == UNATTRIBUTED:
        return unexplained(group, context)
    if group.mode not in by_code():
        return _of_readers(group, context)
    declared = by_code()[group.mode]
    by_calls = BY_CALLS.get(group.mode) if group.subject else None
    if by_calls is not None and (group.detail or by_calls is not argument):
        return _checked(by_calls(group, context), group)
    return _checked(
        FindingDraft(
            title=declared.titled(_in_title(group)),
            what=_what(group, context),
            fix=f"{_action(group, declared)}{_to_learn_from(group, declared, context)}",
            brief=declared.row[0].lower() + declared.row[1:],
            kind=KIND_OF_OWNER[declared.owner],
            owner=declared.owner,
            where=(withheld_facts(group, context) if group.mode == "user-withheld" else ())
            or tuple(_shown(group, context)),
            support=SUPPORT[group.confidence],
            estimable=not declared.result,
        ),
        group,
    )


def _action(group: FailureGroup, declared: FailureMode) -> str:
    """What the mode says to do; nobody is told to read three where there are fewer."""
    whole = declared.action.rstrip(".")
    return whole if len(group.failing) >= MOST_READ else whole.replace("three of these", "these")


def _in_title(group: FailureGroup) -> str:
    """The subject; of two spellings, both."""
    here, bar, prompt = group.subject.partition("|")
    return f"`{here}` instead of `{prompt}`" if bar and group.mode == "prompt-test-mismatch" else group.subject


def _checked(draft: FindingDraft, group: FailureGroup) -> FindingDraft:
    """The draft as it stands; of a suspicion, with nothing to do but to read, and no gain."""
    if group.confidence is not Confidence.SUSPECTED:
        return draft
    return replace(draft, title=f"Suspected: {_inside(draft.title)}", fix=read_these(group), estimable=False)


def _inside(title: str) -> str:
    """A title inside a sentence: its first word without a capital, where it is no name."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def _of_readers(group: FailureGroup, context: RunContext) -> FindingDraft:
    """A finding about a mode that readers define: what they say of it is all that is known."""
    own = defined(context.partition.attributions.readings)[group.mode]
    noted = _rows(group, context).filter(pl.col("note") != "").head(1)
    said = [f'In {task}#{repeat}, {by} says: "{note}"' for task, repeat, by, note in _noted(noted)]
    return FindingDraft(
        title=own.definition.rstrip("."),
        what=" ".join([f"Readers see this in {how_often(group, context.partition.table.height)}.", *said]),
        fix=f"Fix what {own.by} describes; responsible: {own.party.replace('_', ' ')}" if said else "",
        brief=f"what readers call {group.mode}",
        kind=KIND_OF_PARTY[own.party],
        owner=own.party.replace("_", " "),
        where=tuple(_shown(group, context)),
        support=SUPPORT[group.confidence],
        estimable=group.confidence is not Confidence.SUSPECTED,
    )


def _noted(rows: pl.DataFrame) -> list[tuple[str, int, str, str]]:
    return rows.select("task_id", "repeat", "by", pl.col("note").str.slice(0, LONGEST)).rows()


def read_these(group: FailureGroup) -> str:
    """What to do where the evidence supports nothing more."""
    return f"Read {listed_places(group)} before acting: one sign alone points at this"


def _what(group: FailureGroup, context: RunContext) -> str:
    """How many rollouts have it, which subjects they have, and what was compared in the first."""
    rows = _rows(group, context)
    contrast = rows.head(1)["contrast"][0] if rows.height else ""
    alone = contrast and group.mode != "user-withheld"  # there the quotes say it
    said = f" In {group.failing.named(1)[0]}: {contrast}." if alone else ""
    noted = _noted(rows.filter(pl.col("note") != "").head(1))
    said += "".join(f' In {task}#{repeat}, {by} says: "{note}"' for task, repeat, by, note in noted)
    return f"{how_often(group, context.partition.table.height)}.{_subjects(group, rows)}{_flagged(group, rows, context)}{said}"


def _flagged(group: FailureGroup, rows: pl.DataFrame, context: RunContext) -> str:
    """What else most of the rollouts show that says where they went wrong, and how often passes show it."""
    table = context.partition.attributions.table
    passes = table.filter(pl.col("outcome") == "passed")
    told = ""
    for flag, words in WHERE_IT_WENT_WRONG.items():
        times, in_passes = (each["also"].list.contains(flag).fill_null(False).sum() for each in (rows, passes))
        said = group.subject and times == rows.height  # the title says it
        if not said and times > 1 and 2 * times > rows.height and in_passes * rows.height < times * passes.height:
            told += f" {times:,} of the {rows.height:,} {words} ({in_passes:,} of {passes.height:,} passes do)."
    return told


def _subjects(group: FailureGroup, rows: pl.DataFrame) -> str:
    """What several of the rollouts are about, where they are not all about one thing: `8 of them: github.com`."""
    counted = rows.filter(pl.col("subject") != "").group_by("subject", maintain_order=True).len()
    told = sorted(((times, subject) for subject, times in counted.rows() if times > 1), key=lambda one: -one[0])
    if group.subject or not told:
        return ""
    return f" Among them: {'; '.join(f'{subject} in {times:,}' for times, subject in told[:MOST_SUBJECTS])}."


def _rows(group: FailureGroup, context: RunContext) -> pl.DataFrame:
    return context.partition.attributions.table[group.failing.rows]


def _shown(group: FailureGroup, context: RunContext) -> Iterator[QuotedSentence]:
    """What decided in rollouts of different tasks, with its subject; then what a passing repeat shows in its place.

    Where a limit decided, what was said last tells more than the word for the limit.
    """
    if group.mode in by_code() and by_code()[group.mode].group == "limit" and context.read(group.failing):
        yield from (ends(walk) for walk in _one_a_task(context.read(group.failing))[:MOST_SHOWN])
        return
    rows = _rows(group, context).unique("task_id", maintain_order=True)
    quoted = rows.filter(pl.col("evidence").list.len() > 0)
    most = MOST_SHOWN_ALONE if not group.subject and rows["subject"].n_unique() > MOST_SHOWN else MOST_SHOWN
    shown = []
    for task, repeat, subject, evidence in quoted.select("task_id", "repeat", "subject", "evidence").head(most).rows():
        found = [evidence_of(context.run.name, task, repeat, one) for one in evidence[:1]]
        about = f" ({subject})" if subject and not group.subject and subject not in found[0].quote else ""
        shown.append(task)
        yield f"{found[0].location}{about}: {_marked(found[0])}.", tuple(found)
    for walk in context.read(group.failing):
        if len(shown) < most and walk.rollout.key.task_id not in shown:
            shown.append(walk.rollout.key.task_id)
            yield _read_again(walk, group.mode)
    yield from _passing(shown, group, context)


def _one_a_task(walks: Sequence[AlignedTrajectory]) -> list[AlignedTrajectory]:
    return list({walk.rollout.key.task_id: walk for walk in reversed(walks)}.values())[::-1]


def _read_again(walk: AlignedTrajectory, mode: str) -> QuotedSentence:
    """The tests that fail, where they are named; else what the rollout shows, or that it shows nothing."""
    of_checks = mode.endswith(("-check-failed", "-checks-failed")) or mode == "regression"
    named = (one.name for one in walk.differs if one.kind == Differs.CHECK and one.name)
    failed = list(dict.fromkeys(named)) if of_checks else []
    piece = shown_by(walk, mode)
    if piece is None or (failed and piece.field == "text"):
        more = f" and {len(failed) - 1:,} more" if len(failed) > 1 else ""
        what = f"fails `{quotes.shown(failed[0], LONGEST_NAME)}`{more}" if failed else "leaves nothing to quote"
        return f"{walk.place} {what}.", ()
    expected = walk.due.answer if mode == "wrong-answer" else None
    against = f"; expected {quotes.worded(expected, LONGEST_NAME)}" if expected else ""
    return f"{piece.location}: {_marked(piece)}{against}.", (piece,)


def _passing(tasks: Sequence[str], group: FailureGroup, context: RunContext) -> Iterator[QuotedSentence]:
    """The same kind of quote of a passing repeat of the first task that has one."""
    passes = (walk for walk in context.passing_repeats(group.failing) if walk.rollout.key.task_id in tasks)
    pieces = ((walk, piece) for walk in passes if (piece := shown_by(walk, group.mode)) is not None)
    for walk, piece in pieces:
        step = f":{piece.step}" if piece.step is not None else ""
        yield f"Passing {walk.place}{step}: {_marked(piece)}.", (piece,)
        return


def _marked(piece: Evidence) -> str:
    """A quote in quotation marks; arguments as code, which has marks of its own."""
    text = quotes.shown(" ".join(piece.quote.split()), LONGEST)
    return f"`{text}`" if piece.field in ("arguments", "tool") and "`" not in text else f'"{text}"'


def _to_learn_from(group: FailureGroup, declared: FailureMode, context: RunContext) -> str:
    """Passing repeats of the same tasks that earned it, where the agent's result is at fault and nothing speaks against
    the task.
    """
    rows = _rows(group, context)
    if not declared.result or not rows["valid"].all() or not (rows["party"] == "agent").all():
        return ""
    doubtful = {one.location for one in passes_to_doubt(context)}
    named = [
        f"{task}#{repeat}"
        for task in group.failing.within(context.contrasts).tasks
        for repeat in context.contrasts[task].passing
        if repeat not in context.contrasts[task].lucky
        and task not in context.defects
        and f"{task}#{repeat}" not in doubtful
    ]
    if not named:
        return ""
    more = f" and {len(named) - MOST_READ} more" if len(named) > MOST_READ else ""
    return f"; if you train on these tasks, learn from passing repeats of the same tasks: {', '.join(named[:MOST_READ])}{more}"
