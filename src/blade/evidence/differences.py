"""One rollout against what was due: every way in which it differs, without looking at any other rollout.

This runs inside the scan, once for each judged rollout, so that the partition of failures into modes needs no second
pass. Passing rollouts are compared too: what they share with failing ones is not why those failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

import polars as pl

from blade.evidence.actions import Made, carried_out, changes, pair
from blade.evidence.answer_forms import AnswerMatch
from blade.evidence.answers import compare_answer, is_opaque
from blade.evidence.closings import final_text
from blade.evidence.templates import mask, telling
from blade.ingest.fields import HARNESS_ERRORS, MASK, REACHED, is_judge
from blade.ingest.roles.breakdowns import MACHINERY, names_a_breakdown, what_was_raised
from blade.model.expected import Due, DueCall, VerifierCheck, VerifierText
from blade.model.finding import Difference, Differs
from blade.model.rollout import JUDGED, WHOLE, Features, Outcome, Rollout, Step
from blade.model.run import Run
from blade.model.tools import changes_state

MOST = 24
"""Differences kept of one rollout."""
MOST_CHECKS = 10
MOST_WORDS = 6
SHORT = 200
"""Longer words of the verifier are read in failing rollouts only."""
LONGEST_TOLD = 4 * SHORT
"""Characters in which a harness tells of a limit or of machinery that failed."""
LONGEST_NAME = 120
LONGEST_KEY = 200
MOST_KEY_WORDS = 25
"""A key of more words is a paragraph, which nobody answers word for word."""
ABSENT = "absent"
"""How an answer compares that cannot be compared otherwise, and does not hold the key."""
_PLAIN = re.compile(r"\w+")
_A_PLACE, _A_LETTER = re.compile(r"\d"), re.compile(r"\(?[A-Ja-j]\)?")
_SET = ("true", "1", "1.0")
"""A flag that is set."""
OF_A_TEST = "program"
"""The limit of time that a test sets to the program it runs."""
EVERY_TEST = "every test"
"""Stands for the field of words that all tests of a rollout share."""
ENVIRONMENT = "environment"
"""Stands for the field of what an environment says in its turns."""
_REFUSES = re.compile(
    r"\b(?:invalid|illegal|error|not (?:a )?(?:valid|allowed|recogni[sz]ed|understood)|malformed|no .{1,30} found"
    r"|you (?:have )?(?:died|lost)|game over)\b",
    re.IGNORECASE,
)
"""How an environment says that it could not take a turn, or that it is over."""
FEWEST_TESTS = 2
_RAISED = re.compile(r"(?!AssertionError)[\w.]*(?:Error|Exception)\b")
"""An exception of the program itself, and not of what a test asserts."""
UNDECIDED = "undecided"
"""Stands for what a judge says that came to no verdict."""
GRADER, HARNESS = "grader", "harness"
"""Who failed by the words of a field that names breakdowns."""
A_JUDGE = "a judge"
"""Stands for what a judge says in sentences, which no two judgements share."""
MOST_JUDGED_WORDS = 6
_DECLINED = ("not_attempted", "no_answer", "refused", "refusal", "abstain", "abstained", "abstention")
_LONGEST_DECLINED = max(map(len, _DECLINED))

LIMITS = {
    "length": "tokens",
    "max_tokens": "tokens",
    "max_output_tokens": "tokens",
    "token_limit": "tokens",
    "token": "tokens",
    "context": "tokens",
    "context_length_exceeded": "tokens",
    "model_length": "tokens",
    "max_steps": "steps",
    "max_turns": "steps",
    "max_iterations": "steps",
    "max_num_steps": "steps",
    "step_limit": "steps",
    "message": "steps",
    "turn_limit": "steps",
    "max_step": "steps",
    "limitsexceeded": "steps",  # of steps or of what they may cost
    "steps": "steps",
    "turns": "steps",
    "rounds": "steps",
    "iterations": "steps",
    "deadline": "time",
    "agent_deadline": "time",
    "ctx": "tokens",
    "context_full": "tokens",
    "timeout": "time",
    "timed_out": "time",
    "time": "time",
    "working": "time",
    "time_limit": "time",
    "memory_limit_exceeded": "memory",
    "oom": "memory",
}
"""Words with which harnesses say that a limit ended a rollout, and which."""

_FENCE = "```"
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN = re.compile(r"[\W_]+")
_IS_LIMIT = re.compile(
    r"\b(?:max(?:imum)?|limit|exceed\w*|reached|budget|cap|exhausted|out of|ran out|too many|timed? ?out|deadline)\b"
)
_LIMITED = {
    "time": re.compile(r"\b(?:time|timed|timeout|deadline|seconds|minutes?|hours?|wall ?clock|duration)\b"),
    "memory": re.compile(r"\b(?:memory|oom)\b"),
    "steps": re.compile(r"\b(?:steps?|turns?|iterations?|rounds?|actions?|messages?|moves?|interactions?)\b"),
    "tokens": re.compile(r"\b(?:tokens?|context|length|completion|output)\b"),
}
"""What a word that speaks of a limit must hold, by limit."""
_OF_SESSION = re.compile(r"\b(?:task|agent|episode|session|conversation|dialogue) limit\b")
LOG_FIELD = re.compile(r"(?:test|run)_(?:log|output)$")
_TOO_SLOW = re.compile(
    r"\btimed[ _-]?out\b|(?<![\w-])timeout(?:error|expired|exception)?\b(?=\s*[:>(]|\s*after|\s*at\b|$)|\btime.?limit.{0,12}exceed"
    r"|\bexceeded (?:the )?time|did not (?:finish|complete|return) (?:within|in)|killed after \d|took longer than \d"
    r"|exceeded (?:the )?(?:limit of )?\d+(?:\.\d+)? ?s(?:ec|$|\b)",
    re.IGNORECASE | re.MULTILINE,
)
LONGEST_SLOW_LOG = 600
"""Characters of a log that speaks of one thing; in the log of a whole session a server may time out beside failing tests."""
_SLOW_WORDS = ("timed", "timeout", "exceed", "did not ", "killed after", "took longer than")
"""One of these stands in every text that says so: to look for them takes a hundredth of the time."""
_NO_FLAG = re.compile(r"eval|container|_(?:rate|s|secs?|seconds|ms|limit|count)$")
"""Names of limits of something else than the rollout, and of amounts that are no flags."""
_ENDED = ("error_kind", "exit_status")
"""How names of fields end that say with a word why the rollout ended."""
_TRUNCATED = ("truncated", "is_truncated", "episode_truncated")
_LIMIT_FIELD = re.compile(
    r"(?:^|[._])(?:agent_)?(?P<what>timed_out|timeout|context_length_exceeded|max_steps|memory_limit_exceeded|oom)"
)
_CONTEXT = re.compile(r"context.?(?:length|window)|maximum context|prompt is too long", re.IGNORECASE)
_TIMED_OUT = re.compile(
    r"\b(?:agent|task|solution|program|process|command)\w*.{0,20}(?:timed?.?out|timeout)|killed after \d", re.IGNORECASE
)
_STEPS_OUT = re.compile(
    r"\b(?:max(?:imum)?|exceeded|reached|ran out of)\b[^.\n]{0,30}\b(?:steps|turns|iterations?|rounds|actions)\b"
    r"|\b(?:step|turn|iteration|round|action)s? (?:limit|budget|cap)\b",
    re.IGNORECASE,
)
_PATCH = re.compile(r"git apply|corrupt patch|patch (?:does not|failed|did not|not) |hunk #?\d+ failed", re.IGNORECASE)
_MODEL_SIDE = re.compile(
    r"compil|syntax|assert|wrong.?answer|mismatch|incorrect|parse|format|invalid (?:json|answer|action)|not found in|"
    r"no such (?:column|table)|no (?:code|answer|patch|solution)\b|code block|execution_error|runtime_error|failed test|test.?fail|tool_call|max_(?:steps|turns)"
    r"|\b(?:Name|Type|Value|Index|Key|Attribute|ZeroDivision|Recursion|Overflow|UnboundLocal|Indentation|EOF|Arithmetic)Error\b",
    re.IGNORECASE,
)
"""Errors of what the model handed in, and not of the machinery."""
_VERIFIER_FIELD = re.compile(
    r"(?:verifier|judge|evaluat|eval_|grad(?:er|ing)|scor(?:er|ing))\w*?(?:error|exception|invalid|timed_out|incomplete)|invalid_judge"
)
_CRASHED = re.compile(
    r"\b(?:evaluat(?:or|ion)|verifier|grader|scorer|judge|checker)[ _-]?(?:exception|error|crash(?:ed)?|fail(?:ed|ure)|raised)\b",
    re.IGNORECASE,
)
_HANDED_IN_BADLY = re.compile(r"(?:apply|parse|extract|compile|build|syntax)\w*_(?:failed|error)$")
"""Flags of something that could not be judged for what it was."""
_KINDS_OF_FAILURE = ("failure_kind", "failure_reason", "error")
_OF_VERIFIER = re.compile(
    r"judge|verif(?:y|ier|ication)|grad(?:er|ing)|evaluat(?:or|ion)|scor(?:er|ing)", re.IGNORECASE
)
_TRACE = re.compile(r"\bTraceback \(most recent call|^\s*\w*(?:Error|Exception): ", re.MULTILINE)
_ERROR_FIELD = re.compile(r"(?:^|[._])(?:\w*_)?(?:error|exception|failure)\w*(?:[._]|$)")

_COMPARED = {match: Difference(kind=Differs.ANSWER, name=match.value) for match in AnswerMatch}
_ABSENT = Difference(kind=Differs.ANSWER, name=ABSENT)


def differences(rollout: Rollout) -> tuple[Difference, ...]:
    """How a judged rollout differs from what was due; empty for other outcomes and where nothing can be compared."""
    if rollout.outcome not in JUDGED:
        return ()
    due = rollout.due
    failed = rollout.outcome is Outcome.FAILED
    tells = any(map(_may_tell, due.said)) if due.said else False
    limits = limits_of(rollout, due) if tells or rollout.stop != WHOLE else []
    found = [*limits, *_output(rollout, due)] if tells or not _is_answered(rollout.features) else [*limits]
    machinery = list(_machinery(due, rollout)) if tells else []
    found += [*machinery, *_records(due)] if machinery or due.empty_records or due.undecided else []
    if due.said:
        found += _words(due, failed)
    if tells and not limits and not machinery:
        found += _masked(due)
    if (heard := environment_says(rollout)) is not None:
        found.append(Difference(kind=Differs.SAID, name=ENVIRONMENT, detail=_template(heard.text), step=heard.index))
    if due.calls is not None:
        found += [*_actions(rollout, due), *_statements(rollout, due)]
    elif due.answer is not None and not (found and any(one.name == "declined" for one in found)):
        found += _answer(rollout, due.answer, due.extracts) if failed else _lacking(rollout, due.answer)
    if due.checks and not _is_verdict_on_calls(due):
        lost = [check for check in due.checks if not check.passed]
        found += [*_slow(due, lost), *_cannot_run(due), *_checks(lost)] if lost else []
    if rollout.features is not None and rollout.features.calls and rollout.offered:
        found += _refused(rollout)
    return tuple(found) if len(found) < 2 else tuple(islice(dict.fromkeys(found), MOST))


def _may_tell(said: VerifierText) -> bool:
    """Whether words may name a limit, a refusal or machinery that failed: long ones tell of the work that was handed in."""
    if said.recorded or len(said.text) <= LONGEST_TOLD or len(said.text.strip()) <= LONGEST_TOLD:
        return True
    return said.field == MASK or said.field in REACHED or _is_of_verifier(said.field)


def _is_answered(features: Features | None) -> bool:
    """Whether the agent acted and an answer of it is recorded."""
    return features is not None and features.answered and (features.agent_messages > 0 or features.calls > 0)


def environment_says(rollout: Rollout) -> Step | None:
    """The turn that ends a talk without tools and without a simulated user, where it reports an error or an end."""
    last = rollout.steps[-1] if rollout.steps else None
    if last is None or last.party != "user" or last.kind != "message" or len(last.text) > SHORT:
        return None
    if rollout.features is None or rollout.features.calls or rollout.due.script:
        return None
    return last if _REFUSES.search(last.text) else None


def limits_of(rollout: Rollout, due: Due) -> list[Difference]:
    """The limits that ended a rollout, each with the field that says so."""
    stopped_by = limit_word(rollout.stop) if rollout.stop else None
    if stopped_by is None and not due.said:
        return []
    limits = [(stopped_by, "stop")]
    if due.said:
        limits += [
            (_limit_of(said, rollout.answered_at_once) or _cut_short(said, rollout), said.field) for said in due.said
        ]
    if ("tokens", "stop") in limits and due.checks and _program_is_whole(rollout):
        limits.remove(("tokens", "stop"))
    if rollout.answered_at_once:
        # Who answers in one message is through; what runs out of time after that is the program that was handed in.
        limits = [(OF_A_TEST, "tests") if limit == "time" else (limit, where) for limit, where in limits]
    return [Difference(kind=Differs.CUT, name=limit, detail=where) for limit, where in limits if limit is not None]


def _program_is_whole(rollout: Rollout) -> bool:
    """Whether the last message closed its code before it was cut: then what the tests ran was handed in."""
    said = [step.text for step in rollout.steps or () if step.kind == "message" and step.party == "agent"]
    fences = sum(line.startswith(_FENCE) for line in said[-1].split("\n")) if said else 0
    return fences > 0 and fences % 2 == 0


@lru_cache(maxsize=1024)
def limit_word(stop: str) -> str | None:
    """The limit that ended a rollout by the word of its harness: one that is known, or one built like them."""
    word = stop.lower()
    if word in LIMITS or len(word) > LONGEST_NAME:
        return LIMITS.get(word)
    plain = _BETWEEN.sub(" ", _HUMPS.sub(" ", stop)).lower()
    if _IS_LIMIT.search(plain) is None:
        return None
    named = next((limit for limit, pattern in _LIMITED.items() if pattern.search(plain)), None)
    # A limit of the whole session that says no more is one of its turns: others name what ran out.
    return named or ("steps" if _OF_SESSION.search(plain) else None)


@lru_cache(maxsize=1024)
def _last_name(field: str) -> str:
    return field.rpartition(".")[2]


@lru_cache(maxsize=1024)
def _is_of_verifier(field: str) -> bool:
    return _VERIFIER_FIELD.search(field) is not None


def _limit_of(said: VerifierText, answered: bool) -> str | None:
    """The limit that a word of the harness speaks of; of what was answered at once, that of the program handed in."""
    last = _last_name(said.field)
    if answered and last in HARNESS_ERRORS and _says_too_slow(said.text[:LONGEST_TOLD]):
        return "time"
    if said.text in _SET and not _NO_FLAG.search(said.field):
        match = _LIMIT_FIELD.search(said.field)
        return LIMITS.get(match["what"], "time") if match is not None else limit_word(last)
    if last.endswith(_ENDED) and (limit := limit_word(said.text)) is not None:
        return limit
    if last in HARNESS_ERRORS and len(said.text) <= LONGEST_TOLD:
        if _CONTEXT.search(said.text):
            return "tokens"
        return "time" if _TIMED_OUT.search(said.text) else "steps" if _STEPS_OUT.search(said.text) else None
    return "time" if last in ("returncode", "exit_code") and said.text == "124" else None


def _cut_short(said: VerifierText, rollout: Rollout) -> str | None:
    """The limit that a flag means which says only that there was one: of an episode its steps, of one answer its tokens."""
    if said.text not in _SET or _last_name(said.field).lower() not in _TRUNCATED:
        return None
    features = rollout.features
    return "steps" if features is not None and (features.calls or features.agent_messages > 1) else "tokens"


def _machinery(due: Due, rollout: Rollout) -> Iterator[Difference]:
    for said in due.said:
        if _limit_of(said, rollout.answered_at_once) is not None or is_beside_the_verdict(said, rollout):
            continue
        of_verifier = (_is_of_verifier(said.field) and not _PATCH.search(said.text)) or (
            said.field in REACHED and not any(_HANDED_IN_BADLY.search(one.field) for one in due.said)
        )
        if of_verifier or _says_it_crashed(said, due) or (is_breakdown(said) == HARNESS and rollout.answered_at_once):
            yield Difference(kind=Differs.NO_RECORD, name=said.field, detail=_template(said.text))
        elif _is_machinery(said):
            yield Difference(kind=Differs.ERROR, name=said.field, detail=_template(said.text))


def _masked(due: Due) -> list[Difference]:
    """A reward that by the verifier's own word measures nothing, with the kind of failure that it names."""
    if MASK not in [said.field for said in due.said]:
        return []
    kind = next((said for said in due.said if said.field in _KINDS_OF_FAILURE), VerifierText(field=MASK, text="true"))
    of_verifier = _OF_VERIFIER.search(kind.text) is not None
    detail = _template(kind.text) if kind.field != MASK else MASK
    return [Difference(kind=Differs.NO_RECORD if of_verifier else Differs.ERROR, name=kind.field, detail=detail)]


