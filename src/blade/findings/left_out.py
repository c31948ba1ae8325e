"""Changes that were due and not made, and what stood in their way."""

from __future__ import annotations

import re
from collections import Counter

from blade.attribution.groups import FailureGroup
from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import FindingDraft, QuotedSentence, RunContext
from blade.evidence.contrast import DECLINING, Narrower, due_ids, left_out_in_words, narrower
from blade.evidence.in_words import failure_in_words
from blade.evidence.simulated_user import hung_up, withdrew
from blade.findings.examples import examples, last_text, verb
from blade.model.finding import Differs, Evidence
from blade.model.pattern import pattern_of

_DONE = pattern_of(r"successfully|(?:has|have) been (?!transferred)|\bis now\b|\bare now\b")
_NOT = pattern_of(r"\b(?:not|cannot|can't|unable|unfortunately|transfer\w*|skip\w*|remain\w*)\b")

GAVE_UP = "gave up"
AFTER_AN_ERROR = (
    "after an error have the agent read what it says, mend the call and try again, or take another way, before it closes",
    "what to do after an error",
    "prompt",
)
"""What to do about giving up: the remedy, in half a line, and its kind."""
REASONS = {
    "silent": "{n} call{s} nothing at all",
    "hung up": "in {n} the user gives the go-ahead and ends the talk",
    "withdrew": "in {n} the user takes the wish back",
    "refused": "{n} tr{ies} and {is} refused",
    GAVE_UP: "{n} give{s} up after an error",
    "declined": "{n} decline{s}",
    "handed over": "{n} hand{s} the user over",
    "partly": "{n} make{s} only some of those that are due",
    "left": "{n} leave{s} it undone",
}
"""What stood in the way of a change that was due, first match, and how that is said."""


def left_out(group: FailureGroup, context: RunContext) -> FindingDraft:
    """A change that was due and not made, whether others were made or none."""
    walks = context.read(group.failing)
    why = {walk.place: reason(walk, group.name) for walk in walks}
    counts = Counter(why.values())
    told = [_said(name, counts[name]) for name in REASONS if counts[name]]
    claims = sum(claims_done(walk, group.name) for walk in walks)
    told += (
        [f"{claims} claim{'s' if claims == 1 else ''} in the end that it was done, which is no proof"] if claims else []
    )
    commonest = max(REASONS, key=lambda name: counts[name]) if counts else "left"
    picks = _picking(group, context, walks) if commonest in ("partly", "left") else None
    fix, brief, kind = _by_query(picks) if picks is not None else _remedy(commonest, group.name)
    return FindingDraft(
        title=f"It does not make every `{group.name}` call that is due",
        what=f"{group.failing.in_words} {verb(group, 'lack')} one that the key has"
        f"{f'; of {len(walks)} read, ' + ', '.join(told) if told else ''}.{_told(picks)}",
        fix=fix,
        brief=brief,
        kind=kind,
        where=_where(group, context, walks),
    )


def _picking(group: FailureGroup, context: RunContext, walks: list[AlignedTrajectory]) -> Narrower | None:
    """Whether the failing repeats pick from results what the passing ones ask for."""
    return narrower(walks, context.passing_repeats(group.failing))


def _told(picks: Narrower | None) -> str:
    if picks is None:
        return ""
    return (
        f" `{picks.tool}` is given `{picks.argument}` in {picks.passing_with} of {picks.passing} passing repeats and in "
        f"{picks.failing_with} of {picks.failing} failing ones, which pick from what it returns."
    )


def _by_query(picks: Narrower) -> tuple[str, str, str]:
    fix = f"have the agent narrow `{picks.tool}` by `{picks.argument}` instead of picking from its results in its head"
    return fix, f"`{picks.tool}` narrowed by `{picks.argument}`", "prompt"


def _where(group: FailureGroup, context: RunContext, walks: list[AlignedTrajectory]) -> tuple[QuotedSentence, ...]:
    """Rollouts in which the user ended it are shown by the user's words; the rest as in any group."""
    by_user = [(walk, found) for walk in walks if (found := hung_up(walk) or withdrew(walk)) is not None]
    if len(by_user) * 2 > len(walks):
        return tuple((f'{w.place}: the user says (:{e.step}) "{e.quote}".', (e,)) for w, e in by_user[:2])
    refused = [(walk, found) for walk in walks if (found := _error(walk, group.name)) is not None]
    if len(refused) * 2 > len(walks):
        return tuple((f'{w.place}: `{group.name}` is refused (:{e.step}) "{e.quote}".', (e,)) for w, e in refused[:2])
    return examples(group, context)


def _error(walk: AlignedTrajectory, tool: str) -> Evidence | None:
    """What the tool said when it refused the call."""
    results = (walk.result_of(call) for call in walk.calls if call.tool == tool)
    refusal = next((result for result in results if result is not None and result.failed), None)
    return quotes.of_text(walk.rollout, refusal, ("error",)) if refusal is not None else None


def reason(walk: AlignedTrajectory, tool: str) -> str:
    """Why a rollout lacks a call of `tool` that was due: the first of `REASONS` that fits."""
    if not walk.calls:
        return "silent"
    if hung_up(walk) is not None:
        return "hung up"
    if withdrew(walk) is not None:
        return "withdrew"
    if "is refused" in left_out_in_words(walk, tool):
        return "refused"
    if _ended_on_an_error(walk):
        return GAVE_UP
    text, evidence = failure_in_words(walk, tool)
    if evidence and " says " in text and any(word in evidence[0].quote.lower() for word in DECLINING):
        return "declined"
    if "transfer" in (walk.calls[-1].tool or ""):
        return "handed over"
    return "partly" if any(one.kind == Differs.MISSING for one in walk.differs) else "left"


def _ended_on_an_error(walk: AlignedTrajectory) -> bool:
    """Whether the last call of a rollout failed, and no other followed."""
    result = walk.result_of(walk.calls[-1])
    return result is not None and result.failed


def _said(name: str, n: int) -> str:
    one = n == 1
    return REASONS[name].format(n=n, s="s" if one else "", ies="ies" if one else "y", **{"is": "is" if one else "are"})


def claims_done(walk: AlignedTrajectory, tool: str) -> bool:
    """Whether the agent's last words say of the very thing that was due, in one sentence, that it was done."""
    names = due_ids(walk, tool)
    sentences = re.split(r"[.!?\n]", last_text(walk).lower())
    return any(_DONE.search(s) and not _NOT.search(s) and any(name.lower() in s for name in names) for s in sentences)


def _remedy(reason_: str, tool: str) -> tuple[str, str, str]:
    if reason_ == "declined":
        fix = f"set these refusals of `{tool}` against the agent's instructions: it reads them wrongly, or the key goes against them"
        return fix, f"the refusals of `{tool}`", "prompt"
    if reason_ == "refused":
        return f"say in the prompt what to do when `{tool}` returns that error", f"the errors of `{tool}`", "prompt"
    if reason_ == GAVE_UP:
        return AFTER_AN_ERROR
    if reason_ in ("hung up", "withdrew"):
        fix = "have the simulated user wait until its wish is carried out, and run these tasks again"
        return fix, "the user simulator", "harness"
    fix = f"have the agent list what the user asked for and, before it closes, the call that did each; `{tool}` is left out"
    return fix, f"a list of what is due before closing, for `{tool}`", "prompt"
