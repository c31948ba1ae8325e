"""What stands between a rollout and its verdict: limits, machinery, no verdict, nothing to judge."""

from __future__ import annotations

import re
from collections.abc import Sequence

from blade.attribution.groups import FailureGroup
from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext
from blade.evidence.differences import OF_A_TEST
from blade.evidence.in_words import answer as answer_evidence
from blade.evidence.in_words import closing
from blade.findings.examples import last_text, seen_by, shown_by, stopped, verb
from blade.model.finding import Differs
from blade.model.pattern import pattern_of
from blade.rules.catalog import rollout_rules, rule_in_words, to_do

_CALL_AS_TEXT = pattern_of(r"</?tool_call>|<function=|<invoke|\"tool_calls\"\s*:")
_CHANGED_FILE = pattern_of(r"^\+\+\+ b/(\S+)", re.MULTILINE)
MOST_FILES = 8
GOING_ROUND = ("BEH001", "BEH004")
"""Rules that see the same calls again and again."""
_WITHOUT_VERDICT = {
    "no-verdict": "no account of the verifier where other rollouts have one",
    "undecided": "a judge that came to no verdict",
    "verifier-failed": "the verifier's own word that it failed",
}
"""What rollouts have in place of a verdict, by mode."""


def limit(group: FailureGroup, context: RunContext) -> FindingDraft:
    """A limit of tokens, steps or time; where most of what it cuts goes round, that is the defect."""
    if group.name == OF_A_TEST:
        return _too_slow(group, context)
    going = _going_round(group, context)
    cut = f"{group.failing.in_words} {'is' if len(group.failing) == 1 else 'are'} cut by it"
    if going * 2 > len(group.failing):
        return FindingDraft(
            title=f"It goes round until the limit of {group.name}",
            what=f"{cut}; in {going} of them the same call is made over and over.",
            fix="have the harness say that a call was made before and what it returned, or stop the loop; a higher limit "
            "would not help",
            brief="calls that are made over and over",
            kind="harness",
        )
    return FindingDraft(
        title=f"The limit of {group.name} ends rollouts before they are done",
        what=f"{cut}.",
        fix=f"raise the limit of {group.name} for these tasks, or tell the agent how much is left",
        brief=f"the limit of {group.name}",
        kind="harness",
    )


def _too_slow(group: FailureGroup, context: RunContext) -> FindingDraft:
    return FindingDraft(
        title="Its program is too slow for the tests",
        what=f"{group.failing.in_words}: every test that {'it fails' if len(group.failing) == 1 else 'they fail'} runs out of time.",
        fix="say in the prompt how large the input gets and how long a test may take, or train on fast solutions",
        brief="programs that are too slow",
        kind="prompt",
        where=tuple(_slow(walk) for walk in context.read(group.failing)[:2]),
    )


def _slow(walk: AlignedTrajectory) -> QuotedSentence:
    """What the verifier says of the test that ran out of time, and how many held."""
    evidence = stopped(walk)
    met, asked = walk.due.met, walk.due.asked
    held = f" meets {met:,} of {asked:,} tests" if asked > 1 else ""
    told = f'{":" if not held else "; of one that fails the verifier says"} "{evidence.quote}"' if evidence else ""
    return f"{walk.place}{held}{told}.", (evidence,) if evidence is not None else ()


def _going_round(group: FailureGroup, context: RunContext) -> int:
    rollouts = context.rollouts
    going = rollouts.marked(*(rollouts.fired[code] for code in GOING_ROUND if code in rollouts.fired))
    return len(group.failing.only(going))


def machinery(group: FailureGroup, context: RunContext) -> FindingDraft:
    """Provider, harness, sandbox or tool backend, by their own words or by the rule that sees it."""
    if group.name:
        return _seen_by_rule(group, context)
    return FindingDraft(
        title="The machinery fails, and the rollout counts as a failure",
        what=f"{group.failing.in_words} {'carries' if len(group.failing) == 1 else 'carry'} an error of provider, harness "
        f"or sandbox and a reward all the same.",
        fix="repair it and run these rollouts again before blaming the model",
        brief="the machinery",
        kind="infrastructure",
        where=tuple(_told(walk) for walk in context.read(group.failing)[:2]),
    )


def _told(walk: AlignedTrajectory) -> QuotedSentence:
    """The error that the harness recorded, else how the rollout ends."""
    evidence = shown_by(walk, "machinery")
    if evidence is None:
        return f"{walk.place} ends without a word.", ()
    where = f"ends with (:{evidence.step})" if evidence.step is not None else f"has `{evidence.field}`:"
    return f'{walk.place} {where} "{evidence.quote}".', (evidence,)