def _says_it_crashed(said: VerifierText, due: Due) -> bool:
    """Whether the verifier's account says that the verifier raised: by name, or where no code was handed in that could."""
    if is_breakdown(said) == GRADER:
        return True
    if "." not in said.field or len(said.text) > LONGEST_TOLD:
        return False
    return _CRASHED.search(said.text) is not None or (due.calls is not None and _TRACE.search(said.text) is not None)


def is_breakdown(said: VerifierText) -> str | None:
    """Who failed by the words of a field that names breakdowns: `grader`, `harness`, or None where they tell of neither."""
    if not said.recorded or not names_a_breakdown(said.text):
        return None
    told = what_was_raised(said.text)
    return GRADER if _OF_VERIFIER.search(told) else HARNESS if MACHINERY.search(told) else None


def is_beside_the_verdict(said: VerifierText, rollout: Rollout) -> bool:
    """Whether a breakdown of the machinery is noted beside a single answer that is another than the expected one."""
    if is_breakdown(said) != HARNESS or not rollout.answered_at_once or rollout.due.answer is None:
        return False
    return compare_answer(rollout.answer, rollout.due.answer, "") is AnswerMatch.DIFFERENT


def _is_machinery(said: VerifierText) -> bool:
    """Whether words are the harness speaking of itself: by where they stand, unless by what they say they are not."""
    if "container_timed_out" in said.field and said.text in _SET:
        return True
    if len(said.text) > LONGEST_TOLD:
        return False
    if is_breakdown(said) == HARNESS or (_ERROR_FIELD.search(said.field) and MACHINERY.search(said.text)):
        return True
    recorded = said.field.rpartition(".")[2] in HARNESS_ERRORS and said.text.strip().lower() not in ("other", "unknown")
    return recorded and said.text not in _SET and not _MODEL_SIDE.search(said.text)


