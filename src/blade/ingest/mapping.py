"""Rows of nobody's harness: which of their fields is the task, the reward and so on, as the user says, or as it looks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from blade.ingest import cells
from blade.ingest.decode import BAD_VALUE, Row, decode_any, encode
from blade.ingest.fields import BY_NAME, ID_NAMES, is_verdict
from blade.ingest.roles.outcome import choose_task, says_bad
from blade.ingest.roles.paths import Sample
from blade.ingest.roles.results import verdict_of
from blade.model.errors import RequestError
from blade.model.field_map import TARGETS, FieldMap

REVERSED = "!"
"""Before a field that is set where something went wrong, such as `failed` or an exit code: its zero is a pass."""
_DEEPEST = 3
_FEW = 3
"""Entries of a list that are looked into: the scores of a record, and not its history."""
_LONGEST_ID = 100
_MOST_SHOWN = 12
_LONGEST_EXAMPLE = 40
_MOST_SHARING = 5
"""Rows on average with one value, beyond which another field names the task, if there is one."""
_HIGHEST_GRADE = 100
"""People grade up to 5, 10 or 100; larger numbers are amounts."""
_IS_GRADE = re.compile(r"star|point|award|mark|grade|rating|percent|rank", re.IGNORECASE)
_IS_AMOUNT = re.compile(r"token|second|time|_ms|Ms$|cost|step|turn|count|num|duration|length|size", re.IGNORECASE)
_MOST_REPEATS = 64
"""A whole number beyond it is no index of an attempt: people repeat a task a few times."""
_IN_LIST = re.compile(r"\.\d+\.")
_LONGEST_FRACTION = 16
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d+)?(?:e[-+]?\d{1,3})?")
_NAMES_A_TASK = re.compile(r"(?:\b|_)(?:id|task|case|key|test|question|problem|instance|name)\b", re.IGNORECASE)
_NOT_JUDGED = ("error", "errored", "skipped", "skip", "n/a", "none", "unknown")
"""Words for a result that is no verdict."""
_OF_A_MODEL = ("response.", "responses_create_params.")
"""Where a request and a response keep settings and states that judge nothing."""
_OF_AN_ANSWER = frozenset(
    path for target in ("expected", "answer", "output") if target in BY_NAME for path in BY_NAME[target].paths
) | {"response", "output", "prediction", "completion"}
"""Names of what was expected and given, which name no task."""
_GIVEN = re.compile(r"output|predict|generat|respon|actual|model", re.IGNORECASE)
"""Where what was given stands, though it be called an answer."""
_HINTED = ("prompt", "expected", "answer", "model")
"""What is guessed by a field's name alone, since content shows it only over many rows."""


def read_map(words: Sequence[str]) -> FieldMap:
    """`task=case_id`, `reward=grading.points`, each once; raises with what can be mapped."""
    known = ", ".join(TARGETS)
    pairs = []
    for text in words:
        target, equals, path = text.partition("=")
        if not equals or not path or target not in TARGETS:
            raise RequestError(f"--map {text} is no mapping", hint=f"--map WHAT=FIELD, where WHAT is one of {known}")
        pairs.append((target, path))
    twice = next((target for target, _ in pairs if sum(target == other for other, _ in pairs) > 1), None)
    if twice is not None:
        raise RequestError(f"--map names {twice} twice", hint="name one field for it")
    return tuple(pairs)


def with_map(as_row: Callable[[Row], Row] | None, field_map: FieldMap) -> Callable[[Row], Row] | None:
    """`as_row` with the mapped fields put under the names that rows have; `as_row` itself where nothing is mapped."""
    if not field_map:
        return as_row

    def mapped(row: Row) -> Row:
        plain = row if as_row is None else as_row(row)
        pairs = ((target, path.removeprefix(REVERSED), path) for target, path in field_map)
        found = {
            TARGETS[target]: _as_number(value, path.startswith(REVERSED)) if target == "reward" else value
            for target, where, path in pairs
            if (value := _at(row, where)) is not None
        }
        return plain | found

    return mapped


