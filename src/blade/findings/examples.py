"""Quotes and sentences that show a point: why a rollout is in its mode, where two repeats part, what a failing one said."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Set

from msgspec.structs import replace

from blade.evidence import provenance, quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import QuotedSentence, RunContext
from blade.evidence.contrast import DECLINING, words_of
from blade.evidence.differences import ENVIRONMENT, EVERY_TEST, LOG_FIELD, OF_A_TEST, environment_says
from blade.evidence.in_words import answer, closing, failure_in_words, short
from blade.evidence.templates import telling
from blade.findings.groups import FailureGroup
from blade.ingest.fields import BY_NAME, is_judge
from blade.model.diagnosis import Divergence
from blade.model.finding import Difference, Differs, Evidence
from blade.model.pattern import pattern_of
from blade.model.rollout import Rollout
from blade.rules.engine import detect
from blade.rules.hits import find
from blade.stats.rollout_index import Ref

CLOSE = 6
"""Steps between words and the act that they explain."""
SHORT_WORD = 30
_BECAUSE = ("because", "differ", "not ", "however", "instead", "incorrect", "wrong", "missing")
_OWN_CHECK = pattern_of(
    r"\b\d+ passed\b(?!.*\b\d+ failed)|\bAll tests passed\b|\bRan \d+ tests? in [\d.]+s\s+OK\b", re.IGNORECASE
)
_AT_A_STEP = (Differs.ARGUMENT, Differs.UNWANTED, Differs.EXTRA, Differs.REFUSED)


def examples(group: FailureGroup, context: RunContext) -> tuple[QuotedSentence, ...]:
    """A divergence that shows the difference, then a second one of another task; else what failing rollouts did."""
    telling = _telling(group, context)[:2]
    shown = [one.task_id for one in telling]
    others: dict[str, AlignedTrajectory] = {}
    for walk in context.read(group.alone or group.failing):
        if walk.rollout.key.task_id not in shown:
            others.setdefault(walk.rollout.key.task_id, walk)
    rest = [failure_in_words(walk, group.name) for walk in list(others.values())[: 2 - len(telling)]]
    return tuple(one for one in (*map(divergence_in_words, telling), *rest) if one[0])


def _telling(group: FailureGroup, context: RunContext) -> list[Divergence]:
    """Divergences that show the group's difference, the clearest of each task, clearest first."""
    mine = group.failing.within(context.contrasts)
    failing, found = set(mine), []
    for task in mine.tasks:
        fitting = [d for d in context.contrasts[task].divergences if _shows(d, group.name, failing)]
        found += [max(fitting, key=clarity)] if fitting else []
    return sorted(found, key=lambda one: -clarity(one))


def _shows(divergence: Divergence, name: str, failing: Set[Ref]) -> bool:
    return f"`{name}" in divergence.what and (divergence.task_id, divergence.failing) in failing


def clarity(one: Divergence) -> float:
    """How well a divergence shows its point: each side gives its reason, close to the act, from a shared start."""
    said, act, instead = one.failed.before, one.failed.evidence, one.passed.evidence
    words = words_of(one.what)
    score = min(one.shared, 2) + (2.0 if act is not None else 0.0)
    if said is not None:
        near = act is not None and (act.step or 0) - (said.step or 0) <= CLOSE
        score += 2 * quotes.reasons(said.quote) + quotes.weight(said.quote, words) / 2 + (2 if near else 0)
    if instead is not None:
        score += 2 * quotes.reasons(instead.quote) + quotes.weight(instead.quote, words) / 2
    return score


def divergence_in_words(one: Divergence) -> QuotedSentence:
    """`Task 39: 39#1:6 says "...", then calls cancel_reservation (:8), which the key has not; passing 39#0:4 says "...".`"""
    passed, failed = one.passed, one.failed
    said = failed.before if failed.before is not None and _is_close(failed.before, failed.evidence) else None
    fail, win = f"{one.task_id}#{one.failing}", f"{one.task_id}#{one.passing}"
    text = f'{fail}:{said.step} says "{said.quote}", then {one.what}' if said is not None else f"{fail} {one.what}"
    if failed.evidence is not None:
        text += f" (:{failed.evidence.step}{short(failed.evidence)})"
    if passed.evidence is not None:
        text += f"; passing {win}:{passed.evidence.step} {passed.did}{short(passed.evidence)}"
    found = tuple(piece for piece in (said, failed.evidence, passed.evidence) if piece is not None)
    return f"Task {one.task_id}: {text}.", found


def _is_close(said: Evidence, act: Evidence | None) -> bool:
    return act is not None and (act.step or 0) - (said.step or 0) <= CLOSE


def last_text(walk: AlignedTrajectory) -> str:
    """The end of the agent's last message."""
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    return last.text[-4_000:] if last is not None else ""


def verb(group: FailureGroup, word: str) -> str:
    """The verb that goes with the group's rollouts."""
    return word + "s" if len(group.failing) == 1 else word