def _records(due: Due) -> Iterator[Difference]:
    for name in due.empty_records:
        yield Difference(kind=Differs.NO_RECORD, name=name)
    for name in due.undecided:
        yield Difference(kind=Differs.NO_RECORD, name=name, detail=UNDECIDED)


def _output(rollout: Rollout, due: Due) -> list[Difference]:
    features = rollout.features
    missing: list[str] = []
    if features is not None and features.agent_messages == 0 and features.calls == 0:
        missing.append("thought" if _has_thought(rollout) else "output")
    if due.said and any(_has_declined(said) for said in due.said):
        missing.append("declined")
    elif due.extracts and not (rollout.answer or "").strip():
        missing.append("answer")
    return [Difference(kind=Differs.NO_ANSWER, name=name) for name in missing] if missing else []


def _has_thought(rollout: Rollout) -> bool:
    """Whether the agent thought, though it said nothing: then it was asked, and what is missing is its answer."""
    return any(step.kind == "reasoning" and step.text.strip() for step in rollout.steps or ())


def _has_declined(said: VerifierText) -> bool:
    text = said.text.strip()
    if len(text) <= _LONGEST_DECLINED and text.lower() in _DECLINED:
        return True
    return said.text in _SET and said.field.rpartition(".")[2].removeprefix("is_") in _DECLINED


