"""A number of a report bound to what it is about, and the verdict that the data gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from blade.claims.facts import POOLED, Fact, Facts
from blade.claims.judged import Judged, fails, holds, open_
from blade.claims.markdown import Passage
from blade.claims.mentions import Number
from blade.claims.values import Verdict

POINTS = 100


@dataclass(frozen=True, kw_only=True)
class Bound:
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


def judge_all(bounds: Sequence[Bound], facts: Facts) -> Iterator[tuple[Bound, Judged]]:
    """Each with its verdict; of `a of b` of which neither fits, something else than the run must be meant."""
    made = [(bound, judge(bound, facts)) for bound in bounds]
    wrong: dict[int, int] = {}
    for bound, verdict in made:
        if bound.pair is not None and verdict.verdict is Verdict.FALSE and not bound.scope.startswith("task:"):
            wrong[bound.pair] = wrong.get(bound.pair, 0) + 1
    for bound, verdict in made:
        if bound.pair is not None and wrong.get(bound.pair, 0) > 1:
            span = (bound.number.start, bound.number.end)
            yield bound, open_(bound.passage, span, why="neither number is the run's, so something else is counted")
        else:
            yield bound, verdict


def judge(bound: Bound, facts: Facts) -> Judged:
    """True or false where the subject is known; else why it is not."""
    span = (bound.number.start, bound.number.end)
    known = [found for run in bound.runs if (found := _facts(run, bound, facts))]
    if POOLED in bound.runs and len(known) > 1:
        *known, together = known if _facts(POOLED, bound, facts) else (*known, [])
        if any(fits(bound.number, fact, bound.relation) for fact in together):
            known = [together]
    if not known:
        return open_(bound.passage, span, why="the runs hold no such number")
    fitting = [[fact for fact in each if fits(bound.number, fact, bound.relation)] for each in known]
    if all(fitting):
        first = fitting[0][0]
        return holds(bound.passage, span, found=shown(first), source=_source(first))
    if any(fitting):
        return open_(bound.passage, span, why="it is not said which run is meant, and it holds of one of them")
    right = [fact for each in known for fact in each]
    return fails(
        bound.passage,
        span,
        found=" or ".join(dict.fromkeys(map(shown, right))),
        source=_sources(right),
        why=_about(bound),
    )


def _facts(run: str, bound: Bound, facts: Facts) -> list[Fact]:
    return [fact for subject in bound.subjects for fact in facts.of(run, bound.scope, subject)]


def _source(fact: Fact) -> str:
    return f"{fact.run}, {fact.source}" if fact.run != POOLED else fact.source


def _sources(facts: Sequence[Fact]) -> str:
    return "; ".join(dict.fromkeys(map(_source, facts)))


def _about(bound: Bound) -> str:
    what = bound.subjects[0].replace("_", " ").replace(":", " ")
    return f"{what} of {bound.scope.partition(':')[2] or 'the run'}"


def shown(fact: Fact) -> str:
    """The value as a reader would write it."""
    return f"{fact.value:,.0f}" if fact.value == int(fact.value) and abs(fact.value) < 1e15 else f"{fact.value:.4g}"


def fits(number: Number, fact: Fact, relation: str = "=") -> bool:
    """Whether the number is the fact's value as it would be rounded to so many places, or stands to it as said."""
    return any(_stands(number, value, relation) for value in _readings(number, fact))


def _readings(number: Number, fact: Fact) -> list[float]:
    """A fraction may be written as percent; a count may not."""
    fraction = -1 <= fact.value <= 1 and not _is_count(fact)
    if number.percent:
        return [fact.value * POINTS] if fraction else []
    if fraction and abs(number.value) > 1:
        return [fact.value * POINTS]
    return [fact.value]


_COUNTS = (
    "tasks",
    "rollouts",
    "judged",
    "passed",
    "failed",
    "errored",
    "unscored",
    "missing",
    "found",
    "lost",
    "checked",
)


def _is_count(fact: Fact) -> bool:
    return fact.subject in _COUNTS


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
