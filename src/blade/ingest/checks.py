"""Per-test and per-criterion verdicts inside a row, in the shapes that verifiers use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeGuard

from msgspec import Struct

from blade.ingest.fields import RunFields, of_run
from blade.ingest.roles.results import results_in
from blade.model.expected import VerifierCheck
from blade.model.pattern import pattern_of
from blade.model.roles import ResultShape

Get = Callable[[str], object]
Shape = Callable[[tuple[str, ...], Get], Iterator[VerifierCheck]]
"""Reads the checks of a row, with its keys in order of name, that have one shape."""


class _Read(Struct, frozen=True):
    """A check as it was read, with paths below its field."""

    name: str
    passed: bool | None
    where: str
    required: bool = False
    words: str = ""
    words_at: str = ""


MOST = 5_000
"""Checks read of one row; a larger set is a log, not a list of criteria."""
_MOST_KNOWN = 8192
"""Checks that are kept for the rows that follow."""
LONGEST_NAME = 200
LONGEST_WORDS = 4_000
DEEPEST = 5
"""How far below a field lists of passed and failed tests are looked for."""

_NAME = (
    "name",
    "test_name",
    "step_id",
    "criteria",
    "criterion",
    "test",
    "instruction",
    "label",
    "info",
    "nl_assertion",
    "assertion",
    "question",
    "requirement",
    "item",
    "check_id",
    "text",
    "description",
    "title",
    "id",
)
_VERDICT = (
    "passed",
    "outcome",
    "status",
    "result",
    "score",
    "verdict",
    "met",
    "satisfied",
    "action_match",
    "fulfilled",
    "correct",
    "success",
)
"""A score comes before a verdict: `NO` may be what was hoped for."""
_POINTS = (
    ("points", "max_points"),
    ("score", "max_score"),
    ("points_awarded", "points_possible"),
    ("awarded", "max"),
    ("earned", "possible"),
)
"""Points of a criterion beside the most that it gives: it is met where it has all of them."""
_REQUIRED = ("must_pass", "dealbreaker", "required", "critical")
_WORDS_IN = (
    "reason",
    "reasons",
    "justification",
    "explanation",
    "reasoning",
    "rationale",
    "judge_response",
    "message",
    "error",
    "details",
    "comment",
    "feedback",
    "stderr",
    "status",
)
_WORDS = {
    "pass": True,
    "passed": True,
    "success": True,
    "ok": True,
    "true": True,
    "met": True,
    "yes": True,
    "fail": False,
    "failed": False,
    "failure": False,
    "error": False,
    "false": False,
    "not_met": False,
    "no": False,
}

NAMES = (
    "rubric_judgements",
    "rubric_results",
    "rubric_items",
    "criteria",
    "criteria_results",
    "test_results",
    "tests_status",
    "tests",
    "test_details",
    "checks",
    "step_results",
    "validation_results",
    "instruction_results",
    "reward_components",
    "reward_breakdown",
)
"""Fields that may hold verdicts, looked at in this order; the first that does is taken."""
_MAY_NAME = pattern_of(
    r"(?:rubric|criteri|verif|validat|assert|check|test|instruction|requirement|constraint|binary)\w*"
    r"_(?:results|verdicts|evaluations|judge?ments|outcomes|scores|items)"
    r"|(?:grad|scor|rubric)\w*_breakdown"
)
"""Other names of such fields, looked at after those."""

PAIRED = (("instruction_id_list", "follow_instruction_list"),)
"""A list of names beside a list of booleans."""

TRACES = ("details", "test_details", "failures")
"""Objects that give for each failed test what it printed."""

NUMBERED = {"result": "test", "results": "test", "test_results": "test", "step_results": "step"}
"""Lists of verdicts without names, and what each is of: true for one that passed, false or a negative code else."""

NESTED = ("metadata", "eval_report", "report", "tests_status", "verifier_result", "reward_info")
"""Objects that may hold lists of passed and failed tests somewhere inside."""
ACCOUNTS = ("judge_response", "judge_result", "verification_result", "evaluation", "evaluation_result", *NESTED)
"""Objects that may hold named verdicts."""
COMPONENT, MATCH = "reward_", "_match"
"""How the name of a part of the reward begins, or ends; a single one is no part."""
_OF_THE_KEY = ("answer_match", "exact_match", "string_match", "argument_match", "tool_name_match", "tool_match")
"""Parts that say no more than that answer or calls are others than the key's."""