def _actions(rollout: Rollout, due: Due) -> Iterator[Difference]:
    steps = rollout.steps
    if due.calls is None or steps is None:
        return
    made = carried_out(steps)
    wanted = [call for call in due.calls if changes_state(call.tool)]
    done = changes(made)
    if wanted and not done:
        for tool in dict.fromkeys(call.tool for call in wanted):
            yield Difference(kind=Differs.NOT_MADE, name=tool)
    elif wanted:
        yield from _paired(wanted, done)
    else:
        for one in done:
            yield Difference(kind=Differs.UNWANTED, name=one.tool, step=one.step.index)
    yield from _lookups([call for call in due.calls if not changes_state(call.tool)], made, whole=not wanted)


def _paired(wanted: list[DueCall], done: list[Made]) -> Iterator[Difference]:
    pairing = pair(wanted, done)
    for wrong in pairing.wrong:
        for name in wrong.names:
            yield Difference(kind=Differs.ARGUMENT, name=wrong.due.tool, detail=name, step=wrong.made.step.index)
    for call in pairing.missing:
        yield Difference(kind=Differs.MISSING, name=call.tool)
    for one in pairing.extra:
        yield Difference(kind=Differs.EXTRA, name=one.tool, step=one.step.index)


def _lookups(due: list[DueCall], made: list[Made], *, whole: bool) -> Iterator[Difference]:
    """Look-ups of the key that were not made; where the key has nothing else, also those made with other arguments."""
    if not due:
        return
    if not whole:
        tools = {one.tool for one in made}
        for tool in dict.fromkeys(call.tool for call in due):
            if tool not in tools:
                yield Difference(kind=Differs.LOOKUP, name=tool)
        return
    pairing = pair(due, made)
    for wrong in pairing.wrong:
        for name in wrong.names:
            yield Difference(kind=Differs.LOOKUP, name=wrong.due.tool, detail=name, step=wrong.made.step.index)
    for call in pairing.missing:
        yield Difference(kind=Differs.LOOKUP, name=call.tool)


