"""The reward says one thing, and the verifier's own verdict or tests in the same row say the other.

Why it matters
    One of the two is wrong, and the score rests on one of them.

What to do
    Find out how the reward is made from the verdict, and judge these rollouts again.

Limits
    Looks at rewards of nothing and of the most that the run gives: part of the reward is no verdict. Quiet where
    anything else in the row sides with the reward (another verdict, an error, a limit). Fields that may
    mean something else, such as `success` or `grade`, a second reward and tests count only if they agree with the reward
    in most rollouts that were read, or the answer is the key's word for word. Parts of the score, whatever their names,
    count if they agree with it nearly always, and nothing that was expected is missing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext, spread
from blade.model.diagnosis import Doubt
from blade.model.expected import VerifierCheck
from blade.model.finding import Cause, Differs, Evidence
from blade.model.pattern import pattern_of
from blade.model.rollout import Outcome
from blade.rules.declaration import rule
from blade.rules.run.task._words import reward_of

VERDICTS = ("is_correct", "correct", "resolved", "all_pass", "rubric_all_pass", "execution_match")
"""Fields that can mean nothing but the verdict."""
LIKELY = (
    "passed",
    "success",
    "verdict",
    "judge_verdict",
    "judgement",
    "judgment",
    "grade",
    "matched",
    "match",
    "is_match",
    "equivalent",
    "accepted",
    "solved",
)
"""Fields that may also say something else, such as that the harness came to an end."""
SECOND = "reward"
"""A reward inside the verifier's account, beside that of the row."""
TESTS = "tests"
SELDOM = 20
"""Rollouts in which a part of the score agrees with the reward, for each in which it does not: a part that differs more
often is one of several that the reward is made of."""
ACCOUNTS = ("reward_info", "info", "metadata", "result", "verifier_result", "eval_report")
"""Objects in which a verdict may stand, one level down."""

_GOOD = pattern_of(r"correct|pass|match|success|resolved|valid|equivalen|accura|follow|hit|complete|ok$|score|reward")
_BAD = pattern_of(r"incorrect|in?valid_|fail|error|timed_out|timeout|truncat|refus|exceed|wrong|mask|penal|cheat|not_")
_EXPLAINS = (Differs.ERROR, Differs.NO_RECORD, Differs.CUT, Differs.NO_ANSWER)
_SIDES_WITH_A_FAILURE = (
    *(
        Differs.NOT_MADE,
        Differs.MISSING,
        Differs.EXTRA,
        Differs.ARGUMENT,
        Differs.UNWANTED,
        Differs.LOOKUP,
        Differs.NOT_SAID,
    ),
    *(Differs.ANSWER, Differs.CHECK),
)
_REASON = pattern_of(r"error|fail|penal")
_YES = frozenset(("pass", "passed", "correct", "success", "true", "yes", "ok", "resolved"))
_NO = frozenset(("fail", "failed", "incorrect", "wrong", "failure", "error", "false", "no", "unresolved", "timeout"))


class _Seen(Struct, frozen=True, kw_only=True):
    """What a verdict of one rollout says, and where."""

    walk: AlignedTrajectory
    name: str
    path: str
    says: bool
    words: str


@rule("TSK014", scope="run", suggests=Cause.TASK, strong=True, status="stable")
def verifier_contradicts_itself(context: RunContext) -> Iterator[Doubt]:
    most = context.run.rollouts["reward"].max()
    if not isinstance(most, int | float):
        return
    parts = tuple(one.path for one in context.run.roles.fields if one.role == "score-part" and "[]" not in one.path)
    agree: dict[str, list[_Seen]] = {}
    against: dict[str, list[_Seen]] = {}
    for walk in context.reading.walks.values():
        if not _is_extreme(walk, float(most)):
            continue
        for seen in _verdicts(walk, parts):
            (agree if seen.says is walk.passed else against).setdefault(seen.name, []).append(seen)
    usual = {
        (said.field, said.text) for walk in context.reading.walks.values() if walk.passed for said in walk.due.said
    }
    told: set[str] = set()
    for name in (*VERDICTS, *LIKELY, SECOND, TESTS, *(path for path in parts if path in against)):
        sure = name in VERDICTS or len(agree.get(name, [])) > len(against.get(name, []))
        mine = [one for one in against.get(name, []) if sure or _is_keys(one)]
        if name in parts:
            mine = mine if len(agree.get(name, [])) >= SELDOM * len(mine) else []
        kept = [one for one in mine if one.walk.place not in told and not _is_explained(one, parts, usual)]
        if kept:
            told |= {one.walk.place for one in kept}
            yield _doubt(kept)


def _is_keys(seen: _Seen) -> bool:
    """Whether a verdict says yes to an answer that is the key's word for word."""
    answer, key = seen.walk.rollout.answer, seen.walk.due.answer
    return seen.says and bool(answer and answer.strip()) and answer == key