_BESIDE = ("kwargs", *(name for _, name in PAIRED))
"""Fields that are read beside those that may hold verdicts."""
_TOTALS = ("total", "n_criteria", "num_tests", "num_total", "tests_total", "total_tests", "n_tests")
_HELD = ("passed", "n_passed", "num_passed", "tests_passed", "passed_tests")
_ENDINGS = ("_passed", "_correct", "_met", "_matched", "_satisfied", "_followed", "_followed_strict")
"""Names of a number of tests, and of how many of them held; or one stem with `_total` and one of the endings."""
_LABEL = pattern_of(r"\s*\[\[[^\]\n]{0,40}\]\]\s*$")
"""The label with which a judge closes."""
_FAULT = pattern_of(r"Error|Exception|Traceback|FAIL|assert", re.IGNORECASE)

FIELDS = frozenset((*NAMES, *(name for name, _ in PAIRED), *TRACES, *NUMBERED, *ACCOUNTS))
"""Beside these only totals and parts of the reward hold checks."""


def may_hold(names: Iterable[str]) -> bool:
    """Whether a row with these keys may hold checks."""
    return any(
        _is_field(name) or name.endswith(("_total", MATCH)) or name in _TOTALS or name.startswith(COMPONENT)
        for name in names
    )


def is_read(name: str) -> bool:
    """Whether a field is read for checks."""
    beside = name in (*_BESIDE, *_TOTALS, *_HELD) or name.endswith(("_total", MATCH, *_ENDINGS))
    return _is_field(name) or beside or name.startswith(COMPONENT)


def _is_field(name: str) -> bool:
    return name in FIELDS or _MAY_NAME.fullmatch(name) is not None


def verdict(value: object) -> bool | None:
    """A boolean, a word or a 0/1 number as a verdict; anything else is none."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    return _WORDS.get(value.strip().lower()) if isinstance(value, str) else None


def read_checks(names: Iterable[str], get: Get) -> tuple[VerifierCheck, ...]:
    """The checks of a row with these keys, whatever their order; empty when it holds none.

    Shapes are tried in a fixed order and the first that holds any is taken: names beside booleans, named verdicts,
    those inside an account, traces of failed tests, numbered verdicts, lists of passed and failed tests, parts of the
    reward, and last totals such as 6 of 7.
    """
    have = tuple(names)
    learned = _learned(_shapes_of_run(have, of_run()), get)
    if learned and len(learned) <= MOST:
        return tuple(learned)
    for shape in _shapes(have):
        found = tuple(shape(_by_name(have), get))
        if found and len(found) <= MOST:
            return found
    return ()


def tops(shape: ResultShape) -> tuple[str, ...]:
    """The fields of a row that results of a shape are read from."""
    names = (shape.path, shape.name) if shape.kind == "parallel" else (shape.path,)
    return tuple(name.partition(".")[0] for name in names)


@lru_cache(maxsize=4096)
def _shapes_of_run(names: tuple[str, ...], table: RunFields) -> tuple[ResultShape, ...]:
    """The shapes of the results that rows with these keys hold in this run."""
    return tuple(shape for shape in table.roles.results if set(names).issuperset(tops(shape)))


def _learned(shapes: Sequence[ResultShape], get: Get) -> Sequence[VerifierCheck]:
    """The results in the fields that hold them in this run; of two with one name and verdict, the first."""
    if len(shapes) == 1 and shapes[0].kind == "map" and not shapes[0].verdict:
        value = _inside(get, shapes[0].path)
        if isinstance(value, dict) and len(value) <= MOST and set(map(type, value.values())) == {bool}:
            return _plain_verdicts(shapes[0].path).of(value)
    return list(_of_shapes(shapes, get))


def _of_shapes(shapes: Sequence[ResultShape], get: Get) -> Iterator[VerifierCheck]:
    seen: set[tuple[str, bool]] = set()
    groups = {shape.path.rpartition(".")[0] for shape in shapes if shape.kind == "sides"}
    for shape in shapes:
        path = shape.path
        group, _, side = path.rpartition(".")
        before = f"{side}: " if group in groups and group else ""
        names = _inside(get, shape.name) if shape.kind == "parallel" else None
        for name, passed, where, words, words_at in results_in(_inside(get, path), shape, names):
            named = before + name
            if (named, passed) not in seen:
                seen.add((named, passed))
                if words or words_at:
                    yield VerifierCheck(
                        name=named[:LONGEST_NAME],
                        passed=passed,
                        field=f"{path}.{where}",
                        words=words[:LONGEST_WORDS],
                        words_field=f"{path}.{words_at}" if words_at else "",
                    )
                else:
                    yield _without_words(named, passed, path, where)


@lru_cache(maxsize=_MOST_KNOWN)  # the repeats of a task, which stand near each other, have the same
def _without_words(name: str, passed: bool, path: str, where: str) -> VerifierCheck:
    return VerifierCheck(name=name[:LONGEST_NAME], passed=passed, field=f"{path}.{where}")


class _PlainVerdicts:
    """The checks of maps from names to truth values: the repeats of a task have the same names, and most of them hold."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._held: dict[tuple[str, ...], tuple[VerifierCheck, ...]] = {}
        self._lost: dict[str, VerifierCheck] = {}
        self._size = 0

    def of(self, verdicts: Mapping[str, bool]) -> Sequence[VerifierCheck]:
        """One check a name; rows in which all hold share them."""
        names = tuple(verdicts)
        held = self._held.get(names)
        if held is None:
            held = self._learn(names)
        if all(verdicts.values()):
            return held
        return [one if passed else self._failed(one) for one, passed in zip(held, verdicts.values(), strict=True)]

    def _learn(self, names: tuple[str, ...]) -> tuple[VerifierCheck, ...]:
        self._size += len(names)
        if self._size > _MOST_KNOWN:
            self._held.clear()
            self._size = len(names)
        held = self._held[names] = tuple(
            [VerifierCheck(name=name[:LONGEST_NAME], passed=True, field=f"{self._path}.{name}") for name in names]
        )
        return held

    def _failed(self, one: VerifierCheck) -> VerifierCheck:
        found = self._lost.get(one.field)
        if found is None:
            if len(self._lost) >= _MOST_KNOWN:
                self._lost.clear()
            found = self._lost[one.field] = VerifierCheck(name=one.name, passed=False, field=one.field)
        return found