def _at(row: Row, path: str) -> msgspec.Raw | None:
    """The value at a dotted path, in which a number is a place in a list; a field whose own name has dots is found too."""
    if path in row:
        return row[path]
    first, _, rest = path.partition(".")
    value = decode_any(row[first]) if first in row else None
    for name in rest.split(".") if rest else ():
        if isinstance(value, list):
            value = value[int(name)] if name.isdecimal() and int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return msgspec.Raw(encode(value)) if value is not None else None


def _as_number(raw: msgspec.Raw, reverse: bool) -> msgspec.Raw:
    """A reward as a number; of a field that is set where something went wrong: 1 where it is not."""
    value = reward_of(decode_any(raw))
    if value is None:
        return raw
    return msgspec.Raw(encode(float(value == 0) if reverse else value))


def reward_of(value: object) -> float | None:
    """A number, a truth value, or a word such as `passed`, as a reward; None for anything else."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _NOT_JUDGED:
            return None
        said, colon, _ = word.partition(":")  # `failed: AssertionError`
        judged = verdict_of(said if colon else word)
        return float(judged) if judged is not None else _number_in(word)
    return cells.number(value)


def _number_in(word: str) -> float | None:
    """A number in words: `0.5`, `50%`, and `3/5` where it is at most one."""
    if _NUMBER.fullmatch(word):
        return float(word)
    if word.endswith("%") and _NUMBER.fullmatch(word[:-1]):
        return float(word[:-1]) / 100
    part, _, whole = word.partition("/")
    if part.isdecimal() and whole.isdecimal() and len(word) < _LONGEST_FRACTION and 0 < int(whole) >= int(part):
        return int(part) / int(whole)
    return None


def guesses(rows: Sequence[Row]) -> str:
    """The fields of rows that nobody knows, an example of each with what it may be, and the mapping to try."""
    fields = _fields(rows)
    guessed = _guessed(fields, len(rows))
    tried = _tried(fields, dict(guessed))
    names = {path: target for target, path in guessed.items()}
    known = [path for path in fields if path in names]
    others = [path for path in fields if path not in names]
    order = sorted([*known, *others[: max(0, _MOST_SHOWN - len(known))]], key=list(fields).index)
    shown = [_field(path, fields[path][0], names.get(path)) for path in order]
    listed = ", ".join(shown) + (", ..." if len(fields) > len(order) else "")
    ask = "if these are rollouts, say what is what"
    if guessed["reward"] == "FIELD":
        ask = f"none of them looks like a verdict; {ask}, with the field that judges them in place of FIELD"
        part = _of_some(fields, len(rows))
        if part is not None:
            ask = f"{part} stands in {len(fields[part])} of {len(rows)} rows: keep only these if they are the results; {ask}"
    return f"its fields are {listed or 'none'}; {ask}: {tried}"


def mapping_to_try(rows: Sequence[Row]) -> str:
    """The options that say what the fields of rows may be."""
    fields = _fields(rows)
    return _tried(fields, _guessed(fields, len(rows)))


def _tried(fields: Mapping[str, Sequence[Any]], guessed: dict[str, str]) -> str:
    reward = guessed["reward"]
    if reward in fields and says_bad(reward) and not any(isinstance(value, str) for value in fields[reward]):
        guessed["reward"] = f"{REVERSED}{reward}"
    tried = " ".join(f"--map {shlex.quote(f'{target}={path}')}" for target, path in guessed.items())
    if reward in fields and any(_above_one(value) for value in fields[reward]) and not says_bad(reward):
        tried += f" --pass-threshold {_threshold(reward, fields)}"
    return tried


def looks_scored(rows: Sequence[Row]) -> bool:
    """Whether a field of the rows, by its name and by what it holds, is a verdict that nobody reads."""
    own = {path: values for path, values in _fields(rows).items() if not path.startswith(_OF_A_MODEL)}
    return is_verdict(_guessed(own, len(rows))["reward"])


def _fields(rows: Sequence[Row]) -> dict[str, list[Any]]:
    fields: dict[str, list[Any]] = {}
    for row in rows:
        for path, value in _leaves(row):
            fields.setdefault(path, []).append(value)
    return fields


def _of_some(fields: Mapping[str, Sequence[Any]], rows: int) -> str | None:
    """The first field that judges the rows that have it, where others have none: events of which some are results."""
    return next(
        (path for path, values in fields.items() if len(values) < rows and _is_score(values, len(values))), None
    )


def _field(path: str, value: Any, target: str | None) -> str:
    return f"{path[:_LONGEST_EXAMPLE]} ({_example(value)}{f'; the {target}?' if target else ''})"


def _guessed(fields: Mapping[str, Sequence[Any]], rows: int) -> dict[str, str]:
    """What each field may be: task and reward always, `FIELD` where nothing looks like them."""
    scores = [path for path, values in fields.items() if _is_score(values, rows)]
    scores = scores or [path for path, values in fields.items() if _is_grade(path, values, rows)]
    # A flag that never changes says less than one that does; whole numbers from 0 to 1 may count attempts, others hardly do.
    reward = min(
        scores,
        key=lambda path: (
            len({str(value) for value in fields[path]}) < 2,
            _IN_LIST.search(path) is not None,
            not is_verdict(path),
            all(type(value) is int for value in fields[path]) and not _goes_with(path, scores, fields),
            not {*map(reward_of, fields[path])} <= {0.0, 1.0, None},
        ),
        default=None,
    )
    if reward is not None and says_bad(reward) and len({str(value) for value in fields[reward]}) < 2:
        reward = None  # that nothing went wrong is no verdict
    ids = [path for path, values in fields.items() if path != reward and _is_id(values, rows)]
    task = _grouping(fields, ids, rows) or min(
        ids,
        key=lambda path: (
            path not in ID_NAMES,
            _is_coarse(fields[path]),
            path.rpartition(".")[2].lower() in _OF_AN_ANSWER,
            _is_prose(fields[path]),
            _NAMES_A_TASK.search(path) is None,
        ),
        default=None,
    )
    found = {"task": task or "FIELD", "reward": reward or "FIELD"}
    taken = {task, reward}
    repeat = next((path for path, values in fields.items() if path not in taken and _is_repeat(values, rows)), None)
    if repeat is not None and task is not None:
        pairs = set(zip(map(str, fields[task]), map(str, fields[repeat]), strict=False))
        if len(pairs) == rows > len(set(map(str, fields[task]))):
            found["repeat"] = repeat
    talk = next((path for path, values in fields.items() if all(map(is_talk, values))), None)
    if talk is not None:
        found["messages"] = talk
    for target in _HINTED:
        names = {path for path in BY_NAME[target].paths if "." not in path}
        kinds = str if target == "prompt" else str | int | float
        texts = (path for path, values in fields.items() if isinstance(values[0], kinds))
        named = [path for path in texts if path.rpartition(".")[2].lower() in names]
        path = next((path for path in named if target != "expected" or not _GIVEN.search(path)), None)
        if path is not None and path not in {*found.values(), *taken}:
            found[target] = path
    return found


def _grouping(fields: Mapping[str, Sequence[Any]], ids: Sequence[str], rows: int) -> str | None:
    """The field by which rows with several attempts at a task are grouped, as the roles of fields have it."""
    flat = [
        {path.replace(".", "/"): fields[path][place] for path in fields if len(fields[path]) == rows}
        for place in range(rows)
    ]
    repeated = {path.replace(".", "/"): path for path in ids if len({*map(str, fields[path])}) < rows}
    return repeated.get(choose_task(Sample(flat), [None] * rows, frozenset()).path or "")


def _goes_with(path: str, scores: Sequence[str], fields: Mapping[str, Sequence[Any]]) -> bool:
    """Whether another score is higher wherever this one is 1: both grade the same thing, and this one counts nothing."""
    for other in scores:
        pairs = [(reward_of(a), reward_of(b)) for a, b in zip(fields[path], fields[other], strict=False)]
        high, low = ([b for a, b in pairs if a == side and b is not None] for side in (1, 0))
        if other != path and high and low and min(high) > max(low):
            return True
    return False


def _leaves(row: Row) -> Iterator[tuple[str, Any]]:
    for name, raw in row.items():
        try:
            yield from _below(name, decode_any(raw), 1)
        except BAD_VALUE:
            continue


def _below(path: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and depth < _DEEPEST:
        for name, inner in value.items():
            yield from _below(f"{path}.{name}", inner, depth + 1)
    elif isinstance(value, list) and 0 < len(value) <= _FEW and depth < _DEEPEST and not is_talk(value):
        if not any(isinstance(item, dict) for item in value):
            yield path, value
        for place, item in enumerate(value):
            if isinstance(item, dict):
                yield from _below(f"{path}.{place}", item, depth)
    elif value is not None:
        yield path, value


def _is_score(values: Sequence[Any], rows: int) -> bool:
    """A truth value, a number from 0 to 1 or a word of pass and fail in every row; a number that never changes is a setting."""
    if len(values) < rows:
        return False
    if all(isinstance(value, str) for value in values):
        words = {value.strip().lower() for value in values}
        if all(map(_NUMBER.fullmatch, words)):
            return words == {"0", "1"}
        return all(reward_of(word) is not None or word in _NOT_JUDGED for word in words)
    if not all(isinstance(value, bool | int | float) and 0 <= value <= 1 for value in values):
        return False
    return len({float(value) for value in values}) > 1 or all(isinstance(value, bool) for value in values)


def _is_grade(path: str, values: Sequence[Any], rows: int) -> bool:
    """A number in every row that few rows share no more than by chance and that does not count them; or an exit code."""
    if len(values) < rows or not all(type(value) in (int, float) and value >= 0 for value in values):
        return False
    if says_bad(path) and {0} < {*values}:
        return True
    if max(values) > _HIGHEST_GRADE or not (is_verdict(path) or _IS_GRADE.search(path)):
        return False
    ordered = list(values) == sorted(values) and len({*values}) == len(values)
    return len({*values}) > 2 and not ordered and not _NAMES_A_TASK.search(path) and not _IS_AMOUNT.search(path)


def _above_one(value: Any) -> bool:
    return type(value) in (int, float) and value > 1


def _threshold(reward: str, fields: Mapping[str, Sequence[Any]]) -> float:
    """From which grade on a rollout passes: a constant beside it that lies among the grades, else the middle of them."""
    grades = fields[reward]
    constants = [values[0] for values in fields.values() if len({str(value) for value in values}) == 1]
    among = [value for value in constants if type(value) in (int, float) and min(grades) < value < max(grades)]
    return float(among[0]) if among else (min(grades) + max(grades)) / 2


def _is_id(values: Sequence[Any], rows: int) -> bool:
    """A short text or a whole number in every row that tells most rows, or groups of repeats, apart."""
    if len(values) < rows or not all(
        isinstance(value, str | int) and not isinstance(value, bool) and 0 < len(str(value)) <= _LONGEST_ID
        for value in values
    ):
        return False
    return len(set(map(str, values))) > max(1, rows // 10)


def _is_coarse(values: Sequence[Any]) -> bool:
    """Whether few values stand for many rows: a category, or an amount."""
    return len(set(map(str, values))) * _MOST_SHARING < len(values)


def _is_prose(values: Sequence[Any]) -> bool:
    """Whether values are words rather than a name."""
    return any(isinstance(value, str) and value.count(" ") > 1 for value in values)


def _is_repeat(values: Sequence[Any], rows: int) -> bool:
    return len(values) == rows and all(type(value) is int and 0 <= value <= _MOST_REPEATS for value in values)


def is_talk(value: Any) -> bool:
    """Whether a list is what several said: objects of which each has a text, and most have who said it."""
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return False
    spoken = sum(
        any(isinstance(item.get(name), str | list) for name in ("content", "text", "value", "message", "tool_calls"))
        and any(
            isinstance(item.get(name), str) for name in ("role", "name", "speaker", "agent", "sender", "actor", "from")
        )
        for item in value
    )
    return 2 * spoken > len(value)


def _example(value: Any) -> str:
    text = value if isinstance(value, str) else encode(value).decode()
    return text if len(text) <= _LONGEST_EXAMPLE else f"{text[:_LONGEST_EXAMPLE]}..."
