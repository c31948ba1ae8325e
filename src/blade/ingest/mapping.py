"""Rows of nobody's harness: which of their fields is the task, the reward and so on, as the user says, or as it looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from blade.ingest.decode import BAD_VALUE, Row, decode_any, encode
from blade.model.errors import RequestError

FieldMap = tuple[tuple[str, str], ...]
"""Pairs of what a field is and its dotted path in the row."""

TARGETS: Mapping[str, str] = {
    "task": "task_id",
    "repeat": "repeat",
    "reward": "reward",
    "answer": "extracted_answer",
    "expected": "expected_answer",
    "prompt": "prompt",
    "messages": "messages",
    "output": "output",
    "model": "model",
    "agent": "agent_name",
    "error": "error",
    "stop": "stop_reason",
    "seconds": "duration",
    "cost": "cost",
    "checks": "checks",
}
"""What a field can be, and the name that rows have for it."""
_DEEPEST = 3
_LONGEST_ID = 100
_MOST_SHOWN = 12
_LONGEST_EXAMPLE = 40


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
        found = {TARGETS[target]: value for target, path in field_map if (value := _at(row, path)) is not None}
        if "reward" in found:
            found["reward"] = _as_number(found["reward"])
        return plain | found

    return mapped


def _at(row: Row, path: str) -> msgspec.Raw | None:
    """The value at a dotted path; a field whose own name has dots is found too."""
    if path in row:
        return row[path]
    first, _, rest = path.partition(".")
    value = decode_any(row[first]) if first in row else None
    for name in rest.split(".") if rest else ():
        value = value.get(name) if isinstance(value, dict) else None
    return msgspec.Raw(encode(value)) if value is not None else None


def _as_number(raw: msgspec.Raw) -> msgspec.Raw:
    value = decode_any(raw)
    return msgspec.Raw(encode(float(value))) if isinstance(value, bool) else raw


def guesses(rows: Sequence[Row]) -> str:
    """The fields of rows that nobody knows, an example of each, and the mapping to try."""
    fields: dict[str, list[Any]] = {}
    for row in rows:
        for path, value in _leaves(row):
            fields.setdefault(path, []).append(value)
    shown = [
        f"{path[:_LONGEST_EXAMPLE]} ({_example(values[0])})" for path, values in list(fields.items())[:_MOST_SHOWN]
    ]
    listed = ", ".join(shown) + (", ..." if len(fields) > _MOST_SHOWN else "")
    scores = [path for path, values in fields.items() if _is_score(values, len(rows))]
    # Whole numbers from 0 to 1 may count attempts; truth values and fractions hardly do.
    reward = min(scores, key=lambda path: all(type(value) is int for value in fields[path]), default=None)
    task = next((path for path, values in fields.items() if path != reward and _is_id(values, len(rows))), None)
    tried = f"--map task={task or 'FIELD'} --map reward={reward or 'FIELD'}"
    return f"its fields are {listed or 'none'}; if these are rollouts, say what is what: {tried}"


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
    elif value is not None:
        yield path, value


def _is_score(values: Sequence[Any], rows: int) -> bool:
    """A truth value or a number from 0 to 1 in every row; a number that never changes is a setting."""
    if len(values) < rows or not all(isinstance(value, bool | int | float) and 0 <= value <= 1 for value in values):
        return False
    return len({float(value) for value in values}) > 1 or all(isinstance(value, bool) for value in values)


def _is_id(values: Sequence[Any], rows: int) -> bool:
    """A short text or a whole number in every row that tells most rows, or groups of repeats, apart."""
    if len(values) < rows or not all(
        isinstance(value, str | int) and not isinstance(value, bool) and 0 < len(str(value)) <= _LONGEST_ID
        for value in values
    ):
        return False
    return len(set(map(str, values))) > max(1, rows // 10)


def _example(value: Any) -> str:
    text = value if isinstance(value, str) else encode(value).decode()
    return text if len(text) <= _LONGEST_EXAMPLE else f"{text[:_LONGEST_EXAMPLE]}..."