def _refused(rollout: Rollout) -> Iterator[Difference]:
    """Calls that break the schema which the request gives for their tool."""
    refused = rollout.offered.refused
    for step in rollout.calls:
        argument = refused(step.tool, step.arguments) if step.tool and step.arguments else None
        if argument is not None:
            yield Difference(kind=Differs.REFUSED, name=step.tool or "", detail=argument, step=step.index)


def _statements(rollout: Rollout, due: Due) -> Iterator[Difference]:
    if not due.statements or rollout.steps is None:
        return
    said = [step.text.lower().replace(",", "") for step in rollout.steps if step.party == "agent" and step.text]
    for statement in due.statements:
        wanted = statement.lower().replace(",", "")
        if wanted and not any(wanted in text for text in said):
            yield Difference(kind=Differs.NOT_SAID, name=statement[:LONGEST_NAME])


def _slow(due: Due, lost: Sequence[VerifierCheck]) -> Iterator[Difference]:
    """What was handed in ran into a time limit: every test that fails says so, or a log that says little else."""
    logs = [said.text for said in due.said if LOG_FIELD.search(said.field)] if not lost[0].words else []
    if any(len(text) > LONGEST_SLOW_LOG for text in logs):
        return
    words = logs or [check.words[:LONGEST_TOLD] for check in lost]
    if all(text and _says_too_slow(text) for text in words):
        yield Difference(kind=Differs.CUT, name=OF_A_TEST, detail="tests")


