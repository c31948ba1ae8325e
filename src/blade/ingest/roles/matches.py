"""The answer that was wanted and the one that was given: two fields that agree in passes and disagree in failures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from blade.ingest import cells
from blade.ingest.roles.outcome import Verdicts
from blade.ingest.roles.paths import Sample

LEAST_GAIN = 0.5
"""Agreement in passes minus agreement in failures. Two unrelated fields have none; a verifier that accepts other spellings
leaves about two thirds."""
FEWEST_OF_EACH = 3
FEWEST_VALUES = 4
"""With fewer different values two fields agree by chance; then names tell, or nobody."""
FEWEST_WRITTEN = 3
"""Characters of a value that is looked for in what the agent wrote: a letter stands in every text."""
_WANTED = re.compile(r"expect|gold|truth|reference|target|label|ideal|correct|key|^ref")
_GIVEN = re.compile(r"extract|predict|^pred|model|produced|output|final|parsed|given|^hyp|actual")
LEAST_STATED = 0.8
"""Of the passes, those in which the expected value must stand in the answer."""
MOST_FIELDS = 40
LONGEST = 2_000


class AgreeingFields(Struct, frozen=True, kw_only=True):
    """What was expected and what was produced."""

    expected: str
    produced: str
    why: str
    decided: bool = True
    """Whether it is known which is which."""


def normal(value: Any) -> str | None:
    """A small value as it is compared: without case and space, numbers as numbers."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, list):
        inner = [normal(item) for item in value]
        return "|".join(sorted(item or "" for item in inner)) if inner else None
    if isinstance(value, int | float):
        return f"{value:g}"
    if not isinstance(value, str) or len(value) > LONGEST:
        return None
    text = " ".join(value.lower().split()).strip(" .\"'")
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def agreeing_pair(
    sample: Sample, paths: Sequence[str], reward: Verdicts, groups: Sequence[Any] | None, output: Sequence[str]
) -> AgreeingFields | None:
    """The pair whose agreement goes with the verdict best; `groups` are the tasks where they have repeats."""
    passes = [place for place, value in enumerate(reward) if value == 1]
    failures = [place for place, value in enumerate(reward) if value is not None and value < 1]
    if len(passes) < FEWEST_OF_EACH or len(failures) < FEWEST_OF_EACH:
        return None
    columns = {path: [normal(value) for value in sample.columns[path]] for path in paths}
    columns = {p: v for p, v in columns.items() if len({*v} - {None}) >= FEWEST_VALUES}
    best: tuple[float, str, str] | None = None
    names = list(columns)[:MOST_FIELDS]
    for place, one in enumerate(names):
        for two in names[place + 1 :]:
            gain = _agreement(columns[one], columns[two], passes) - _agreement(columns[one], columns[two], failures)
            counts = _counts_of(sample.columns[one], sample.columns[two])
            if gain >= LEAST_GAIN and not counts and (best is None or gain > best[0]):
                best = gain, one, two
    if best is None:
        return None
    gain, one, two = best
    expected, produced = _sides(columns, one, two, groups, output, failures)
    if expected is None or produced is None:
        return AgreeingFields(expected=one, produced=two, why="", decided=False)
    high = _agreement(columns[one], columns[two], passes)
    why = f"the two agree in {high:.0%} of passes and {high - gain:.0%} of failures"
    return AgreeingFields(expected=expected, produced=produced, why=why)


def _counts_of(one: Sequence[Any], two: Sequence[Any]) -> bool:
    """Whether of two whole numbers one is never larger: how many held, of how many."""
    pairs = [(a, b) for a, b in zip(one, two, strict=True) if a is not None and b is not None]
    if not all(type(a) is int and type(b) is int for a, b in pairs):
        return False
    return all(a <= b for a, b in pairs) or all(b <= a for a, b in pairs)


def _agreement(one: Sequence[str | None], two: Sequence[str | None], places: Sequence[int]) -> float:
    return sum(one[p] is not None and one[p] == two[p] for p in places) / len(places)


