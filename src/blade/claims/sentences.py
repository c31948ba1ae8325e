"""Numbers in sentences, bound to their subjects by the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from blade.claims.binding import Bound
from blade.claims.facts import POOLED
from blade.claims.markdown import Passage
from blade.claims.mentions import Number, numbers
from blade.claims.names import Names
from blade.claims.patterns import PATTERNS, WORDS, Meaning, Subject, named_patterns
from blade.claims.scope import Sentence, narrowed, runs_of, scope_of, sentences

_HEDGED = re.compile(
    r"(?:\babout|\baround|\broughly|~|\bapproximately|\bnearly|\balmost|\bsome|\bclose\s+to|\bwithin)\s*$",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"(?:,|\b(?:mean|averaged?|averages|computed|measured|passed|rate|scores?|scored))\s+over\s+$", re.IGNORECASE
)
"""`55 passed, over 24 tasks`: what it is counted over, not more than that."""
_RELATIONS = (
    (re.compile(r"\b(?:at\s+least|no\s+fewer\s+than|no\s+less\s+than)\s+$", re.IGNORECASE), ">="),
    (re.compile(r"\b(?:at\s+most|up\s+to|no\s+more\s+than)\s+$", re.IGNORECASE), "<="),
    (re.compile(r"\b(?:more|higher|greater)\s+than\s+$|\b(?:over|above|exceeds)\s+$", re.IGNORECASE), ">"),
    (re.compile(r"\b(?:fewer|less|lower)\s+than\s+$|\b(?:under|below)\s+$", re.IGNORECASE), "<"),
)


def bound_numbers(passage: Passage, names: Names) -> Iterator[Bound]:
    """Each number whose subject the words of its sentence give."""
    mentions = {one.start: one for one in numbers(passage, names)}
    taken: set[int] = set()
    for sentence in sentences(passage):
        mine: list[Bound] = []
        for found, meaning in _matches(sentence, names):
            for group, subject in meaning.items():
                bound = _bind(sentence, found, group, subject, mentions, names)
                if bound is not None and bound.number.start not in taken:
                    taken.add(bound.number.start)
                    mine.append(bound)
        for bound in _elliptical(sentence, mine, mentions, names):
            if bound.number.start not in taken:
                taken.add(bound.number.start)
                mine.append(bound)
        yield from mine


def _bind(
    sentence: Sentence, found: re.Match[str], group: str, subject: Subject, mentions: dict[int, Number], names: Names
) -> Bound | None:
    """The number of a group with its runs and scope; None where something stands against it."""
    text, start = sentence.passage.text, found.start(group)
    number = mentions.get(start) or _word(found, group)
    if number is None or _HEDGED.search(text[:start]) or _no_fraction(number, subject):
        return None
    scope = subject.scope if subject.scope is not None else scope_of(sentence, start, names)
    if scope is None or not scope.startswith(subject.needs) or (narrowed(sentence) and not subject.exempt):
        return None
    runs = (POOLED,) if subject.pooled else runs_of(sentence, found.start(), found.end(), names)
    return Bound(
        passage=sentence.passage,
        number=number,
        runs=runs,
        scope=scope,
        subjects=subject.subjects,
        pair=found.start() if found.re.groupindex.keys() >= {"a", "b"} else None,
        relation=_relation(text[: found.start()]) if start == found.start() else "=",
    )


def _no_fraction(number: Number, subject: Subject) -> bool:
    """A whole number above one is no score."""
    return subject.subjects[0] == "rate" and not number.percent and not number.decimals and number.value > 1


def _word(found: re.Match[str], group: str) -> Number | None:
    """A number that is written as a word."""
    word = found.group(group).lower()
    if word not in WORDS:
        return None
    return Number(found.start(group), found.end(group), found.group(group), float(WORDS.index(word)), 0, False)


def _relation(before: str) -> str:
    if _OVER.search(before):
        return "="
    return next((sign for way, sign in _RELATIONS if way.search(before)), "=")


def _matches(sentence: Sentence, names: Names) -> Iterator[tuple[re.Match[str], Meaning]]:
    """Every pattern that the sentence holds, with what its groups count; the surest first."""
    text = sentence.passage.text
    for pattern, meaning in (*PATTERNS, *named_patterns(names.run_words, names.stages, names.modes)):
        for found in pattern.finditer(text, sentence.start, sentence.end):
            made = meaning(found)
            if made:
                yield found, made


_NAME_BEFORE = re.compile(
    r"\W{0,3}\s*(?:with|at|on|in|has|had|scores|scored|reaches|reached|only|gets|got|:|=|\()?\s*$"
)
_PAIR = re.compile(r"(\d[\d,]*)\s*(?:of|out of|/)\s*(\d[\d,]*)")


def _elliptical(
    sentence: Sentence, mine: Sequence[Bound], mentions: dict[int, Number], names: Names
) -> Iterator[Bound]:
    """`heron passes 68 of 96 and sparrow 55 of 95`: a name with numbers in the form of those before counts the same."""
    text = sentence.passage.text
    whole = [one for one in (*names.runs_in(text), *names.tasks_in(text)) if sentence.start <= one.start < sentence.end]
    for named in sorted(whole, key=lambda one: one.start):
        number = next((mentions[at] for at in sorted(mentions) if at >= named.end), None)
        if number is None or number.end > sentence.end or not _NAME_BEFORE.fullmatch(text[named.end : number.start]):
            continue
        pair = _PAIR.match(text, number.start)
        earlier = [one for one in mine if one.number.start < named.start and POOLED not in one.runs]
        for wanted, start in zip(_form(earlier, text, pair is not None), _starts(pair, number), strict=False):
            if start in mentions and _HEDGED.search(text[:start]) is None:
                yield _again(wanted, mentions[start], sentence, names)


def _starts(pair: re.Match[str] | None, number: Number) -> list[int]:
    return [pair.start(1), pair.start(2)] if pair else [number.start]


def _form(earlier: Sequence[Bound], text: str, pair: bool) -> list[Bound]:
    """The last numbers before that were written in the same form."""
    if not pair:
        singles = [one for one in earlier if not _PAIR.match(text, one.number.start)]
        return singles[-1:]
    firsts = [n for n, one in enumerate(earlier[:-1]) if _PAIR.match(text, one.number.start)]
    return [earlier[firsts[-1]], earlier[firsts[-1] + 1]] if firsts else []


def _again(wanted: Bound, number: Number, sentence: Sentence, names: Names) -> Bound:
    scope = scope_of(sentence, number.start, names)
    kept = wanted.scope if wanted.scope and not wanted.scope.startswith(("task:", "slice:")) else scope
    runs = runs_of(sentence, number.start, number.end, names)
    return replace(wanted, number=number, runs=runs, scope=kept or "", pair=None, relation="=")