@lru_cache(maxsize=64)
def _plain_verdicts(path: str) -> _PlainVerdicts:
    return _PlainVerdicts(path)


def _inside(get: Get, path: str) -> object:
    top, *rest = path.split(".")
    value = get(top)
    for name in rest:
        value = value.get(name) if isinstance(value, dict) else None
    return value


@lru_cache(maxsize=4096)
def _by_name(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(names))


@lru_cache(maxsize=4096)
def _shapes(names: tuple[str, ...]) -> tuple[Shape, ...]:
    """The shapes that checks can have in a row with these keys, in the order in which they are tried."""
    reads: tuple[tuple[Shape, Callable[[str], bool]], ...] = (
        (_paired, lambda name: any(name == first for first, _ in PAIRED)),
        (_named_fields, lambda name: name in NAMES or _MAY_NAME.fullmatch(name) is not None),
        (_accounts, lambda name: name in ACCOUNTS),
        (_traces, lambda name: name in TRACES),
        (_numbered, lambda name: name in NUMBERED),
        (_nested, lambda name: name in NESTED),
        (_components, lambda name: name.startswith(COMPONENT) or name.endswith(MATCH)),
        (_totals, is_read),
    )
    return tuple(shape for shape, is_its in reads if any(map(is_its, names)))


def _paired(have: tuple[str, ...], get: Get) -> Iterator[VerifierCheck]:
    for first, second in PAIRED:
        names, verdicts = (get(first), get(second)) if first in have and second in have else (None, None)
        if isinstance(names, list) and isinstance(verdicts, list) and len(names) == len(verdicts):
            wanted = get("kwargs") if "kwargs" in have else None
            for place, (name, value) in enumerate(zip(names, verdicts, strict=True)):
                if isinstance(value, bool):
                    words = _wanted(wanted, place)
                    yield VerifierCheck(
                        name=str(name)[:LONGEST_NAME], passed=value, field=f"{second}.{place}", words=words
                    )


def _wanted(kwargs: object, place: int) -> str:
    """What an instruction asked for, where a list of settings stands beside the names."""
    one = kwargs[place] if isinstance(kwargs, list) and place < len(kwargs) else None
    given = {name: value for name, value in one.items() if value is not None} if isinstance(one, dict) else {}
    return ", ".join(f"{name} {value}" for name, value in given.items())