def _sides(
    columns: dict[str, list[str | None]],
    one: str,
    two: str,
    groups: Sequence[Any] | None,
    output: Sequence[str],
    failures: Sequence[int],
) -> tuple[str | None, str | None]:
    """Expected and produced: what differs between the repeats of a task was produced; else what the agent wrote."""
    if groups is not None:
        fixed = [all_one(columns[path], groups) for path in (one, two)]
        if fixed[0] != fixed[1]:
            return (one, two) if fixed[0] else (two, one)
    lacking = [sum(value is None for value in columns[path]) for path in (one, two)]
    if 0 in lacking and max(lacking) > 0:
        return (one, two) if lacking[0] == 0 else (two, one)
    written = [sum(_stands_in(columns[path][p], output[p]) for p in failures) for path in (one, two)]
    if abs(written[0] - written[1]) >= max(2, len(failures) / 4):
        return (two, one) if written[0] > written[1] else (one, two)
    scores = [_by_name(first, second) for first, second in ((one, two), (two, one))]
    if scores[0] != scores[1]:
        return (one, two) if scores[0] > scores[1] else (two, one)
    return None, None


def _by_name(wanted: str, given: str) -> int:
    """How much the names say that one was wanted and the other given."""
    return (_WANTED.search(_name(wanted)) is not None) + (_GIVEN.search(_name(given)) is not None)


def _name(path: str) -> str:
    return path.rpartition(".")[2].lower()


def _stands_in(value: str | None, output: str) -> bool:
    if value is None or len(value) < FEWEST_WRITTEN:
        return value is not None and value.isdecimal() and re.search(rf"(?<!\d){value}(?!\d)", output) is not None
    return value in output


def all_one(values: Sequence[Any], groups: Sequence[Any]) -> bool:
    """Whether each group has one value."""
    known: dict[Any, Any] = {}
    return all(known.setdefault(group, value) == value for group, value in zip(groups, values, strict=True))


def stated(
    sample: Sample, paths: Sequence[str], reward: Verdicts, groups: Sequence[Any] | None, output: Sequence[str]
) -> tuple[str, str] | None:
    """The field whose value stands in what the agent wrote in passes and hardly in failures, and why."""
    passes = [place for place, value in enumerate(reward) if value == 1 and output[place]]
    failures = [place for place, value in enumerate(reward) if value is not None and value < 1 and output[place]]
    if len(passes) < FEWEST_OF_EACH or len(failures) < FEWEST_OF_EACH:
        return None
    best: tuple[float, str, float] | None = None
    for path in paths:
        column = [normal(value) for value in sample.columns[path]]
        if len({*column} - {None}) < FEWEST_VALUES or (groups is not None and not all_one(column, groups)):
            continue
        high, low = (
            sum(_stands_in(column[p], output[p]) for p in places) / len(places) for places in (passes, failures)
        )
        if high >= LEAST_STATED and high - low >= LEAST_GAIN and (best is None or high - low > best[0]):
            best = high - low, path, high
    if best is None:
        return None
    return best[1], f"stands in what was answered in {best[2]:.0%} of passes and {best[2] - best[0]:.0%} of failures"


def equalities(sample: Sample, paths: Sequence[str]) -> list[Verdicts]:
    """For every two fields with many values that are equal in some rows and not in others: where they are."""
    columns = {path: [_whole(value) for value in sample.columns[path]] for path in paths if "[" not in path}
    many = {path: column for path, column in columns.items() if len({*column} - {None}) >= FEWEST_VALUES}
    names = list(many)[:MOST_FIELDS]
    found: list[Verdicts] = []
    for place, one in enumerate(names):
        for two in names[place + 1 :]:
            equal: Verdicts = [float(a == b) for a, b in zip(many[one], many[two], strict=True)]
            if FEWEST_OF_EACH <= sum(value or 0 for value in equal) <= len(equal) - 1:
                found.append(equal)
    return found


def _whole(value: Any) -> str | None:
    """A value as it is compared; lists and objects by what they hold."""
    return cells.as_text(value) if isinstance(value, list | dict) else normal(value)
