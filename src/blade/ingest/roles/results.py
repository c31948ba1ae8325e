"""Named results inside a value: which tests or criteria it lists, and whether each passed, whatever the fields are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from blade.model.roles import ResultShape

WORDS: Mapping[str, bool] = {
    **dict.fromkeys(("pass", "passed", "success", "succeeded", "successful", "ok", "true", "met", "yes"), True),
    **dict.fromkeys(("satisfied", "correct", "resolved", "xfail", "xfailed"), True),
    **dict.fromkeys(
        ("right", "green", "y", "good", "accept", "accepted", "win", "won", "ja", "oui", "si", "tak", "hai"), True
    ),
    **dict.fromkeys(
        ("wrong", "red", "n", "bad", "reject", "rejected", "lose", "lost", "nein", "non", "nie", "iie"), False
    ),
    **dict.fromkeys(
        ("fail", "failed", "failure", "error", "errored", "false", "not_met", "not met", "not ok", "not_ok", "no"),
        False,
    ),
    **dict.fromkeys(
        (
            "unsatisfied",
            "incorrect",
            "unresolved",
            "xpass",
            "timeout",
            "timed out",
            "timed_out",
            "timedout",
            "crashed",
            "broken",
        ),
        False,
    ),
}
"""Words with which runners and judges give a verdict."""
SKIPPED = frozenset(
    ("skipped", "skip", "pending", "other", "disabled", "deselected", "not_run", "ignored", "todo", "unset", "none", "")
)
"""Words that give none: the test did not run."""
_FAULT = re.compile(r"\w*(?:Error|Exception)\b|^Traceback|\bassert", re.MULTILINE)
MOST = 5_000
"""Results read of one row; a larger set is a log, not a list of criteria."""


LONGEST_NAME = 120
"""Characters of the name of what failed, where it is told in a sentence."""


class Result(NamedTuple):
    """One of them, and where its verdict stands below the field."""

    name: str
    passed: bool
    where: str
    words: str = ""
    words_at: str = ""


def verdict_of(value: object) -> bool | None:
    """A truth value, a word or the number 0 or 1 as a verdict; anything else is none."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    return WORDS.get(value.strip().lower()) if isinstance(value, str) else None


def is_result(value: object) -> bool:
    """Whether a value is a verdict, or says that there is none."""
    return verdict_of(value) is not None or value is None or (isinstance(value, str) and value.lower() in SKIPPED)


def results_in(value: object, shape: ResultShape, names: object = None) -> list[Result]:
    """The results that a value of that shape lists, skipped ones left out; empty where it has another shape."""
    found = list(_READ[shape.kind](value, shape, names))
    return found if len(found) <= MOST else []


def _map(value: object, shape: ResultShape, names: object) -> Iterator[Result]:
    for name, item in value.items() if isinstance(value, dict) else ():
        if item is True or item is False:  # what most runs write; the rest tells the same of it
            yield Result(str(name), item, f"{name}.{shape.verdict}" if shape.verdict else str(name))
            continue
        inner = item.get(shape.verdict) if shape.verdict and isinstance(item, dict) else item
        passed = verdict_of(inner)
        if passed is not None:
            words, words_at = _words(item, shape)
            where = f"{name}.{shape.verdict}" if shape.verdict else str(name)
            yield Result(str(name), passed, where, words, f"{name}.{words_at}" if words_at and "." not in name else "")


def _objects(value: object, shape: ResultShape, names: object) -> Iterator[Result]:
    for place, item in enumerate(value) if isinstance(value, list) else ():
        passed = verdict_of(item.get(shape.verdict)) if isinstance(item, dict) else None
        if passed is not None:
            words, words_at = _words(item, shape)
            name = _named(item, shape.name) if shape.name else ""
            yield Result(
                name or f"item {place + 1}",
                passed,
                f"{place}.{shape.verdict}",
                words,
                f"{place}.{words_at}" if words_at else "",
            )


def _words(item: object, shape: ResultShape) -> tuple[str, str]:
    """The longest other text of an object: what was written about it."""
    if not isinstance(item, dict):
        return "", ""
    texts = [
        (name, value)
        for name, value in item.items()
        if isinstance(value, str) and name not in (shape.verdict, shape.name) and value.strip()
    ]
    name, text = max(texts, key=lambda pair: len(pair[1]), default=("", ""))
    return text, name


def _numbered(value: object, shape: ResultShape, names: object) -> Iterator[Result]:
    for place, item in enumerate(value) if isinstance(value, list) else ():
        passed = _code(item)
        if passed is not None:
            yield Result(f"test {place + 1}", passed, str(place))


def _code(item: object) -> bool | None:
    """A truth value, 0 or 1, or the negative code of a test that broke."""
    if isinstance(item, int) and not isinstance(item, bool) and item < 0:
        return False
    return verdict_of(item)


def _sides(value: object, shape: ResultShape, names: object) -> Iterator[Result]:
    for side, passed in ((shape.verdict, True), (shape.name, False)):
        listed = value.get(side) if isinstance(value, dict) else None
        for place, name in enumerate(listed if isinstance(listed, list) else ()):
            yield Result(str(name), passed, f"{side}.{place}")