def _is_extreme(walk: AlignedTrajectory, most: float) -> bool:
    """Whether the reward is nothing, or the most of the run: anything between is part of a reward."""
    reward = walk.rollout.reward
    return reward is not None and (reward >= most if walk.rollout.outcome is Outcome.PASSED else reward <= 0)


def _at(row: Mapping[str, object], path: str) -> object:
    """The value at a path of fields; None where there is none."""
    value: object = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _verdicts(walk: AlignedTrajectory, parts: Sequence[str]) -> Iterator[_Seen]:
    for path in parts:
        value = _at(walk.row, path)
        if isinstance(value, bool | int | float) and value in (0, 1):
            yield _Seen(walk=walk, name=path, path=path, says=bool(value), words=_written(value))
    for path, value in _fields(walk.row):
        name = path.rpartition(".")[2]
        known = name in LIKELY or (name in VERDICTS and not isinstance(value, str)) or (name == SECOND and name != path)
        says = _as_verdict(value) if known else None
        if says is not None:
            yield _Seen(walk=walk, name=name, path=path, says=says, words=_written(value))
    if (seen := _by_tests(walk)) is not None:
        yield seen


def _by_tests(walk: AlignedTrajectory) -> _Seen | None:
    """Yes where every test held, no where each failed or one did that is required; None for part of them."""
    checks = walk.due.checks
    failed = [check for check in checks if not check.passed]
    if not checks or (failed and len(failed) < len(checks) and not any(check.required for check in failed)):
        return None
    shown = next((check for check in failed if check.required), checks[0])
    return _Seen(walk=walk, name=TESTS, path=shown.field, says=not failed, words=_words_at(walk.row, shown))


def _words_at(row: Mapping[str, object], check: VerifierCheck) -> str:
    """The verdict of a check as the row has it; empty where its path does not lead there."""
    value: object = row
    for name in check.field.split("."):
        if isinstance(value, list):
            value = value[int(name)] if name.isdecimal() and int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
    return "" if value is None or isinstance(value, list | dict) else _written(value)


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _fields(row: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in row.items():
        if name in ACCOUNTS and isinstance(value, dict):
            yield from ((f"{name}.{inner}", item) for inner, item in value.items() if "." not in str(inner))
        else:
            yield name, value


def _as_verdict(value: object) -> bool | None:
    """A boolean, a number that is exactly 0 or 1, or a word for yes or no."""
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in _YES else False if word in _NO else None
    return bool(value) if isinstance(value, bool | int | float) and value in (0, 1) else None


def _is_explained(seen: _Seen, parts: Sequence[str], usual: Collection[tuple[str, str]]) -> bool:
    """Whether anything else in the row sides with the reward, so that the verdict is only part of it. What is `usual`, a
    field and its text that passes have, explains nothing.
    """
    walk = seen.walk
    if any(one.kind in _EXPLAINS for one in walk.differs):
        return True
    told = (said for said in walk.due.said if (said.field, said.text) not in usual)
    if not walk.passed and any(_REASON.search(said.field) for said in told):
        return True
    if seen.path in parts and any(one.kind in _SIDES_WITH_A_FAILURE for one in walk.differs):
        return True
    if any((value := _at(walk.row, path)) is not None and bool(value) is walk.passed for path in parts):
        return True
    others = [check.passed for check in walk.due.checks] if seen.name != TESTS else []
    sides = [_side(path.rpartition(".")[2], value) for path, value in _fields(walk.row) if path != seen.path]
    return any(side is walk.passed for side in (*sides, *others)) if not walk.passed else walk.passed in sides


def _side(name: str, value: object) -> bool | None:
    """What a field says of the rollout by its name and value; None for a field that is no verdict, and for the reward."""
    if name in ("reward", "score"):
        return None
    says = _as_verdict(value)
    if says is None or isinstance(value, str):
        return says
    if _BAD.search(name):
        return False if says else None
    return says if _GOOD.search(name) else None


def _doubt(seen: list[_Seen]) -> Doubt:
    first = seen[0]
    places = list(dict.fromkeys((one.walk.rollout.key.task_id, one.walk.repeat) for one in seen))
    reward = reward_of(first.walk)
    verdict: Evidence | None = quotes.of_row(first.walk.rollout, first.path, first.words) if first.words else None
    what = "every recorded test" if first.name == TESTS and first.says else f"`{first.path}`"
    says = "passed" if first.name == TESTS and first.says else f"says {quotes.shown(first.words or 'no', 40)}"
    return Doubt(
        about="verifier",
        tasks=tuple(dict.fromkeys(task for task, _ in places)),
        message=f"the verifier contradicts itself in {spread(places)}: in {first.walk.place} {what} {says} "
        f"and the reward is {first.walk.rollout.reward:g}",
        rollouts=len(places),
        places=tuple(places),
        evidence=tuple(one for one in (reward, verdict) if one is not None),
    )