def _says_too_slow(text: str) -> bool:
    folded = text.casefold()
    return any(word in folded for word in _SLOW_WORDS) and _TOO_SLOW.search(text) is not None


def _cannot_run(due: Due) -> Iterator[Difference]:
    """What was handed in could not be run: every test of several fails with one and the same exception."""
    if len(due.checks) < FEWEST_TESTS or not all(one.words for one in due.checks) or due.met:
        return
    raised = {_template(check.words) for check in due.checks}
    if len(raised) == 1 and (only := raised.pop()) and _RAISED.match(only):
        yield Difference(kind=Differs.SAID, name=EVERY_TEST, detail=only)


def _checks(lost: Sequence[VerifierCheck]) -> Iterator[Difference]:
    for check in lost[:MOST_CHECKS]:
        yield Difference(kind=Differs.CHECK, name=check.name[:LONGEST_NAME], detail=_check_words(check))


def _is_verdict_on_calls(due: Due) -> bool:
    """Whether the checks only repeat, part by part, what the calls that were due say better."""
    return due.calls is not None and all(check.is_part_of_reward for check in due.checks)


def _check_words(check: VerifierCheck) -> str:
    return _template(check.words) if check.words else ""


def _answer(rollout: Rollout, key: str, extracts: bool) -> Iterator[Difference]:
    text = final_text(rollout.steps)
    answer = rollout.answer if extracts or len(text) > SHORT else rollout.answer or text or None
    if answer is None and len(key) > LONGEST_KEY:
        return  # a rubric, not an answer that could be stated
    if answer and _A_PLACE.fullmatch(key.strip()) and _A_LETTER.fullmatch(answer.strip()):
        return  # the place of an option against its letter: the verifier knows how they go together
    match = compare_answer(answer, key, text)
    concludes = match is AnswerMatch.NONE and not extracts and bool(text.strip())
    if concludes and _is_absent(key, text):
        yield _ABSENT
    elif match is not AnswerMatch.UNKNOWN:
        yield _COMPARED[match]
    elif _is_absent(key, answer or text):
        yield _ABSENT