def _traces(value: object, shape: ResultShape, names: object) -> Iterator[Result]:
    for name, text in value.items() if isinstance(value, dict) else ():
        if isinstance(text, str):
            yield Result(str(name), False, str(name), text, "" if "." in name else str(name))


def _failures(value: object, shape: ResultShape, names: object) -> Iterator[Result]:
    for place, name in enumerate(value) if isinstance(value, list) else ():
        if isinstance(name, str):
            yield Result(name[:LONGEST_NAME], False, str(place), name if len(name) > LONGEST_NAME else "")


def _parallel(value: object, shape: ResultShape, names: object) -> Iterator[Result]:
    if isinstance(value, list) and isinstance(names, list) and len(value) == len(names):
        for place, (name, item) in enumerate(zip(names, value, strict=True)):
            passed = verdict_of(item)
            if passed is not None:
                yield Result(str(name), passed, str(place))


_READ = {
    "map": _map,
    "objects": _objects,
    "numbered": _numbered,
    "sides": _sides,
    "traces": _traces,
    "failures": _failures,
    "parallel": _parallel,
}


def shapes_of(values: Sequence[Any]) -> Iterator[ResultShape]:
    """The shapes that all values of a field may have, the plainest first; empty containers have any."""
    full = [value for value in values if value not in ({}, [])]
    if full and all(isinstance(value, dict) for value in full):
        yield from _of_objects(full)
    elif full and all(isinstance(value, list) for value in full):
        yield from _of_lists(full)


def _of_objects(values: Sequence[Mapping[str, Any]]) -> Iterator[ResultShape]:
    items = [item for value in values for item in value.values()]
    if not items:
        return
    kinds = {type(item) for item in items if item is not None}
    if all(is_result(item) for item in items):
        # A single number is a reward under a name; truth values beside numbers are an account.
        several = len(items) > len(values) or kinds == {str}
        if any(verdict_of(item) is not None for item in items) and several and len(kinds) == 1:
            yield ResultShape(kind="map")
    elif all(isinstance(item, str) and _FAULT.search(item) for item in items):
        yield ResultShape(kind="traces")
    elif all(isinstance(item, dict) for item in items) and len(items) > len(values):
        yield from (ResultShape(kind="map", verdict=name) for name in verdict_fields(items))
    lists = {name for value in values for name, item in value.items() if _is_names(item)}
    shared = sorted(name for name in lists if all(_is_names(value.get(name)) for value in values))
    if len(shared) == 2 and all(not set(value[shared[0]]) & set(value[shared[1]]) for value in values):
        yield ResultShape(kind="sides", verdict=shared[0], name=shared[1])
        yield ResultShape(kind="sides", verdict=shared[1], name=shared[0])


def _of_lists(values: Sequence[list[Any]]) -> Iterator[ResultShape]:
    items = [item for value in values for item in value]
    if not items:
        return
    if all(isinstance(item, bool) or (type(item) is int and item < 0) for item in items) or (
        all(type(item) in (int, float) and item in (0, 1) for item in items) and len(items) > len(values)
    ):
        yield ResultShape(kind="numbered")
    elif all(isinstance(item, str) and item.strip() for item in items):
        yield ResultShape(kind="failures")
    elif all(isinstance(item, dict) for item in items):
        for name in verdict_fields(items):
            yield ResultShape(kind="objects", verdict=name, name=_name_field(values, name))


def verdict_fields(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Fields of objects that hold a verdict in nearly all of them, words before truth values before numbers."""
    names = dict.fromkeys(name for item in items for name in item)
    found = []
    for name in names:
        values = [item.get(name) for item in items]
        good = [value for value in values if verdict_of(value) is not None]
        # A tenth may have been skipped, or left out by a judge that gave up.
        if len(good) > 0.5 * len(items) and all(is_result(value) for value in values):
            found.append((min(map(_rank, good)), name))
    return [name for _, name in sorted(found, key=lambda pair: pair[0])]


def _rank(value: object) -> int:
    return 0 if isinstance(value, str) else 1 if isinstance(value, bool) else 2


def _name_field(values: Sequence[list[Any]], verdict: str) -> str:
    """The field that names the objects of a list: a text in words first, then what tells them apart, then the shortest."""
    items = [item for value in values for item in value]
    best: tuple[tuple[bool, bool, float], str] | None = None
    for name in dict.fromkeys(name for item in items for name in _inner_names(item)):
        texts = [_named(item, name) for item in items]
        if name == verdict or not all(texts):
            continue
        groups = [{_named(item, name) for item in value} for value in values]
        apart = sum(map(len, groups)) / max(1, len(items))
        in_words = sum(any(char.isalpha() for char in text) for text in texts) >= 0.9 * len(texts)
        key = (not in_words, apart < 0.9, sum(map(len, texts)) / len(texts))
        if apart >= 0.5 and (best is None or key < best[0]):
            best = key, name
    return best[1] if best is not None else ""


def _inner_names(item: Mapping[str, Any]) -> Iterator[str]:
    """The fields of an object and of the objects in it."""
    for name, value in item.items():
        yield name
        if isinstance(value, dict):
            yield from (f"{name}.{inner}" for inner in value)


def _named(item: Mapping[str, Any], path: str) -> str:
    """The text or number at a field of an object, or of an object in it; empty where it is something else."""
    value: Any = item
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
