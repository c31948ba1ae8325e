"""A number of a sentence bound to what it is about by the words around it, and the verdict that the data gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from blade.claims.facts import POOLED, KnownNumber, KnownNumbers
from blade.claims.markdown import Passage
from blade.claims.names import Named, Names, Number, numbers
from blade.claims.patterns import PATTERNS, WORDS, Meaning, Subject, named_patterns
from blade.claims.values import ClaimVerdict, Judgment, fails, holds, not_checkable

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


class Sentence(Struct, frozen=True):
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
    return tuple(names.runs) if wanted or above or len(names.runs) == 1 else ()


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


POINTS = 100
COUNTS = (
    *("tasks", "rollouts", "judged", "passed", "failed"),
    *("errored", "unscored", "missing", "found", "lost", "checked"),
)
"""Subjects that are no fraction and are never written as percent."""


class Bound(Struct, frozen=True, kw_only=True):
    """A number with its subject: the runs that it may be of, what in them, and which of their numbers."""

    passage: Passage
    number: Number
    runs: tuple[str, ...]
    """Several where the words do not say which."""
    scope: str
    subjects: tuple[str, ...]
    """Several where the word has more than one honest reading."""
    pair: int | None = None
    """The same for both numbers of `a of b`."""
    relation: str = "="
    """`>`, `>=`, `<` or `<=` for `more than`, `at least`, `fewer than`, `at most`."""


def judge_all(bounds: Sequence[Bound], facts: KnownNumbers) -> Iterator[tuple[Bound, Judgment]]:
    """Each with its verdict; of `a of b` of which neither fits, something else than the run must be meant."""
    made = [(bound, judge(bound, facts)) for bound in bounds]
    wrong: dict[int, int] = {}
    for bound, verdict in made:
        if bound.pair is not None and verdict.verdict is ClaimVerdict.FALSE and not bound.scope.startswith("task:"):
            wrong[bound.pair] = wrong.get(bound.pair, 0) + 1
    for bound, verdict in made:
        if bound.pair is not None and wrong.get(bound.pair, 0) > 1:
            span = (bound.number.start, bound.number.end)
            yield (
                bound,
                not_checkable(bound.passage, span, why="neither number is the run's, so something else is counted"),
            )
        else:
            yield bound, verdict


def judge(bound: Bound, facts: KnownNumbers) -> Judgment:
    """True or false where the subject is known; else why it is not."""
    span = (bound.number.start, bound.number.end)
    known = [found for run in bound.runs if (found := _facts(run, bound, facts))]
    if POOLED in bound.runs and len(known) > 1:
        *known, together = known if _facts(POOLED, bound, facts) else (*known, [])
        if any(fits(bound.number, fact, bound.relation) for fact in together):
            known = [together]
    if not known:
        return not_checkable(bound.passage, span, why="the runs hold no such number")
    fitting = [[fact for fact in each if fits(bound.number, fact, bound.relation)] for each in known]
    if all(fitting):
        first = fitting[0][0]
        return holds(bound.passage, span, found=shown(first), source=_source(first))
    if any(fitting):
        return not_checkable(bound.passage, span, why="it is not said which run is meant, and it holds of one of them")
    right = [fact for each in known for fact in each]
    return fails(
        bound.passage,
        span,
        found=" or ".join(dict.fromkeys(map(shown, right))),
        source="; ".join(dict.fromkeys(map(_source, right))),
        why=f"{bound.subjects[0].replace('_', ' ').replace(':', ' ')} of {bound.scope.partition(':')[2] or 'the run'}",
    )


def _facts(run: str, bound: Bound, facts: KnownNumbers) -> list[KnownNumber]:
    return [fact for subject in bound.subjects for fact in facts.of(run, bound.scope, subject)]


def _source(fact: KnownNumber) -> str:
    return f"{fact.run}, {fact.source}" if fact.run != POOLED else fact.source


def shown(fact: KnownNumber) -> str:
    """The value as a reader would write it."""
    return f"{fact.value:,.0f}" if fact.value == int(fact.value) and abs(fact.value) < 1e15 else f"{fact.value:.4g}"


def fits(number: Number, fact: KnownNumber, relation: str = "=") -> bool:
    """Whether the number is the fact's value as it would be rounded to so many places, or stands to it as said."""
    return any(_stands(number, value, relation) for value in _readings(number, fact))


def _readings(number: Number, fact: KnownNumber) -> list[float]:
    """A fraction may be written as percent; a count may not."""
    fraction = -1 <= fact.value <= 1 and fact.subject not in COUNTS
    if number.percent:
        return [fact.value * POINTS] if fraction else []
    if fraction and abs(number.value) > 1:
        return [fact.value * POINTS]
    return [fact.value]


def _stands(number: Number, value: float, relation: str) -> bool:
    if relation == ">":
        return value > number.value
    if relation == ">=":
        return value >= number.value - 1e-9
    if relation == "<":
        return value < number.value
    if relation == "<=":
        return value <= number.value + 1e-9
    return abs(value - number.value) <= 0.5 * 0.1**number.decimals + 1e-9


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
