"""Which run, task or slice a number of a sentence is about; where the words do not settle it, that is said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from blade.claims.facts import POOLED
from blade.claims.markdown import Passage
from blade.claims.names import Named, Names

_SENTENCE = re.compile(r"(?<=[.!?])[\"')\u201d]?\s+(?=[\"'(\u201cA-Z\d]|[a-z][\w-]*\d)|\n")
_CLAUSE = re.compile(r";\s+|,\s+(?:while|whereas|but)\s+")
_NARROWED = re.compile(
    r"\b(?:where|that|which|whose|when|whenever|without|those|these|who|if|unless|remaining|other|others|another|except"
    r"|excluding|excluded|besides|ignoring|leaving out|would|could|should|may|might|read|first|last|once|there|here|them|among|such|half|cannot|recorded|stated|reported|published|leaderboard|previously|expected\s+to)\b",
    re.IGNORECASE,
)
_POOLED = re.compile(
    r"\b(?:combined|altogether|pooled|in\s+total,?\s+(?:the\s+two|both)\s+(?:runs|models))\b", re.IGNORECASE
)
_BOTH = re.compile(r"\b(?:both|the\s+two|across\s+(?:the\s+)?(?:two\s+)?)\s*(?:runs|models)\b", re.IGNORECASE)
_FOLLOWED = re.compile(r"\s*%?\s*(?:\)?\s*(?:for|by|from|on|in)\s+|\()$")
_NEAR = 40


@dataclass(frozen=True)
class Sentence:
    """A clause of a passage: where it begins and ends."""

    passage: Passage
    start: int
    end: int
    whole_start: int
    """Of the sentence that the clause is part of."""
    whole_end: int

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]


def sentences(passage: Passage) -> list[Sentence]:
    """The clauses of a passage in order."""
    found = []
    for start, end in _split(passage.text, _SENTENCE, 0, len(passage.text)):
        for inner, stop in _split(passage.text, _CLAUSE, start, end):
            found.append(Sentence(passage, inner, stop, start, end))
    return found


def _split(text: str, at: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
    cuts = [(found.start(), found.end()) for found in at.finditer(text, start, end)]
    edges = [start, *(edge for cut in cuts for edge in cut), end]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]


def narrowed(sentence: Sentence) -> bool:
    """Whether the words narrow down what is counted, in a way that is not understood here."""
    return bool(_NARROWED.search(sentence.text))


def runs_of(sentence: Sentence, start: int, end: int, names: Names) -> tuple[str, ...]:
    """The runs that a number at a place of a sentence may be of: one where the words say which."""
    text = sentence.passage.text
    if _POOLED.search(sentence.text):
        return (POOLED,)
    if _BOTH.search(sentence.text):
        return (*names.runs, POOLED)
    mine = [one for one in names.runs_in(text) if sentence.whole_start <= one.start < sentence.whole_end]
    if mine:
        return _named(mine, text, start, end)
    outside = _around(sentence.passage, names)
    return outside or tuple(names.runs)


def _named(mine: Sequence[Named], text: str, start: int, end: int) -> tuple[str, ...]:
    """`0.708 for heron` is heron's; else the last run named before; else the only one."""
    after = [one for one in mine if one.start >= end and _FOLLOWED.fullmatch(text[end : one.start])]
    before = [one for one in mine if one.end <= start]
    if after:
        return (after[0].name,)
    if len({one.name for one in mine}) == 1:
        return (mine[0].name,)
    return (before[-1].name,) if before else tuple(dict.fromkeys(one.name for one in mine))


def _around(passage: Passage, names: Names) -> tuple[str, ...]:
    """The run that the passage or the headings above it name, if they name one and agree."""
    opening = [one.name for one in names.runs_in(passage.text)]
    here = set(opening)
    if len(here) == 1 and names.runs_in(passage.text)[0].start == 0:
        return (opening[0],)
    above: set[str] = set()
    for heading in reversed(passage.headings):
        above = {one.name for one in names.runs_in(heading)}
        if above:
            break
    wanted = here | (above if len(above) == 1 else set())
    if len(wanted) == 1:
        return tuple(wanted)
    return tuple(names.runs) if wanted or above else _only(names)


def _only(names: Names) -> tuple[str, ...]:
    return tuple(names.runs) if len(names.runs) == 1 else ()


def scope_of(sentence: Sentence, start: int, names: Names) -> str | None:
    """`task:ID`, `slice:FIELD=VALUE`, or empty for the whole run; None where several are named and none is near."""
    text = sentence.passage.text
    tasks = [one for one in names.tasks_in(text) if sentence.start <= one.start < sentence.end]
    slices = [one for one in names.slices_in(text) if sentence.start <= one.start < sentence.end]
    mine = sorted((*tasks, *slices), key=lambda one: one.start)
    if not mine:
        return _scope_around(sentence, names)
    if len({(one.kind, one.name) for one in mine}) == 1:
        return _scope(mine[0])
    before = [one for one in mine if one.end <= start]
    return _scope(before[-1]) if before and start - before[-1].end <= _NEAR else None


def _scope(named: Named) -> str:
    return f"{named.kind}:{named.name}"


def _scope_around(sentence: Sentence, names: Names) -> str | None:
    """What the passage opened with before the sentence, or else what the heading right above it is about."""
    passage = sentence.passage
    before = passage.text[: sentence.start]
    named = (*names.tasks_in(before), *names.slices_in(before))
    if named:
        return _scope_of_one({(one.kind, one.name) for one in named}) if _opens(named) else None
    above = passage.headings[-1] if passage.headings and passage.kind != "heading" else ""
    found = {(one.kind, one.name) for one in (*names.tasks_in(above), *names.slices_in(above))}
    return _scope_of_one(found) if found else ""


def _opens(named: Sequence[Named]) -> bool:
    return min(one.start for one in named) <= len("Task ") and all(one.kind == "task" for one in named)


def _scope_of_one(found: set[tuple[str, str]]) -> str | None:
    if len(found) != 1:
        return None
    kind, name = next(iter(found))
    return f"{kind}:{name}"