def _seen_by_rule(group: FailureGroup, context: RunContext) -> FindingDraft:
    rule = next(one for one in rollout_rules() if one.code == group.name)
    what = rule_in_words(rule.code)
    return FindingDraft(
        title=f"{what[0].upper()}{what[1:]}, and the rollout counts as a failure",
        what=f"{group.failing.in_words} ({rule.code}); what is missing or wrong at their end is not put down to the agent.",
        fix=to_do(rule),
        brief=f"the machinery ({what})",
        kind="infrastructure",
        where=tuple(_seen(walk, rule.code) for walk in context.read(group.failing)[:2]),
    )


def _seen(walk: AlignedTrajectory, code: str) -> QuotedSentence:
    """Where a rule fired, and how the rollout ends."""
    evidence, words = seen_by(walk, code), closing(walk)
    shown = f'{walk.place}:{evidence.step} "{evidence.quote}"' if evidence is not None else walk.place
    said = f'; it ends with (:{words.step}) "{words.quote}"' if words is not None else ""
    return f"{shown}{said}.", tuple(one for one in (evidence, words) if one is not None)


def no_verdict(group: FailureGroup, context: RunContext) -> FindingDraft:
    """The verifier left no account, failed itself, or asked a judge that came to no verdict."""
    mine = context.rollouts.marked(group.failing.rows)
    found = [mode for mode in _WITHOUT_VERDICT if context.in_mode(mode).only(mine)] or ["no-verdict"]
    return FindingDraft(
        title="Rollouts without a verdict count as failures",
        what=f"{group.failing.in_words} {'has' if len(group.failing) == 1 else 'have'} "
        f"{', or '.join(_WITHOUT_VERDICT[mode] for mode in found)}, and a reward all the same.",
        fix="ask the judge again, with room for its verdict (a limit may have cut it off), and score no rollout without one"
        if found == ["undecided"]
        else "find out why the verifier did not run (a step limit, a crash), and judge them again",
        brief="the rollouts without a verdict",
        kind="harness",
    )


def no_answer(group: FailureGroup, context: RunContext) -> FindingDraft:
    """No output at all, or none that could be judged."""
    walks = context.read(group.failing)
    mute = [walk for walk in walks if any(o.kind == Differs.NO_ANSWER and o.name == "output" for o in walk.differs)]
    if walks and len(mute) == len(walks):
        return _mute(group, walks)
    written = [walk for walk in walks if walk not in mute and _CALL_AS_TEXT.search(last_text(walk))]
    said = f" In {len(written)} of {len(walks)} read the last message holds a call written as text, which nothing carried out."
    return FindingDraft(
        title="Nothing is there to judge",
        what=f"{group.failing.in_words} {verb(group, 'end')} without an answer or a patch.{said if written else ''}",
        fix="have the harness carry out or send back calls that come as text"
        if written
        else "say in the prompt how to hand in the answer, and have the harness ask once more when none came",
        brief="calls that come as text" if written else "how an answer is handed in",
        kind="harness",
    )


def _mute(group: FailureGroup, walks: Sequence[AlignedTrajectory]) -> FindingDraft:
    handed = [walk for walk in walks if walk.rollout.answer]
    said = (
        f" Of {len(walks)} read, {len(handed)} hand{'s' if len(handed) == 1 else ''} in something all the same."
        if handed
        else ""
    )
    return FindingDraft(
        title="The agent never speaks",
        what=f"{group.failing.in_words} {verb(group, 'hold')} no word and no call of the agent.{said}",
        fix="look at the harness first: the model was not asked, or what it said was not recorded",
        brief="the harness, in which the agent says nothing",
        kind="harness",
        where=tuple(_handed(walk) for walk in walks[:1]),
    )


def _handed(walk: AlignedTrajectory) -> QuotedSentence:
    if not walk.rollout.answer:
        return f"{walk.place} has no step with a word in it.", ()
    evidence = answer_evidence(walk.rollout)
    files = _CHANGED_FILE.findall(_whole_answer(walk))
    what = (
        f"a patch of {', '.join(files[:MOST_FILES])}"
        if files
        else f"`{quotes.shown(' '.join(walk.rollout.answer.split()), 100)}`"
    )
    return f"{walk.place} has no step with a word in it, and hands in {what}.", (evidence,) if evidence else ()


def _whole_answer(walk: AlignedTrajectory) -> str:
    evidence = answer_evidence(walk.rollout)
    value = walk.rollout.row.get(evidence.field) if evidence is not None else None
    return value if isinstance(value, str) else ""