def shown_by(walk: AlignedTrajectory, mode: str) -> Evidence | None:
    """A quote for a mode: the call that differs, the verifier's words, the answer, or what the agent said last."""
    if mode in ("no-action", "action-missing", "refused"):
        return declined(walk)
    if mode == "judged-wrong":
        return judge_words(walk)
    if mode.endswith(("-check-failed", "-checks-failed")) or mode == "regression":
        return check(walk, "") or closing(walk)
    if mode in ("wrong-answer", "correct-but-rejected", "several-answers", "inconsistent-verdict"):
        return answer(walk.rollout) or closing(walk)
    if mode in ("partial-actions", "statement-missing"):
        return closing(walk)
    if mode.endswith("-limit") or mode == "too-slow":
        return stopped(walk) or closing(walk)
    if mode in ("no-verdict", "grader-crashed", "run-error", "output-missing", "wrong-format"):
        return next(_words(walk), None) or closing(walk)
    step = next((one for one in walk.differs if one.kind in _AT_A_STEP and one.step is not None), None)
    return call(walk, step) if step is not None else closing(walk)


def seen_by(walk: AlignedTrajectory, code: str) -> Evidence | None:
    """The words in which a rule sees what it looks for."""
    hit = next((one for one in detect(walk.rollout).hits if one.code == code and one.length), None)
    return in_row(walk.rollout, find(walk.rollout, hit)) if hit is not None else None


def call(walk: AlignedTrajectory, difference: Difference) -> Evidence | None:
    """The call that differs: of an argument, the value that was given."""
    made = walk.call_at(difference.step, difference.name)
    if made is None:
        return None
    for wrong in walk.pairing.wrong if difference.kind == Differs.ARGUMENT else ():
        if wrong.made.step.index == difference.step and difference.detail in wrong.names:
            name, _, given = provenance.first_difference(
                difference.detail,
                wrong.due.arguments.get(difference.detail),
                wrong.made.arguments.get(difference.detail),
            )
            return quotes.of_call(walk.rollout, made, given, name)
    return quotes.of_call(walk.rollout, made)


def said(walk: AlignedTrajectory, field: str) -> Evidence | None:
    """The line of a verifier's field that tells most."""
    if field == EVERY_TEST:
        return check(walk, "")
    if field == ENVIRONMENT:
        heard = environment_says(walk.rollout)
        return quotes.of_text(walk.rollout, heard) if heard is not None else None
    found = next((one for one in walk.due.said if one.field == field or one.field.startswith(f"{field}.")), None)
    if found is None:
        return None
    field = found.field
    if is_judge(field):
        return quotes.of_row(walk.rollout, field, quotes.telling_sentence(found.text, _BECAUSE))
    start, end = telling(found.text)
    return quotes.of_row(walk.rollout, field, found.text[start:end])


def _words(walk: AlignedTrajectory) -> Iterator[Evidence]:
    told = [
        one for kind in (Differs.ERROR, Differs.NO_RECORD) for one in walk.differs if one.kind == kind and one.detail
    ]
    for one in told:
        found = said(walk, one.name)
        if found is not None:
            yield found


def check(walk: AlignedTrajectory, name: str) -> Evidence | None:
    """What the verifier wrote about a test or criterion that failed."""
    failed = [one for one in walk.due.checks if not one.passed and one.name.startswith(name) and one.words_field]
    for one in failed:
        start, end = telling(one.words)
        found = quotes.of_row(walk.rollout, one.words_field, one.words[start:end])
        if found is not None and len(found.quote.split()) > 1:
            return found
    return None


def judge_words(walk: AlignedTrajectory) -> Evidence | None:
    """The reason that a judge gives, in its own words."""
    spoken = (one for one in walk.due.said if is_judge(one.field) and len(one.text) > SHORT_WORD)
    reply = next(spoken, None)
    if reply is None:
        return None
    return quotes.of_row(walk.rollout, reply.field, quotes.telling_sentence(reply.text, _BECAUSE))


def self_check(walk: AlignedTrajectory) -> Evidence | None:
    """A check of the agent's own that passed, by a tool's result; it says nothing of the verifier's."""
    for step in reversed(walk.steps):
        match = _OWN_CHECK.search(step.text) if step.kind == "result" and not step.failed else None
        if match is not None:
            return quotes.holding(walk.rollout, step, match[0])
    return None


def stopped(walk: AlignedTrajectory) -> Evidence | None:
    """What says why the rollout ended: the tests that its program was too slow for, a field, or the stop word."""
    cut = next((one for one in walk.differs if one.kind == Differs.CUT and one.detail != "stop"), None)
    if cut is not None and cut.name == OF_A_TEST:
        return check(walk, "") or said(walk, _log(walk))
    if cut is not None:
        return said(walk, cut.detail)
    quote = walk.rollout.stop
    return in_row(walk.rollout, Evidence(key=walk.rollout.key, step=None, field="stop", quote=quote)) if quote else None


def _log(walk: AlignedTrajectory) -> str:
    """The field that holds the log of the tests."""
    return next((one.field for one in walk.due.said if LOG_FIELD.search(one.field)), "")


def in_row(rollout: Rollout, evidence: Evidence) -> Evidence | None:
    """Evidence of a rollout's own field under the name that the row gives it; None when the row has it nowhere."""
    if evidence.step is not None or evidence.field not in BY_NAME:
        return evidence
    row = rollout.row
    for path in BY_NAME[evidence.field].paths:
        value: object = row
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if value is not None and evidence.quote in text:
            return replace(evidence, field=path)
    return None


def declined(walk: AlignedTrajectory) -> Evidence | None:
    """What the agent said instead of doing what was due."""
    due = next((one.name for one in walk.differs if one.kind == Differs.NOT_MADE), "")
    words = (*DECLINING, *words_of(due))
    spoken = walk.most_about(words, after=-1)
    return quotes.of_text(walk.rollout, spoken, words) if spoken is not None else None