def _lacking(rollout: Rollout, key: str) -> list[Difference]:
    """That a passing answer does not hold the key: where most do not, the key is no answer that could be held."""
    absent = _is_absent(key, rollout.answer or final_text(rollout.steps))
    return [_ABSENT] if absent else []


def _is_absent(key: str, text: str) -> bool:
    """Whether a key, no code and no long text, stands nowhere in what was answered, its words in a row."""
    if key in text or not text.strip() or is_opaque(key):
        return False
    wanted = _PLAIN.findall(key.casefold())
    return 0 < len(wanted) <= MOST_KEY_WORDS and " ".join(wanted) not in " ".join(_PLAIN.findall(text.casefold()))


def _words(due: Due, failed: bool) -> list[Difference]:
    """The verifier's words; an exit code only where it is all there is."""
    kept = [said for said in due.said if failed or len(said.text) <= SHORT]
    spoken = [said for said in kept if not _is_code(said)] or kept
    return [
        Difference(kind=Differs.SAID, name=said.field, detail=_in_short(said)) for said in islice(spoken, MOST_WORDS)
    ]


def _is_code(said: VerifierText) -> bool:
    return "exit_code" in said.field or "returncode" in said.field


def _in_short(said: VerifierText) -> str:
    """The words as a template: a flag by its name, a code as it is, a judge's sentences by one word for all."""
    last = said.field.rpartition(".")[2]
    if _is_code(said):
        return f"{last} {said.text}"
    if said.text in _SET:
        return last
    if said.text == "false":
        return f"{last}: false"
    short = _template(said.text)
    if is_judge(said.field) and len(said.text.split()) > MOST_JUDGED_WORDS:
        return A_JUDGE
    return short


@lru_cache(maxsize=256)
def _template(text: str) -> str:
    start, end = telling(text)
    return mask(text[start:end])


def leaves_out_the_agent(run: Run) -> bool:
    """Whether no rollout holds a word or a call of the agent, though some pass and some do not.

    Then the verifier tells work from work, and the harness did not write it down. Where all pass or all fail, an agent
    that never ran looks the same.
    """
    judged = run.rollouts.select("outcome", "calls", "agent_chars").filter(
        pl.col("outcome").is_in(["passed", "failed"]) & pl.col("calls").is_not_null()
    )
    silent = not judged["calls"].sum() and not judged["agent_chars"].sum()
    return silent and judged["outcome"].n_unique() > 1
