"""What several modes ask of the evidence: limits, differences from the expected actions, tests that fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from blade.evidence.differences import OF_A_TEST, limit_word
from blade.model.attribution import Confidence
from blade.model.finding import Difference, Differs, Sign
from blade.model.pattern import pattern_of
from blade.modes.evidence import Candidate, RolloutEvidence

MIXED = (Differs.ARGUMENT, Differs.MISSING, Differs.EXTRA)
"""Ways in which changes can differ from the expected ones, beside others that do not."""
KEPT = "PASS_TO_PASS"
"""How SWE-bench names the tests that must go on passing."""
ANSWERS = {
    "different": "the answer and the expected one are comparable values, and differ",
    "absent": "the expected answer stands nowhere in the output",
    "contained": "the output holds the expected answer among other words",
}
LONGEST_SUBJECT = 120
_RAISED = pattern_of(r"(?!Assertion)(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Failed)\b")
"""What a test fails with where the code itself broke."""
_BARE = pattern_of(r"(?:\w+\.)*(?:SystemExit|CalledProcessError)\b|(?i:[\w. :]{0,40}\bfailed \d+ of \d+\b)")
"""What a test raises that runs a program and sees it fail."""
_GRADER = pattern_of(
    r"(?i)verif|grad(?:er|ing)|evaluat|(?:\b|_)eval(?:\b|_)|scor(?:er|ing)|judge|(?:\b|_)tests?(?:_|\b)|(?<![a-z])Tests?(?=[A-Z])|reward"
)
_LIMITS = {
    "time": "the time limit",
    "steps": "the step limit",
    "tokens": "the token limit",
    "memory": "the memory limit",
}


def of_grader(error_class: str | None) -> bool:
    """Whether the class of a recorded error names the grader."""
    return error_class is not None and _GRADER.search(error_class) is not None


def named_limit(evidence: RolloutEvidence) -> str | None:
    """The limit that the recorded error or the stop word of a rollout names, where it is none of the grader's."""
    for word in (evidence.error_class, evidence.stop):
        if word and not of_grader(word) and (limit := limit_word(word)) is not None:
            return limit
    return None


def limited(evidence: RolloutEvidence, limit: str, *signs: str) -> Candidate | None:
    """The rollout was cut by a limit; the subject says whether anything was delivered."""
    cut = evidence.difference(Differs.CUT, limit)
    seen = evidence.sign(*signs) if signs else None
    # What was whole before its output was cut is judged by its checks, as the differences would say otherwise.
    judged = limit == "tokens" and evidence.judged and bool(evidence.checks_asked)
    # Passes that were cut had answered before; without an answer the cut explains why there is none.
    unanswered = limit == "tokens" and evidence.difference(Differs.NO_ANSWER) is not None
    if seen is not None and (judged or (evidence.is_usual_status(seen) and not unanswered)):
        seen = None
    # Of a judged rollout the differences say it: a program that was whole before the cut is not cut.
    recorded = evidence.outcome in ("errored", "unscored") and named_limit(evidence) == limit
    if cut is None and seen is None and not recorded:
        return None
    if cut is not None and (cut.name == OF_A_TEST or _is_of_grader(evidence, cut)):
        return None
    return Candidate(
        # The class of an error may speak of a host that ran out of time as well.
        confidence=Confidence.PROVEN if cut is not None else Confidence.LIKELY,
        subject=delivered(evidence),
        signs=(seen,) if seen is not None else (),
        differences=(cut,) if cut is not None else (),
        contrast=f"{_LIMITS[limit]} is recorded as what ended it",
    )


def _is_of_grader(evidence: RolloutEvidence, cut: Difference) -> bool:
    """Whether what ran out of time is the grader, by the stop word or the field that says so."""
    return of_grader(evidence.stop) if cut.detail == "stop" else of_grader(cut.detail.rpartition(".")[2])


def delivered(evidence: RolloutEvidence) -> str:
    """Whether anything was delivered before a limit; empty where nothing tells."""
    if evidence.checks_met or evidence.sign("log:test-passed") is not None:
        return "partly delivered"
    absent = evidence.sign("missing:named-in-prompt") or evidence.difference(Differs.NO_ANSWER)
    return "nothing delivered" if absent is not None else ""


def acts_differ(evidence: RolloutEvidence) -> bool:
    """Whether the expected actions tell what was not done, which is more than how the rollout ends."""
    return any(one.kind in (*MIXED, Differs.NOT_MADE, Differs.UNWANTED) for one in evidence.differs)


def only(evidence: RolloutEvidence, kind: Differs) -> bool:
    """Whether one kind is the only way in which the changes differ."""
    return {one.kind for one in evidence.differs if one.kind in MIXED} == {kind}


