"""Findings across modes: habits behind several of them, what keeps the agent out, and failures that nothing explains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from blade.attribution.deciding_numbers import deciding
from blade.attribution.recorded_words import recorded_words
from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.closings import final_text
from blade.evidence.context import FindingDraft, QuotedSentence, Refs, RunContext, at, none
from blade.evidence.in_words import answer as answer_evidence
from blade.evidence.in_words import closing
from blade.findings.calls import AFTER_AN_ERROR, GAVE_UP, reason
from blade.findings.examples import clarity, divergence_in_words, last_text, seen_by
from blade.findings.groups import FailureGroup, how_often
from blade.model.attribution import UNATTRIBUTED, Confidence
from blade.model.diagnosis import READER, Doubt, Support
from blade.model.finding import Evidence
from blade.model.pattern import pattern_of
from blade.modes.catalog import by_code
from blade.rules.catalog import rollout_rules, rule_in_words, to_do
from blade.rules.declaration import Rule
from blade.stats.rollout_index import Flags

FEWEST = 3
_FENCE = "```"
_FORM = pattern_of(r"```|<\w|[{\[#]|\*\*|\w+:$")
"""Beginnings that are form: a fence, a tag, JSON, a heading, a label with a colon."""
LONGEST_EDGE = 80
"""Characters of the beginning or the last line of an output that are quoted."""
OFTEN = 2.0
"""How many times more of something is worth a sentence."""
TELLING = 0.6
"""By how much the shares of passing and failing outputs must differ in how they begin or end."""
MOST_SHOWN = 2
MOST_READ = 3
MOST_TOOLS = 3
MADE_UP = "BEH013"
FEWEST_ALIKE = 2
LONGEST_REPORT = 1_500
"""Characters of a closing message that reports; a longer one is an answer that speaks of such things."""
_WALL = pattern_of(
    r"captchas?\b|(?:verify|prove|confirm)\w* (?:that )?(?:you|i|we)\W? ?(?:are|re|am|m) (?:not a robot|(?:a )?human)|paywall"
    r"|\b(?:log ?in|sign ?in|authentication|credentials|subscription) (?:wall|page|prompt|(?:is |are )?required)"
    r"|\brequir\w+ (?:a |an |me to |you to |users to )?(?:log(?:ging)? ?in|sign(?:ing)? ?in|authentication|account|subscription|credentials)"
    r"|anti-?bot|bot (?:detection|protection)|cloudflare|\baccess (?:was |is |has been )?(?:denied|blocked|forbidden)",
    re.IGNORECASE,
)
_KEPT_OUT = pattern_of(
    r"\b(?:unable|cannot|can't|could ?n[o']t|couldn't|was not able|wasn't able|blocked|prevent\w*|failed to|stopped me|without access)\b",
    re.IGNORECASE,
)
_UNJUDGED = ("output-missing", "refused", "handed-back", "no-verdict", UNATTRIBUTED)
"""Modes that say no more than that nothing was handed in."""


def of_unattributed(context: RunContext, known: Flags) -> FailureGroup | None:
    """The failures that nothing decides, without those of which something is `known`."""
    places = context.in_mode(UNATTRIBUTED).less(known)
    if not len(places):
        return None
    nothing = none(context.rollouts)
    return FailureGroup(
        mode=UNATTRIBUTED, failing=places, passing=nothing, alone=nothing, confidence=Confidence.SUSPECTED
    )


def unexplained(group: FailureGroup, context: RunContext) -> FindingDraft:
    """Failures that nothing in the files explains: how their outputs look beside those that pass, and which to read.

    What they look like is described, and no remedy: nothing shows that they would pass if they looked otherwise.
    """
    beside, walks = group.failing.within(context.contrasts), context.read(group.failing)
    form = _form(context, walks)
    told = (
        f" {_read(context, walks)} {form.what} Whether this is why they fail is not shown." if form is not None else ""
    )
    named, recorded = listed_places(group), _recorded(context, walks)
    against = " beside a passing repeat" if beside else ""
    and_record = "" if recorded else ", and have the verifier record why it rejects a rollout"
    return FindingDraft(
        title="Failing outputs look different from passing ones" if form is not None else "No cause found in the files",
        what=f"Nothing in the files decides {how_often(group, context.partition.table.height)}.{told}"
        f"{recorded}{_measured(context, walks)}{_more(context, walks)}",
        fix=f"Read {named}{against}{and_record}",
        brief="failures without a cause",
        kind="verifier",
        owner=READER,
        where=form.where if form is not None else tuple(_parting(task, context) for task in beside.tasks[:2]),
        support=Support.UNCLEAR,
        estimable=False,
    )


def listed_places(group: FailureGroup) -> str:
    """The first three rollouts of a group: `a#0, b#0 and c#0`."""
    named = group.failing.named(MOST_READ)
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


class _Form(Struct, frozen=True, kw_only=True):
    """How failing outputs begin or end otherwise than passing ones."""

    what: str
    where: tuple[QuotedSentence, ...]


def _read(context: RunContext, failing: Sequence[AlignedTrajectory]) -> str:
    """Of how many rollouts the outputs were read, since not all are."""
    passes = int(context.rollouts.passed.sum())
    read = sum(walk.passed for walk in context.reading.walks.values())
    return f"The last messages of {read:,} of {passes:,} passing rollouts and of {len(failing):,} of these were read."


def _form(context: RunContext, failing: Sequence[AlignedTrajectory]) -> _Form | None:
    """A word with which passing outputs begin, or their last line, and failing ones do not, or the reverse.

    With fewer passes than `FEWEST` all failures must share it, and no pass.
    """
    passing = [walk for walk in context.reading.walks.values() if walk.passed]
    if len(failing) < FEWEST or not passing:
        return None
    for at_end, pick in ((False, _first_word), (False, _preamble), (True, _last_word)):
        won, lost = [pick(walk) for walk in passing], [pick(walk) for walk in failing]
        for word in sorted({*won, *lost} - {""}):
            more_often = lost.count(word) / len(lost) - won.count(word) / len(won)
            if more_often >= 1 or (abs(more_often) >= TELLING and len(passing) >= FEWEST):
                bad = failing[[one == word for one in lost].index(more_often > 0)]
                good = _beside(
                    bad, [w for w, one in zip(passing, won, strict=True) if (one == word) == (more_often < 0)]
                )
                return _Form(what=_counted(word, at_end, won, lost), where=(_apart(bad, good, at_end),))
    return None


def _beside(failing: AlignedTrajectory, passing: Sequence[AlignedTrajectory]) -> AlignedTrajectory:
    """Of the passing rollouts one of the same task, else the first."""
    mine = failing.rollout.key.task_id
    return next((walk for walk in passing if walk.rollout.key.task_id == mine), passing[0])


def _counted(word: str, at_end: bool, won: Sequence[str], lost: Sequence[str]) -> str:
    """How many outputs of each side begin or end with a word."""
    shown = "a code fence" if word.startswith(_FENCE) else f'"{quotes.shown(word, 30)}"'
    where = "end with a line that begins" if at_end else "begin with"
    return (
        f"{won.count(word):,} of {len(won):,} passing ones {where} {shown}, and {lost.count(word):,} of "
        f"{len(lost):,} failing ones."
    )


def _apart(failing: AlignedTrajectory, passing: AlignedTrajectory, at_end: bool) -> QuotedSentence:
    """Two outputs side by side, in the words that were compared."""
    found = [(walk, evidence) for walk in (failing, passing) if (evidence := _edge(walk, at_end)) is not None]
    said = [f'{walk.place} {_how(walk, at_end)} (:{evidence.step}) "{evidence.quote}"' for walk, evidence in found]
    return f"{'; passing '.join(said)}." if said else "", tuple(evidence for _, evidence in found)


def _how(walk: AlignedTrajectory, at_end: bool) -> str:
    fenced = "a code fence and " if _last_message(walk).startswith(_FENCE) else ""
    return "ends with" if at_end else f"begins with {fenced}".rstrip()


def _edge(walk: AlignedTrajectory, at_end: bool) -> Evidence | None:
    """The last line of the last message, or its beginning, after a fence that it begins with."""
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    if last is None:
        return None
    text = last.text.strip()
    if at_end:
        text = text.rpartition("\n")[2]
    elif text.startswith(_FENCE):
        text = text.partition("\n")[2]
    quote = text.strip()[:LONGEST_EDGE].strip()
    return Evidence(key=walk.rollout.key, step=last.index, field="text", quote=quote) if quote else None


def _recorded(context: RunContext, failing: Sequence[AlignedTrajectory]) -> str:
    """Words of the rows that these have and passes have not."""
    found = (
        recorded_words([walk for walk in context.reading.walks.values() if walk.passed], failing) if failing else None
    )
    if found is None:
        return ""
    mine, theirs = (
        ", ".join(f"{quotes.worded(word, 40)} in {times:,}" for word, times in list(side.items())[:MOST_READ])
        for side in (found.failing, found.passing)
    )
    return (
        f" The rows record `{found.field}`: {mine} of the {len(failing):,} that were read; {theirs} of the "
        f"{sum(found.passing.values()):,} passing ones."
    )


def _measured(context: RunContext, failing: Sequence[AlignedTrajectory]) -> str:
    """A number of the rows that parts the passes that were read from these failures."""
    found = deciding([walk for walk in context.reading.walks.values() if walk.passed], failing)
    if found is None:
        return ""
    won, lost = (f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in (found.passing, found.failing))
    return (
        f" One number separates them, whatever it measures: `{found.field}` is {won} in the {found.passes:,} passing "
        f"rollouts that were read and {lost} in {found.failures:,} of these."
    )


def _more(context: RunContext, failing: Sequence[AlignedTrajectory]) -> str:
    """Calls and time of these against passing rollouts, where they are a multiple."""
    passing = [walk for walk in context.reading.walks.values() if walk.passed]
    if len(failing) < FEWEST or len(passing) < FEWEST:
        return ""
    said = []
    for name, values in (
        ("calls", [[float(len(walk.calls)) for walk in side] for side in (failing, passing)]),
        ("seconds", [[walk.rollout.seconds for walk in side if walk.rollout.seconds] for side in (failing, passing)]),
    ):
        mine, theirs = (median(side) if side else 0.0 for side in values)
        if theirs > 0 and mine >= OFTEN * theirs:
            said.append(f"{mine:,.0f} {name} (median), passing ones {theirs:,.0f}")
    return f" They take {' and '.join(said)}." if said else ""


def _first_word(walk: AlignedTrajectory) -> str:
    """The word of form with which the last message begins; empty where it begins with plain words."""
    word = (_last_message(walk).split(maxsplit=1) or [""])[0]
    return word if _FORM.match(word) else ""


def _preamble(walk: AlignedTrajectory) -> str:
    """The first line of a last message that goes on after it."""
    line, _, rest = _last_message(walk).strip().partition("\n")
    return line.strip() if rest.strip() and len(line) <= LONGEST_EDGE else ""


def _last_word(walk: AlignedTrajectory) -> str:
    """The word of form with which the last line begins."""
    word = last_text(walk).strip().rpartition("\n")[2].split(" ")[0]
    return word if _FORM.match(word) else ""


def _last_message(walk: AlignedTrajectory) -> str:
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    return last.text if last is not None else ""


def _parting(task: str, context: RunContext) -> QuotedSentence:
    """The answers of both sides where there are answers, else the clearest divergence."""
    walks = context.reading.of(task)
    lost = next((walk for walk in walks if not walk.passed and walk.rollout.answer), None)
    won = next((walk for walk in walks if walk.passed and walk.rollout.answer), None)
    if lost is not None and won is not None:
        found = [one for one in (answer_evidence(lost.rollout), answer_evidence(won.rollout)) if one is not None]
        said = [quotes.shown(" ".join((walk.rollout.answer or "").split()), 110) for walk in (lost, won)]
        return f"{lost.place} answers `{said[0]}`; passing {won.place} answers `{said[1]}`.", tuple(found)
    best = max(context.contrasts[task].divergences, key=clarity, default=None)
    return divergence_in_words(best) if best is not None else ("", ())


def by_giving_up(context: RunContext, groups: Sequence[FailureGroup]) -> tuple[FailureGroup, FindingDraft] | None:
    """Failures that end on an error; None where they all lack one tool, which is a finding of its own."""
    gave_up = [
        (group, _giving_up(group, context))
        for group in groups
        if group.mode in ("no-action", "action-missing", "partial-actions")
    ]
    mine = [(group, walks) for group, walks in gave_up if walks]
    if len(mine) < 2:
        return None
    walks = list({walk.place: walk for _, found in mine for walk in found}.values())
    rollouts = context.rollouts
    failing = at(rollouts, [(walk.rollout.key.task_id, walk.repeat) for walk in walks])
    alone = rollouts.marked(*(group.alone.rows for group, _ in mine))
    group = FailureGroup(
        mode="gave-up",
        failing=failing,
        passing=none(rollouts),
        alone=failing.only(alone),
    )
    fix, brief, kind = AFTER_AN_ERROR
    return group, FindingDraft(
        title="Gives up after a failed call",
        what=f"{_how_many(failing, context)} end on a failed call while a required one is missing: {_tools(mine)}."
        f"{by_mode(failing, context)}",
        fix=fix,
        brief=brief,
        kind=kind,
        owner=kind,
        where=tuple(_gave_up(walk) for walk in walks[:MOST_SHOWN]),
    )


def _giving_up(group: FailureGroup, context: RunContext) -> list[AlignedTrajectory]:
    return [walk for walk in context.read(group.failing) if reason(walk, group.name) == GAVE_UP]


def _tools(mine: Sequence[tuple[FailureGroup, list[AlignedTrajectory]]]) -> str:
    names = [f"`{group.name}` in {len(walks)}" for group, walks in mine]
    return ", ".join(names[:MOST_TOOLS]) + (f" and {len(names) - MOST_TOOLS} more" if len(names) > MOST_TOOLS else "")


def _gave_up(walk: AlignedTrajectory) -> QuotedSentence:
    """The error, and what the agent said after it."""
    last = walk.calls[-1]
    result = walk.result_of(last)
    error = quotes.of_text(walk.rollout, result, ("error",)) if result is not None else None
    words = closing(walk)
    said = f'; it ends with (:{words.step}) "{words.quote}"' if words is not None and words.step != last.index else ""
    told = f' (:{error.step}) "{error.quote}"' if error is not None else ""
    return f"{walk.place}: `{last.tool}` fails{told}{said}.", tuple(one for one in (error, words) if one is not None)


def by_guess(
    context: RunContext, doubts: Sequence[Doubt], groups: Sequence[FailureGroup]
) -> tuple[FailureGroup, FindingDraft] | None:
    """Failures with a made-up id or address; None where they are all of one argument, which is a finding of its own."""
    guessed = [doubt for doubt in doubts if doubt.code == MADE_UP]
    rollouts = context.rollouts
    failing = at(rollouts, [place for doubt in guessed for place in doubt.places])
    made_up = rollouts.marked(failing.rows)
    mine = [group for group in groups if group.mode == "wrong-argument" and group.failing.only(made_up)]
    if len(mine) < 2:
        return None
    alone = rollouts.marked(*(group.alone.rows for group in mine))
    group = FailureGroup(
        mode="guess",
        failing=failing,
        passing=none(rollouts),
        alone=failing.only(alone),
    )
    return group, FindingDraft(
        title="Makes up ids and addresses instead of looking them up",
        what=f"{_how_many(failing, context)} pass a value that appears in nothing the agent had seen, as {_arguments(mine)}."
        f"{by_mode(failing, context)}",
        fix="Have the agent look up ids and addresses before a call, and have the harness reject a value that no message "
        "and no result contains",
        brief="ids and addresses looked up before they are used",
        kind="harness",
        owner="harness",
        where=tuple(_guessed(doubt) for doubt in guessed[:MOST_SHOWN]),
    )


def _arguments(groups: Sequence[FailureGroup]) -> str:
    names = [f"`{group.detail}` of `{group.name}`" for group in groups]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _guessed(doubt: Doubt) -> QuotedSentence:
    return doubt.message.partition(": ")[2] + ".", doubt.evidence


def by_shut_out(context: RunContext) -> tuple[FailureGroup, FindingDraft] | None:
    """The failures that were read and close so; None where passing ones do too, or only one does."""
    walks = context.reading.walks.values()
    lost = [walk for walk in walks if not walk.passed and _is_shut_out(walk)]
    if len(lost) < FEWEST_ALIKE or any(_is_shut_out(walk) for walk in walks if walk.passed):
        return None
    rollouts = context.rollouts
    places = at(rollouts, [(walk.rollout.key.task_id, walk.repeat) for walk in lost])
    alone = places.only(rollouts.marked(context.in_mode(*_UNJUDGED).rows))
    group = FailureGroup(mode="shut-out", failing=places, passing=none(rollouts), alone=alone)
    return group, FindingDraft(
        title="A login, a CAPTCHA or a block keeps the agent out",
        what=f"{_how_many(places, context)} end with the agent saying so; no passing rollout that was read does."
        f"{by_mode(places, context)}",
        fix="Give the agent access to these pages or another source, and rerun these rollouts before drawing conclusions "
        "about the model",
        brief="pages that keep the agent out",
        kind="harness",
        owner="environment",
        where=tuple(_closing(walk) for walk in lost[:2]),
        support=Support.CONSISTENT,
        estimable=False,
    )


def _is_shut_out(walk: AlignedTrajectory) -> bool:
    text = final_text(walk.steps)
    return len(text) <= LONGEST_REPORT and _WALL.search(text) is not None and _KEPT_OUT.search(text) is not None


def _closing(walk: AlignedTrajectory) -> QuotedSentence:
    last = next(
        step for step in reversed(walk.steps) if step.party == "agent" and step.kind == "message" and step.text.strip()
    )
    found = _WALL.search(last.text)
    evidence = quotes.of_text(walk.rollout, last, (found[0],) if found is not None else ())
    said = f' (:{evidence.step}) "{evidence.quote}"' if evidence is not None else ""
    return f"{walk.place} ends with{said}.", (evidence,) if evidence is not None else ()


def by_habit(context: RunContext) -> tuple[FailureGroup, FindingDraft] | None:
    """The rule about behavior that fires in most of these failures and in no pass; None where none fires in two."""
    found = max(_unexplained_habits(context).items(), key=lambda one: (len(one[1]), one[0]), default=None)
    if found is None or len(found[1]) < FEWEST_ALIKE:
        return None
    code, places = found
    rule = next(one for one in rollout_rules() if one.code == code)
    what = rule_in_words(code)
    nothing = none(context.rollouts)
    group = FailureGroup(mode="habit", subject=code, failing=places, passing=nothing, alone=nothing)
    return group, FindingDraft(
        title=_as_sentence(what),
        what=f"{_how_many(places, context)} show this ({code}), and no passing rollout does; nothing in the files decides "
        f"them otherwise.",
        fix=_as_sentence(to_do(rule)),
        brief=f"what the agent does there ({rule.name})",
        kind="prompt",
        owner="prompt",
        where=tuple(_habit_seen(walk, code) for walk in context.read(places)[:2]),
        support=Support.CONSISTENT,
    )


def _unexplained_habits(context: RunContext) -> dict[str, Refs]:
    """For each stable rule about behavior that fires in no pass: the unexplained failures in which it does."""
    rollouts, unexplained = context.rollouts, context.in_mode(UNATTRIBUTED)
    fired = ((code, rollouts.fired[code]) for code in _codes() if code in rollouts.fired)
    return {code: unexplained.only(rollouts.marked(rows)) for code, rows in fired if not rollouts.passed[rows].any()}


def _codes() -> list[str]:
    return [rule.code for rule in rollout_rules() if _is_habit(rule)]


def _is_habit(rule: Rule) -> bool:
    return rule.status == "stable" and rule.family == "behavior"


def _habit_seen(walk: AlignedTrajectory, code: str) -> QuotedSentence:
    """Where the rule fires."""
    evidence = seen_by(walk, code)
    if evidence is None:
        return f"{walk.place}.", ()
    return f'{walk.place}:{evidence.step} "{evidence.quote}".', (evidence,)


def _as_sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _how_many(places: Refs, context: RunContext) -> str:
    """`9 of 40 failures (9 tasks)`."""
    tasks, all_ = len(places.tasks), context.partition.table.height
    return f"{len(places):,} of {all_:,} failures ({tasks:,} task{'s' if tasks != 1 else ''})"


def by_mode(places: Refs, context: RunContext) -> str:
    """Which rows of the table of failures they stand in, where a finding goes across modes."""
    modes = context.partition.attributions.table[places.rows]["mode"].drop_nulls().to_list()
    named = {mode.id: mode.name for mode in context.partition.modes}
    counted = Counter(named.get(mode, mode) for mode in modes).most_common()
    if len(set(modes)) == 1 and modes[0] not in by_code():
        return ""  # a package's own mode, of which the finding is
    told = "; ".join(f'{times:,} under "{name}"' for name, times in counted)
    return f" The table of failures lists {told}." if told else ""