def _named_fields(have: tuple[str, ...], get: Get) -> Iterator[VerifierCheck]:
    for field in (*NAMES, *(name for name in have if name not in NAMES and _MAY_NAME.fullmatch(name))):
        found = _from_value(field, get(field)) if field in have else []
        if found:
            yield from found
            return


def _accounts(have: tuple[str, ...], get: Get) -> Iterator[VerifierCheck]:
    for field in ACCOUNTS:
        value = get(field) if field in have else None
        for name, item in value.items() if isinstance(value, dict) else ():
            if name in NAMES or _MAY_NAME.fullmatch(str(name)):
                found = _from_value(f"{field}.{name}", item)
                if found:
                    yield from found
                    return


def _components(have: tuple[str, ...], get: Get) -> Iterator[VerifierCheck]:
    """`reward_safety` beside `reward_utility`, `citation_match` beside `answer_match`: what the reward is made of."""
    for names in (
        [name for name in have if name.startswith(COMPONENT)],
        [name for name in have if name.endswith(MATCH)],
    ):
        values = {name: get(name) for name in names} if len(names) > 1 else {}
        parts = {name: value for name, value in values.items() if _is_share(value)}
        for name, value in parts.items() if len(parts) > 1 else ():
            if name not in _OF_THE_KEY:
                yield VerifierCheck(
                    name=name.removeprefix(COMPONENT), passed=value == 1, field=name, words=f"{value:g}"
                )