def made_up(evidence: RolloutEvidence) -> str:
    """What is said beside a wrong value that nothing before the call holds."""
    found = evidence.sign("made-up-id")
    return f"; nothing that the agent had seen holds `{found.quote}`" if found is not None and found.quote else ""


def unless_broken_off(evidence: RolloutEvidence, sure: Confidence) -> Confidence:
    """How sure it is that the agent left something undone: its turn was still to come where the talk breaks off."""
    broken = evidence.sign("talk:broken-off") is not None and not evidence.run.kind_passes.get("talk:broken-off", 0)
    return Confidence.SUSPECTED if broken else sure


def declined(found: Sequence[Difference], evidence: RolloutEvidence) -> tuple[Sign, ...]:
    """Why calls were not made, in the talk's own words: the agent declines, rightly or not, or the user takes a request back."""
    names = {one.name for one in found}
    against = tuple(one for one in evidence.of("declined:action") if one.subject in names)
    return (*against, *evidence.of("user:withdrew"))


def required(found: Sequence[Difference]) -> str:
    """`cancel_reservation`, 2 more: required and not made."""
    names = list(dict.fromkeys(f"`{one.name}`" for one in found))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more} {'is' if len(names) == 1 else 'are'} expected and not made"


def counted(found: Sequence[Difference]) -> str:
    """How many differences of each kind."""
    words = {Differs.ARGUMENT: "with another argument", Differs.MISSING: "missing", Differs.EXTRA: "extra"}
    counts = Counter(one.kind for one in found)
    return "expected against actual changes: " + ", ".join(
        f"{counts[k]} {word}" for k, word in words.items() if counts[k]
    )


def checks(evidence: RolloutEvidence, how_many: str) -> Candidate | None:
    """Tests or criteria fail: one of several, some, or all, by the grader's account or by its log."""
    if not evidence.judged or (evidence.checks_asked and _how_many(*_numbers(evidence, (), 0)) != how_many):
        return None  # the numbers tell, and nothing is opened for it
    named = evidence.all_of(Differs.CHECK)
    logged = tuple(evidence.of("log:test-failed", "log:test-error"))
    failed, asked = _numbers(evidence, named, len(logged))
    if not failed:
        return None
    if _how_many(failed, asked) != how_many:
        return None
    of = f" of {asked}" if asked else ""
    # The verdict is certain; that it is the agent's doing, a failing check alone does not say.
    return Candidate(
        confidence=Confidence.LIKELY,
        subject=which_checks(named, logged, failed),
        signs=(*_underneath(evidence, logged), *logged),
        differences=named,
        contrast=f"{failed}{of} check{'s' if (asked or failed) != 1 else ''} failed",
    )


def _underneath(evidence: RolloutEvidence, logged: Sequence[Sign]) -> tuple[Sign, ...]:
    """What was raised under tests that only run another program and say that it failed."""
    own = evidence.sign("log:exception")
    bare = bool(logged) and all(_BARE.match(one.quote) for one in logged)
    return (own,) if bare and own is not None and not _BARE.match(own.quote) else ()


def which_checks(named: Sequence[Difference], logged: Sequence[Sign], failed: int) -> str:
    """Which checks: the one that fails, what all of them raise, or the first and how many more."""
    names = list(dict.fromkeys([one.name for one in named] or [one.subject for one in logged if one.subject]))
    raised = {one.quote for one in logged}
    if len(names) > 1 and len(raised) == 1 and _RAISED.match(words := raised.pop()):
        return _cut(words)
    if not names:
        return ""
    more = max(failed, len(names)) - 1
    return f"{_cut(names[0])}{f' and {more} more' if more > 0 else ''}"


def _cut(name: str) -> str:
    """A name that fits a title, with dots after its last whole word where it does not; names come cut to as much."""
    if len(name) < LONGEST_SUBJECT:
        return name
    whole, blank, _ = name[:LONGEST_SUBJECT].rpartition(" ")
    return f"{whole if blank else name[:LONGEST_SUBJECT]}..."


def _numbers(evidence: RolloutEvidence, named: Sequence[Difference], logged: int) -> tuple[int, int | None]:
    """How many failed, and of how many, where that is known."""
    if evidence.checks_asked:
        return evidence.checks_asked - (evidence.checks_met or 0), evidence.checks_asked
    none_passed = evidence.sign("log:none-passed") if logged > 1 and not named else None
    return (int(none_passed.subject),) * 2 if none_passed is not None else (len(named) or logged, None)


def _how_many(failed: int, asked: int | None) -> str:
    if asked is not None:
        return "one" if failed == 1 and asked > 1 else "all" if failed == asked else "some"
    # Without the number of all of them, nobody knows that none holds.
    return "one" if failed == 1 else "some"
