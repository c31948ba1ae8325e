"""Tasks looked at closely: what was expected, what each repeat did in a line of words, where repeats part."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from blade.attribution.failure_table import partition
from blade.evidence import provenance, quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RereadRollouts, RunContext
from blade.evidence.contrast import call_in_words, contrast, left_out_in_words
from blade.evidence.differences import OF_A_TEST, UNDECIDED
from blade.evidence.in_words import failure_in_words
from blade.evidence.simulated_user import withheld
from blade.evidence.templates import readable, telling
from blade.findings.examples import clarity, divergence_in_words, self_check
from blade.findings.habits import usual_before
from blade.model.diagnosis import Contrast, DeepDive, RepeatOutcome
from blade.model.errors import RequestError
from blade.model.expected import Due, DueCall
from blade.model.finding import Difference, Differs, Evidence
from blade.model.run import Run
from blade.model.tools import changes_state
from blade.stats.rollout_index import index_rollouts

MOST = 4
"""Tasks of each kind."""
MOST_REPEATS = 8
MOST_LINES = 3
MOST_EACH = 8
"""Passing, and failing, repeats that are read."""
MOST_CALLS = 3
MOST_DIFFERENCES = 4
LONGEST_ARGUMENTS = 60
LONGEST_ANSWER = 160
_NOTHING = {"output": "no output", "thought": "only thoughts, no word", "declined": "declined"}
"""What stands in the place of an answer."""


def deep_dives(context: RunContext) -> tuple[DeepDive, ...]:
    """Sometimes-pass tasks first, then never-pass ones."""
    sometimes = _different(sorted(context.contrasts.values(), key=_teaches), MOST)
    never = _never(context)
    return (*(_sometimes(one, context) for one in sometimes), *(_never_pass(task, context) for task in never))


def dive_into(task_id: str, context: RunContext) -> DeepDive:
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


def _sometimes(contrast: Contrast, context: RunContext) -> DeepDive:
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
        why=f"passes {len(contrast.passing)} of {len(contrast.passing) + len(contrast.failing)} read; first difference: {', '.join(parties)}",
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


def _never(context: RunContext) -> list[str]:
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
        explained = common not in ("", "unattributed")
        ranked.append((-int(explained), -alike, place, common, task))
    chosen: list[str] = []
    seen: list[str] = []
    for fresh_only in (True, False):
        for _, _, _, common, task in sorted(ranked):
            if len(chosen) < MOST and task not in chosen and (common not in seen or not fresh_only):
                chosen.append(task)
                seen.append(common)
    return chosen


def _never_pass(task: str, context: RunContext) -> DeepDive:
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
    return (
        f"Nothing that the agent saw in these repeats contains {listed}{more}, which the expected actions require.",
        (),
    )


def _unresolved(walks: Sequence[AlignedTrajectory], context: RunContext) -> tuple[str, tuple[Evidence, ...]] | None:
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


def explain(run: Run, task_id: str) -> tuple[DeepDive, Contrast | None]:
    """The task looked at closely; the contrast where some repeats pass and some fail. Raises for an unknown task."""
    rollouts = index_rollouts(run)
    parts = partition(rollouts)
    rows = run.rollouts.filter((pl.col("task_id") == task_id) & pl.col("artifact").is_not_null())
    if rows.is_empty() or run.read is None:
        known = ", ".join(run.tasks["task_id"].head(6))
        raise RequestError(f"run {run.name} has no rollout of task {task_id!r}", hint=f"tasks are called {known}, ...")
    judged = rows.filter(pl.col("outcome").is_in(["passed", "failed"]))
    chosen = judged.group_by("outcome", maintain_order=True).head(MOST_EACH).sort("repeat")
    if chosen.is_empty():
        raise RequestError(f"no rollout of task {task_id} was judged", hint="`blade show` reads one as it is")
    places = list(chosen.select("task_id", "repeat").iter_rows())
    walks = {
        place: AlignedTrajectory(rollout=rollout, set_aside=parts.set_aside)
        for place, rollout in zip(places, run.read(run, places), strict=True)
    }
    both = chosen["outcome"].n_unique() == 2
    reading = RereadRollouts(
        walks=walks,
        rows=rollouts.at(places),
        sometimes=(task_id,) if both else (),
        never=() if both else (task_id,),
        cut=_cut(judged, chosen),
    )
    found = contrast(task_id, list(walks.values())) if both else None
    context = RunContext(
        rollouts=rollouts,
        partition=parts,
        reading=reading,
        contrasts={task_id: found} if found else {},
        withheld=withheld(list(walks.values())),
    )
    return dive_into(task_id, context), found


def _cut(judged: pl.DataFrame, chosen: pl.DataFrame) -> tuple[str, ...]:
    if judged.height == chosen.height:
        return ()
    return (f"of {judged.height} judged repeats {chosen.height} were read: the first {MOST_EACH} of each outcome",)


def due_in_words(due: Due, *, only_reads: bool = False) -> str:
    """The key in a line; what cannot be known is said. Look-ups are due where no key of the run wants a change."""
    if due.calls is not None:
        wanted = [call for call in due.calls if only_reads or changes_state(call.tool)]
        said = f"say {', '.join(quotes.shown(one, 40) for one in due.statements[:3])}" if due.statements else ""
        return "; ".join(filter(None, (_listed(wanted) or "no change", said)))
    if due.checks and (due.answer is None or len(due.answer) > LONGEST_ANSWER):
        return f"{due.asked:,} {'test or criterion' if due.asked == 1 else 'tests or criteria'}"
    if due.answer:
        return f"answer {quotes.worded(due.answer, LONGEST_ANSWER)}"
    return "not in these files"


def _listed(calls: Sequence[DueCall]) -> str:
    more = f"; {len(calls) - MOST_CALLS} more" if len(calls) > MOST_CALLS else ""
    return "; ".join(f"`{call_in_words(call)}`" for call in calls[:MOST_CALLS]) + more


def done_in_words(walk: AlignedTrajectory) -> str:
    """How a rollout differs from what was due, or what it did where that cannot be told."""
    found = list(
        dict.fromkeys(filter(None, (_not_made(walk), *(_difference_in_words(walk, one) for one in walk.differs))))
    )
    if found:
        more = f"; {len(found) - MOST_DIFFERENCES} more" if len(found) > MOST_DIFFERENCES else ""
        return "; ".join(found[:MOST_DIFFERENCES]) + more
    if walk.passed and walk.due.calls is not None:
        return "as expected"
    if walk.rollout.answer:
        return f"answers {quotes.worded(walk.rollout.answer, 80)}"
    return f"{len(walk.calls)} call{'' if len(walk.calls) == 1 else 's'}" if walk.calls else "no call"


def _not_made(walk: AlignedTrajectory) -> str:
    due = [one.name for one in walk.differs if one.kind == Differs.NOT_MADE]
    refused = [tool for tool in due if any(call.tool == tool for call in walk.calls)]
    if refused:
        return "; ".join(left_out_in_words(walk, tool) for tool in due)
    named = ", ".join(f"`{tool}`" for tool in due)
    return f"no change; {named} {'was' if len(due) == 1 else 'were'} expected" if due else ""


def _call_in_words(walk: AlignedTrajectory, step: int | None, tool: str) -> str:
    """A call with its arguments where they are short, and its place."""
    call = walk.call_at(step, tool)
    arguments = " ".join((call.arguments or "").split()) if call is not None else ""
    shown = f" {arguments}" if 2 < len(arguments) <= LONGEST_ARGUMENTS else ""
    return f"{shown} (:{step})"


def _difference_in_words(walk: AlignedTrajectory, one: Difference) -> str:
    if one.kind == Differs.ARGUMENT:
        return f"{_argument_in_words(walk, one)} (:{one.step})"
    words = {
        Differs.UNWANTED: f"calls `{one.name}`{_call_in_words(walk, one.step, one.name)}, where no change is expected",
        Differs.EXTRA: f"calls `{one.name}`{_call_in_words(walk, one.step, one.name)}, which is not expected",
        Differs.MISSING: left_out_in_words(walk, one.name) if one.kind == Differs.MISSING else "",
        Differs.NOT_SAID: f"does not say {quotes.shown(one.name, 50)}",
        Differs.CHECK: _check_in_words(walk, one) if one.kind == Differs.CHECK else "",
        Differs.CUT: f"cut by the limit of {one.name}"
        if one.name != OF_A_TEST
        else "its program is too slow for the tests",
        Differs.NO_RECORD: f"no verdict in `{one.name}`"
        if one.detail == UNDECIDED
        else f"no account of the verifier in `{one.name}`",
        Differs.ERROR: f"`{one.name}`: {quotes.shown(readable(one.detail), 70)}",
        Differs.NO_ANSWER: _NOTHING.get(one.name, "no answer handed in"),
        Differs.REFUSED: f"calls `{one.name}`{_call_in_words(walk, one.step, one.name)}, whose schema refuses `{one.detail}`",
        Differs.SAID: f"`{one.name}`: {quotes.shown(readable(one.detail), 90)}",
    }
    if one.kind == Differs.ANSWER:
        return "" if walk.passed else _answer_in_words(walk, one.name)
    return words.get(Differs(one.kind), "")


def _check_in_words(walk: AlignedTrajectory, one: Difference) -> str:
    """A test or criterion that failed, with the verifier's words where there are any."""
    failed = next((check for check in walk.due.checks if not check.passed and check.name.startswith(one.name)), None)
    start, end = telling(failed.words) if failed is not None and failed.words.strip() else (0, 0)
    words = f" ({quotes.shown(failed.words[start:end], 90)})" if failed is not None and end else ""
    return f"fails `{quotes.shown(one.name, 70)}`{words}"


def _answer_in_words(walk: AlignedTrajectory, how: str) -> str:
    given = walk.rollout.answer
    return f"answers {quotes.worded(given, 60)} ({how})" if given else f"no answer extracted ({how})"


def _argument_in_words(walk: AlignedTrajectory, one: Difference) -> str:
    for wrong in walk.pairing.wrong:
        if wrong.made.step.index == one.step and one.detail in wrong.names:
            name, due, made = provenance.first_difference(
                one.detail, wrong.due.arguments.get(one.detail), wrong.made.arguments.get(one.detail)
            )
            if made is None:
                return f"`{one.name}` leaves out `{name}` {quotes.shown(due, 30)}"
            if due is None:
                return f"`{one.name}` adds `{name}` {quotes.shown(made, 30)}"
            return f"`{one.name}` with `{name}` {quotes.shown(made, 30)} for {quotes.shown(due, 30)}"
    return f"`{one.name}` with another `{one.detail}`"
