"""One habit behind several findings: giving up after an error, values that are made up, doors that stay shut, what no pass does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from blade.attribution.groups import Group
from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import Context, FindingDraft, VerifierText
from blade.evidence.differences import final_text
from blade.evidence.in_words import closing
from blade.evidence.refs import Refs, at, none
from blade.findings.calls import AFTER_AN_ERROR, GAVE_UP, reason
from blade.findings.examples import seen_by
from blade.model.diagnosis import NOT_EXPLAINED, Doubt, Support
from blade.model.pattern import pattern_of
from blade.rules import Rule, rules
from blade.rules.catalog import rule_in_words, to_do

MOST_SHOWN = 2
MOST_TOOLS = 3
CODE = "BEH013"
FEWEST = 2
LONGEST = 1_500
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
_UNJUDGED = ("no-answer", "declined", "no-verdict", NOT_EXPLAINED)
"""Modes that say no more than that nothing was handed in."""


def by_giving_up(context: Context, groups: Sequence[Group]) -> tuple[Group, FindingDraft] | None:
    """Failures that end on an error; None where they all lack one tool, which is a finding of its own."""
    gave_up = [(group, _giving_up(group, context)) for group in groups if group.family == "left-out"]
    mine = [(group, walks) for group, walks in gave_up if walks]
    if len(mine) < 2:
        return None
    walks = list({walk.place: walk for _, found in mine for walk in found}.values())
    rollouts = context.rollouts
    failing = at(rollouts, [(walk.rollout.key.task_id, walk.repeat) for walk in walks])
    alone = rollouts.marked(*(group.alone.rows for group, _ in mine))
    group = Group(
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
        where=tuple(_gave_up(walk) for walk in walks[:MOST_SHOWN]),
    )


def _giving_up(group: Group, context: Context) -> list[AlignedTrajectory]:
    return [walk for walk in context.read(group.failing) if reason(walk, group.name) == GAVE_UP]


def _tools(mine: Sequence[tuple[Group, list[AlignedTrajectory]]]) -> str:
    names = [f"`{group.name}` in {len(walks)}" for group, walks in mine]
    return ", ".join(names[:MOST_TOOLS]) + (f" and {len(names) - MOST_TOOLS} more" if len(names) > MOST_TOOLS else "")


def _gave_up(walk: AlignedTrajectory) -> VerifierText:
    """The error, and what the agent said after it."""
    last = walk.calls[-1]
    result = walk.result_of(last)
    error = quotes.of_text(walk.rollout, result, ("error",)) if result is not None else None
    words = closing(walk)
    said = f'; it ends with (:{words.step}) "{words.quote}"' if words is not None and words.step != last.index else ""
    told = f' (:{error.step}) "{error.quote}"' if error is not None else ""
    return f"{walk.place}: `{last.tool}` fails{told}{said}.", tuple(one for one in (error, words) if one is not None)


def by_guess(context: Context, doubts: Sequence[Doubt], groups: Sequence[Group]) -> tuple[Group, FindingDraft] | None:
    """Failures with a made-up id or address; None where they are all of one argument, which is a finding of its own."""
    guessed = [doubt for doubt in doubts if doubt.code == CODE]
    rollouts = context.rollouts
    failing = at(rollouts, [place for doubt in guessed for place in doubt.places])
    made_up = rollouts.marked(failing.rows)
    mine = [group for group in groups if group.family == "argument" and group.failing.only(made_up)]
    if len(mine) < 2:
        return None
    alone = rollouts.marked(*(group.alone.rows for group in mine))
    group = Group(
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
        where=tuple(_guessed(doubt) for doubt in guessed[:MOST_SHOWN]),
    )


def _arguments(groups: Sequence[Group]) -> str:
    names = [f"`{group.detail}` of `{group.name}`" for group in groups]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _guessed(doubt: Doubt) -> VerifierText:
    return doubt.message.partition(": ")[2] + ".", doubt.evidence


def by_shut_out(context: Context) -> tuple[Group, FindingDraft] | None:
    """The failures that were read and close so; None where passing ones do too, or only one does."""
    walks = context.reading.walks.values()
    lost = [walk for walk in walks if not walk.passed and _is_shut_out(walk)]
    if len(lost) < FEWEST or any(_is_shut_out(walk) for walk in walks if walk.passed):
        return None
    rollouts = context.rollouts
    places = at(rollouts, [(walk.rollout.key.task_id, walk.repeat) for walk in lost])
    alone = places.only(rollouts.marked(context.in_mode(*_UNJUDGED).rows))
    group = Group(family="shut-out", name="", detail="", failing=places, passing=none(rollouts), alone=alone)
    return group, FindingDraft(
        title="A login, a CAPTCHA or a block keeps it out",
        what=f"{places.in_words} end with the agent saying so, and no passing rollout that was read does.",
        fix="give the agent what these pages ask for or a way around them, and run these rollouts again before blaming "
        "the model",
        brief="pages that keep the agent out",
        kind="harness",
        where=tuple(_closing(walk) for walk in lost[:2]),
        support=Support.CONSISTENT,
        estimable=False,
    )


def _is_shut_out(walk: AlignedTrajectory) -> bool:
    text = final_text(walk.steps)
    return len(text) <= LONGEST and _WALL.search(text) is not None and _KEPT_OUT.search(text) is not None


def _closing(walk: AlignedTrajectory) -> VerifierText:
    last = next(
        step for step in reversed(walk.steps) if step.party == "agent" and step.kind == "message" and step.text.strip()
    )
    found = _WALL.search(last.text)
    evidence = quotes.of_text(walk.rollout, last, (found[0],) if found is not None else ())
    said = f' (:{evidence.step}) "{evidence.quote}"' if evidence is not None else ""
    return f"{walk.place} ends with{said}.", (evidence,) if evidence is not None else ()


def by_habit(context: Context) -> tuple[Group, FindingDraft] | None:
    """The rule about behavior that fires in most of these failures and in no pass; None where none fires in two."""
    found = max(_unexplained_habits(context).items(), key=lambda one: (len(one[1]), one[0]), default=None)
    if found is None or len(found[1]) < FEWEST:
        return None
    code, places = found
    rule = next(one for one in rules() if one.code == code)
    what = rule_in_words(code)
    nothing = none(context.rollouts)
    group = Group(family="habit", name=code, detail="", failing=places, passing=nothing, alone=nothing)
    return group, FindingDraft(
        title=f"{what[0].upper()}{what[1:]}",
        what=f"{places.in_words} ({code}), and no passing rollout. Neither a key nor a word of the verifier says more.",
        fix=to_do(rule),
        brief=f"what the agent does there ({rule.name})",
        kind="prompt",
        where=tuple(_habit_seen(walk, code) for walk in context.read(places)[:2]),
        support=Support.CONSISTENT,
    )


def _unexplained_habits(context: Context) -> dict[str, Refs]:
    """For each stable rule about behavior that fires in no pass: the unexplained failures in which it does."""
    rollouts, unexplained = context.rollouts, context.in_mode(NOT_EXPLAINED)
    fired = ((code, rollouts.fired[code]) for code in _codes() if code in rollouts.fired)
    return {code: unexplained.only(rollouts.marked(rows)) for code, rows in fired if not rollouts.passed[rows].any()}


def _codes() -> list[str]:
    return [rule.code for rule in rules() if _is_habit(rule)]


def _is_habit(rule: Rule) -> bool:
    return rule.status == "stable" and rule.family == "behavior"


def _habit_seen(walk: AlignedTrajectory, code: str) -> VerifierText:
    """Where the rule fires."""
    evidence = seen_by(walk, code)
    if evidence is None:
        return f"{walk.place}.", ()
    return f'{walk.place}:{evidence.step} "{evidence.quote}".', (evidence,)
