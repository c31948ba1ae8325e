"""The quote that shows why a rollout is in its mode."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from msgspec.structs import replace

from blade.evidence import provenance, quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.contrast import DECLINING, words_of
from blade.evidence.differences import ENVIRONMENT, EVERY_TEST, LOG_FIELD, OF_A_TEST, environment_says
from blade.evidence.in_words import answer, closing
from blade.evidence.templates import telling
from blade.ingest.fields import BY_NAME, is_judge
from blade.model.finding import Difference, Differs, Evidence
from blade.model.pattern import pattern_of
from blade.model.rollout import Rollout
from blade.rules.engine import detect
from blade.rules.hits import find

SHORT_WORD = 30
_BECAUSE = ("because", "differ", "not ", "however", "instead", "incorrect", "wrong", "missing")
_OWN_CHECK = pattern_of(
    r"\b\d+ passed\b(?!.*\b\d+ failed)|\bAll tests passed\b|\bRan \d+ tests? in [\d.]+s\s+OK\b", re.IGNORECASE
)
_AT_A_STEP = (Differs.ARGUMENT, Differs.UNWANTED, Differs.EXTRA, Differs.REFUSED)


def shown_by(walk: AlignedTrajectory, mode: str) -> Evidence | None:
    """A quote for a mode: the call that differs, the verifier's words, the answer, or what the agent said last."""
    kind, _, rest = mode.partition(":")
    if kind == "said":
        return said(walk, rest.partition(": ")[0])
    if kind == "broken":
        return seen_by(walk, rest)
    if mode == "judged-wrong":
        return judge_words(walk)
    if kind == "check" or mode.endswith(("-check", "-checks")):
        return check(walk, rest) or closing(walk)
    if mode.startswith("answer-"):
        return answer(walk.rollout) or closing(walk)
    if mode in ("no-change", "part-way", "not-said"):
        return declined(walk) if mode == "no-change" else closing(walk)
    if mode.startswith("cut-"):
        return stopped(walk) or closing(walk)
    if mode in (
        "no-verdict",
        "undecided",
        "verifier-failed",
        "no-answer",
        "not-extracted",
        "several-answers",
        "machinery",
    ):
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
        if found is not None:
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