def _is_share(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _from_value(field: str, value: object) -> list[VerifierCheck]:
    if isinstance(value, dict) and 0 < len(value) <= MOST:
        if set(map(type, value.values())) == {bool}:
            return _plain(field, value)
        known = [_keyed(str(name), item, partly=all(map(_is_share, value.values()))) for name, item in value.items()]
    elif isinstance(value, list) and 0 < len(value) <= MOST and all(isinstance(item, dict) for item in value):
        known = [_named(place, item) for place, item in enumerate(value)]
    else:
        return []
    checks = [
        VerifierCheck(
            name=one.name[:LONGEST_NAME],
            passed=one.passed,
            field=f"{field}.{one.where}",
            required=one.required,
            words=one.words[:LONGEST_WORDS],
            words_field=f"{field}.{one.words_at}" if one.words_at else "",
        )
        for one in known
        if one.passed is not None
    ]
    return checks if len(checks) * 2 >= len(known) else []


def _plain(field: str, verdicts: Mapping[str, bool]) -> list[VerifierCheck]:
    """The checks of a map from names to true or false, as most graders write them."""
    return [
        VerifierCheck(name=name[:LONGEST_NAME], passed=passed, field=f"{field}.{name}")
        for name, passed in verdicts.items()
    ]


def _keyed(name: str, item: object, *, partly: bool) -> _Read:
    """A verdict under its name: plain, as an object, or where all are `partly` held, as the share that did."""
    if isinstance(item, dict):
        return _of_object(name, name, item)
    if partly and _is_share(item):
        return _Read(name, item == 1, name, words="" if item in (0, 1) else f"{item:g}")
    return _Read(name, verdict(item), name)


def _named(place: int, item: dict[str, object]) -> _Read:
    name = next((item[field] for field in _NAME if isinstance(item.get(field), str | int)), f"item {place + 1}")
    return _of_object(str(name), str(place), item)


def _of_object(name: str, where: str, item: dict[str, object]) -> _Read:
    verdicts = ((field, verdict(item[field])) for field in _VERDICT if field in item)
    field, passed = next(((field, found) for field, found in verdicts if found is not None), ("", None))
    by_points = _by_points(item) if field in ("", "score") else None
    field, passed, given = by_points or (field, passed, "")
    words, inside = _words_of(item, passed)
    words = words or given
    required = any(item.get(word) is True for word in _REQUIRED)
    # A path could not name what stands under a name with a dot in it.
    words_at = f"{where}.{inside}" if inside and "." not in where else ""
    return _Read(name, passed, f"{where}.{field}", required, words, words_at)


def _by_points(item: dict[str, object]) -> tuple[str, bool, str] | None:
    """The field of a criterion's points, whether it has all that there are, and how many in words."""
    for field, most in _POINTS:
        given, top = item.get(field), item.get(most)
        if _is_number(given) and _is_number(top) and top > 0:
            return field, given >= top, f"{given:g} points of {top:g}"
    return None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _words_of(item: dict[str, object], passed: bool | None) -> tuple[str, str]:
    """What is written about a check, and under which name; of several voters, one who voted as it was decided."""
    votes = item.get("votes")
    for field in _WORDS_IN:
        value, inside = item.get(field), field
        if isinstance(value, list) and value:
            side = (
                next((n for n, vote in enumerate(votes) if verdict(vote) is passed), 0)
                if isinstance(votes, list)
                else 0
            )
            place = side if side < len(value) else 0
            value, inside = value[place], f"{field}.{place}"
        if isinstance(value, str) and value.strip():
            return _LABEL.sub("", value) or value, inside
    return "", ""


def _traces(have: tuple[str, ...], get: Get) -> Iterator[VerifierCheck]:
    for field in TRACES:
        value = get(field) if field in have else None
        if isinstance(value, dict) and value and all(isinstance(text, str) for text in value.values()):
            failed = [(str(name), str(text)) for name, text in value.items() if _FAULT.search(str(text)[-2_000:])]
            if len(failed) == len(value):
                for name, text in failed:
                    path = f"{field}.{name}"
                    yield VerifierCheck(
                        name=name[:LONGEST_NAME],
                        passed=False,
                        field=path,
                        words=text[-LONGEST_WORDS:],
                        words_field="" if "." in name else path,
                    )
                return


def _numbered(have: tuple[str, ...], get: Get) -> Iterator[VerifierCheck]:
    for field, what in NUMBERED.items():
        value = get(field) if field in have else None
        if isinstance(value, list) and value and all(isinstance(one, bool) or _is_code(one) for one in value):
            for place, one in enumerate(value):
                yield VerifierCheck(name=f"{what} {place + 1}", passed=one is True, field=f"{field}.{place}")
            return


def _is_code(value: object) -> bool:
    return isinstance(value, int) and value < 0


def _nested(have: tuple[str, ...], get: Get) -> Iterator[VerifierCheck]:
    for field in NESTED:
        value = get(field) if field in have else None
        found = list(_listed(field, value, 0))
        if found:
            yield from found
            return


def _listed(path: str, value: object, depth: int) -> Iterator[VerifierCheck]:
    if not isinstance(value, dict) or depth > DEEPEST:
        return
    passed, failed = value.get("success"), value.get("failure")
    if _is_names(passed) and _is_names(failed) and (passed or failed):
        group = path.rpartition(".")[2]
        for names, verdict_, where in ((passed, True, "success"), (failed, False, "failure")):
            for place, name in enumerate(names if isinstance(names, list) else ()):
                yield VerifierCheck(
                    name=f"{group}: {name}"[:LONGEST_NAME], passed=verdict_, field=f"{path}.{where}.{place}"
                )
        return
    for name, item in value.items():
        yield from _listed(f"{path}.{name}", item, depth + 1)


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _totals(have: tuple[str, ...], get: Get) -> Iterator[VerifierCheck]:
    """`f2p_passed` of `f2p_total` as one check each, which holds when they are equal; also inside a verifier's account."""
    yield from _counted("", {name: get(name) for name in have if is_read(name) and name not in NESTED}, 0)
    for field in NESTED:
        if field in have:
            yield from _counted(f"{field}.", get(field), 0)


def _counted(path: str, value: object, depth: int) -> Iterator[VerifierCheck]:
    if not isinstance(value, dict) or depth > DEEPEST:
        return
    pairs = [
        (stem, name, f"{stem}{ending}")
        for name in value
        if name.endswith("_total") and name not in ("_total", *_TOTALS)
        for stem in (name[: -len("_total")],)
        for ending in _ENDINGS
        if f"{stem}{ending}" in value
    ]
    pairs += [("tests", total, held) for total in _TOTALS for held in _HELD if total in value and held in value][:1]
    for stem, total_name, held_name in pairs:
        total, held = _count(value[total_name]), _count(value[held_name])
        if total is not None and held is not None and 0 <= held <= total and total > 0:
            words = f"{held} of {total}"
            yield VerifierCheck(
                name=stem, passed=held == total, field=f"{path}{held_name}", words=words, held=held, of=total
            )
    for name, item in value.items():
        if isinstance(item, dict) and "." not in name:
            yield from _counted(f"{path}{name}.", item, depth + 1)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value)
