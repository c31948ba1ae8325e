"""Names that a report gives to things, told by their shape alone: tasks, rollouts, steps, tools, fields, rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from blade.claims.markdown import Passage
from blade.claims.names import Names, quotes
from blade.model.analysis import Analysis

NO_NAMES = Names(Analysis(runs=()))
"""What the audit's parser knows when there is no data: places by their shape."""
_TASKS = re.compile(
    r"\b(?:tasks?|problems?|instances?)\s+((?:`?[\w./-]*\d[\w./-]*`?(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*&\s*)?)+)(?!\s*(?:of\b|/|%|x\b|\u00d7))",
    re.IGNORECASE,
)
_ONE = re.compile(r"[\w./-]*\d[\w/-]*")
_SHAPED = re.compile(r"(?<![\w@#^./-])(?=[\w./-]*[\d_])[A-Za-z][A-Za-z0-9]*(?:[_./-]+[A-Za-z0-9]+)*(?![\w@^]|-\w)")
_NO_ID = re.compile(
    r"(?:top|best|pass|k|step|steps|repeat|section|figure|table|page|version|v|of|gpu|cpu|utf|sha|h|p|n|x|q)[-_./]?\d+"
    r"|[A-Za-z]+-of-\d+|https?.*",
    re.IGNORECASE,
)
_PLACE = re.compile(r"(.+?)#(\d+)(?::(\d+))?")
_RANGE = re.compile(r"-(\d{1,3})(?![\w:#])")
_LONGEST_TICKED = 40


@dataclass(frozen=True)
class Mention:
    """A name at a place of a passage."""

    start: int
    end: int
    name: str
    """In lower case; a place as `TASK#REPEAT:STEP`."""


def mentions(passage: Passage, before: str = "") -> list[Mention]:
    """The names in a passage, in order; `before` is the place that a short `:6` at its beginning goes on from."""
    found = [*_places(passage, before), *_spoken(passage.text), *_shaped(passage), *_ticked(passage)]
    kept: list[Mention] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end, one.name)):
        if not kept or one.start >= kept[-1].end or (one.start, one.end) == (kept[-1].start, kept[-1].end):
            kept.append(one)
    return kept


def _places(passage: Passage, before: str) -> Iterator[Mention]:
    rollout = before
    for place in NO_NAMES.locations_in(passage.text):
        if place.short:
            if rollout:
                yield Mention(place.start, place.end, f"{rollout}:{place.step}")
            continue
        rollout = f"{place.task_id.lower()}#{place.repeat}"
        yield Mention(place.start, place.end, rollout if place.step is None else f"{rollout}:{place.step}")
        last = _RANGE.match(passage.text, place.end) if place.step is None else None
        for repeat in range((place.repeat or 0) + 1, min(int(last.group(1)), 64) + 1) if last else ():
            yield Mention(place.start, place.end, f"{place.task_id.lower()}#{repeat}")


def _spoken(text: str) -> Iterator[Mention]:
    """`task 39`, `tasks 25, 26 and 41`."""
    for found in _TASKS.finditer(text):
        for one in _ONE.finditer(text, *found.span(1)):
            if not re.match(r"\s*(?:of\b|/|%|x\b|tasks|rollouts)|#", text[one.end() :]):
                yield Mention(*one.span(), one.group().strip(".").lower())


def _shaped(passage: Passage) -> Iterator[Mention]:
    for found in _SHAPED.finditer(passage.text):
        if not _NO_ID.fullmatch(found.group()):
            yield Mention(*found.span(), found.group().lower())


def _ticked(passage: Passage) -> Iterator[Mention]:
    """One word between backticks, when it cannot be taken for an ordinary one."""
    for start, end in passage.code:
        word = passage.text[start:end].strip()
        named = re.fullmatch(r"[\w.:/#=-]+", word) and re.search(r"[\d_.:/#=-]|[a-z][A-Z]", word)
        if named and len(word) <= _LONGEST_TICKED and re.search(r"[A-Za-z]", word):
            yield Mention(start, end, word.lower())


def veiled(passage: Passage, letter: str) -> str:
    """The text with a letter for every character that is quoted, named or between backticks."""
    spans = [*passage.code]
    spans += [(one.start, one.end) for one in quotes(passage)]
    spans += [(one.start, one.end) for one in mentions(passage)]
    text = passage.text
    for start, end in spans:
        text = text[:start] + letter * (end - start) + text[end:]
    return text


def parts(name: str) -> tuple[str, ...]:
    """A name with what it is part of: step, rollout, task."""
    found = _PLACE.fullmatch(name)
    if found is None:
        return (name,)
    task, repeat, step = found.groups()
    return (task, f"{task}#{repeat}") if step is None else (task, f"{task}#{repeat}", name)


def is_place(name: str) -> bool:
    """Whether the name is a rollout or a step of one."""
    return _PLACE.fullmatch(name) is not None


def task_of(name: str) -> str:
    """The task that a place belongs to; the name itself when it is none."""
    return parts(name)[0]


def share_named(wanted: Iterable[str], said: frozenset[str]) -> float:
    """How much of the wanted names is said: in full 1, the right rollout without the step 0.75, the task alone 0.5."""
    wanted = list(wanted)
    whole = {part for name in said for part in parts(name)}
    return sum(_named(name, whole) for name in wanted) / len(wanted) if wanted else 1.0


def _named(name: str, whole: set[str]) -> float:
    if name in whole:
        return 1.0
    _, *rest = parts(name)
    if len(rest) == 2 and rest[0] in whole:
        return 0.75
    return 0.5 if rest and task_of(name) in whole else 0.0
