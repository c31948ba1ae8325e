"""Tasks looked at closely, chosen for what they teach: the clearest contrasts, and what fails the same way every time."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from blade.evidence import provenance, quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import Context
from blade.evidence.in_words import failure_in_words
from blade.findings.describe import done_in_words, due_in_words
from blade.findings.examples import clarity, divergence_in_words
from blade.findings.exhibits import self_check
from blade.findings.habits import usual_before
from blade.model.diagnosis import Contrast, DeepDive, RepeatOutcome
from blade.model.finding import Differs, Evidence
from blade.model.tools import changes_state

MOST = 4
"""Tasks of each kind."""
MOST_REPEATS = 8
MOST_LINES = 3


def deep_dives(context: Context) -> tuple[DeepDive, ...]:
    """Sometimes-pass tasks first, then never-pass ones."""
    sometimes = _different(sorted(context.contrasts.values(), key=_teaches), MOST)
    never = _never(context)
    return (*(_sometimes(one, context) for one in sometimes), *(_never_pass(task, context) for task in never))


def dive_into(task_id: str, context: Context) -> DeepDive:
    """One task, whatever it teaches."""
    contrast = context.contrasts.get(task_id)
    return _sometimes(contrast, context) if contrast is not None else _never_pass(task_id, context)


def _teaches(contrast: Contrast) -> tuple[float, str]:
    best = max((clarity(one) for one in contrast.divergences), default=0.0)
    user = any(one.party != "agent" for one in contrast.divergences)
    return -(best + (2 if user else 0) + (2 if contrast.lucky else 0)), contrast.task_id


def _different(ranked: Sequence[Contrast], most: int) -> list[Contrast]:
    """The first of each way of parting, then the rest in order."""
    seen: list[str] = []
    first: list[Contrast] = []
    rest: list[Contrast] = []
    for one in ranked:
        kinds = [d.what.partition("`, ")[0][:40] for d in one.divergences]
        fresh = not any(kind in seen for kind in kinds)
        seen += kinds
        (first if fresh else rest).append(one)
    return [*first, *rest][:most]


def _sometimes(contrast: Contrast, context: Context) -> DeepDive:
    walks = context.reading.of(contrast.task_id)
    said = [divergence_in_words(one) for one in sorted(contrast.divergences, key=lambda d: -clarity(d))[:2]]
    own = _self_checks(walks)
    lines = [*(text.partition(": ")[2] for text, _ in said), *(text for text, _ in own)]
    for side, apart in (("passing", contrast.only_passing), ("failing", contrast.only_failing)):
        named = [one for one in apart if "(" not in one]
        lines += [f"Only {side} repeats have {', '.join(named)}."] if named else []
    if contrast.lucky:
        lucky = ", ".join(f"{contrast.task_id}#{repeat}" for repeat in contrast.lucky)
        lines.append(f"{lucky} passes with less than any failure did: a lucky pass, not one to learn from.")
    parties = list(dict.fromkeys(one.party for one in contrast.divergences))
    return DeepDive(
        task_id=contrast.task_id,
        bucket="sometimes_pass",
        why=f"passes {len(contrast.passing)} of {len(contrast.passing) + len(contrast.failing)} read; parted by: {', '.join(parties)}",
        due=due_in_words(walks[0].due, only_reads=context.partition.only_reads),
        repeats=tuple(_line(walk) for walk in walks[:MOST_REPEATS]),
        lines=tuple(lines),
        evidence=tuple(piece for _, found in (*said, *own) for piece in found),
    )


def _self_checks(walks: Sequence[AlignedTrajectory]) -> list[tuple[str, tuple[Evidence, ...]]]:
    """A failing repeat whose own check passed: that is kept apart from the verifier's."""
    checked = [(walk, found) for walk in walks if not walk.passed and (found := self_check(walk)) is not None]
    return [
        (
            f'{walk.place}:{found.step} shows a check of its own that passed ("{found.quote}"); the verifier\'s did not.',
            (found,),
        )
        for walk, found in checked[:1]
    ]


def _line(walk: AlignedTrajectory) -> RepeatOutcome:
    return RepeatOutcome(location=walk.place, outcome=str(walk.rollout.outcome), did=done_in_words(walk))


def _never(context: Context) -> list[str]:
    """Never-pass tasks, those first in which every repeat fails alike, one of each mode before a second."""
    mine = context.partition.table.select("task_id", "repeat", "mode").filter(
        pl.col("task_id").is_in(context.reading.never)
    )
    modes = {(task, repeat): mode for task, repeat, mode in mine.iter_rows()}
    ranked = []
    for place, task in enumerate(context.reading.never):
        walks = context.reading.of(task)
        kinds = [modes.get((task, walk.repeat), "") for walk in walks]
        alike = max((kinds.count(kind) for kind in kinds), default=0)
        common = max(kinds, key=lambda kind: (kinds.count(kind), kind), default="")
        explained = common not in ("", "not-explained")
        ranked.append((-int(explained), -alike, place, common, task))
    chosen: list[str] = []
    seen: list[str] = []
    for fresh_only in (True, False):
        for _, _, _, common, task in sorted(ranked):
            if len(chosen) < MOST and task not in chosen and (common not in seen or not fresh_only):
                chosen.append(task)
                seen.append(common)
    return chosen


def _never_pass(task: str, context: Context) -> DeepDive:
    walks = context.reading.of(task)
    lines: list[str] = []
    evidence: list[Evidence] = []
    failing = [walk for walk in walks if not walk.passed]
    unseen = _unseen(failing)
    unresolved = _unresolved(failing, context) if unseen is not None else None
    for text, found in filter(None, (unseen, unresolved, *_self_checks(failing), _first_words(failing))):
        lines.append(text)
        evidence += found
    passes = sum(walk.passed for walk in walks)
    return DeepDive(
        task_id=task,
        bucket="never_pass" if not passes else "always_pass",
        why=f"{passes} of {len(walks)} read pass",
        due=due_in_words(walks[0].due, only_reads=context.partition.only_reads) if walks else "not in these files",
        repeats=tuple(_line(walk) for walk in walks[:MOST_REPEATS]),
        lines=tuple(lines[:MOST_LINES]),
        evidence=tuple(evidence),
    )


def _unseen(walks: Sequence[AlignedTrajectory]) -> tuple[str, tuple[Evidence, ...]] | None:
    """Values of the key that no repeat ever saw."""
    due = walks[0].due.calls if walks else None
    wanted = [call for call in due or () if changes_state(call.tool)]
    values = list(
        dict.fromkeys((n, v) for call in wanted for n, v in provenance.values_of(call) if provenance.is_name(v))
    )
    unseen = [
        (name, value)
        for name, value in values
        if not any(provenance.source(w.rollout, value) or provenance.in_prompt(w.rollout, value) for w in walks)
    ]
    if not unseen:
        return None
    listed = ", ".join(f"`{name}` {quotes.shown(value, 40)}" for name, value in unseen[:3])
    more = f" and {len(unseen) - 3} more" if len(unseen) > 3 else ""
    return f"In no repeat read does anything that the agent saw hold {listed}{more} of the key.", ()


def _unresolved(walks: Sequence[AlignedTrajectory], context: Context) -> tuple[str, tuple[Evidence, ...]] | None:
    """A look-up that passing rollouts usually make before the call that went wrong, and that no repeat makes."""
    wrong = [
        one.name
        for walk in walks
        for one in walk.differs
        if one.kind in (Differs.ARGUMENT, Differs.EXTRA, Differs.UNWANTED, Differs.MISSING)
    ]
    for tool in dict.fromkeys(wrong):
        for detect, before, total in usual_before(context.run, tool):
            if not any(detect in walk.tools for walk in walks):
                text = f"No repeat calls `{detect}`, which {before} of the {total} passing rollouts of this run that call `{tool}` call before it."
                return text, ()
    return None


def _first_words(walks: Sequence[AlignedTrajectory]) -> tuple[str, tuple[Evidence, ...]] | None:
    failing = [walk for walk in walks if not walk.passed and walk.steps]
    if not failing:
        return None
    walk = failing[0]
    wrong = next(iter(walk.pairing.wrong), None)
    name = wrong.due.tool if wrong is not None else next((one.name for one in walk.differs if one.name), "")
    return failure_in_words(walk, name)
