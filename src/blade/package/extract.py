"""Anchor facts drafted from a golden report: the sentences that carry most evidence, spread over sections and kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from blade.package.amounts import Amount
from blade.package.claims import Reading, Statement, read
from blade.package.facts import DRAFT, Fact, FactClaim
from blade.package.ids import is_place, task_of
from blade.package.models import models_named
from blade.package.soften import soften
from blade.package.windows import Window, window

_SHORTEST, _LONGEST = 40, 420
_NO_FACTS = re.compile(
    r"recommend|reproduc|inventory|artifact|appendix|limitation|next steps|glossary|table of contents", re.IGNORECASE
)
_ADVICE = re.compile(
    r"^\W*(?:do\b|due:|first:|fix\b|add\b|have\s+the\b|review\b|should\b|we\s+(?:recommend|expect)|also\b)",
    re.IGNORECASE,
)
_INTERVAL = re.compile(r"\bconfidence\b|\binterval\b|\bstandard error\b", re.IGNORECASE)
_CONTRAST = re.compile(
    r"\b(?:whereas|while|although|but|instead|against|passing|though|rather than|only|neither|both|unlike|never)\b",
    re.IGNORECASE,
)
_ALIKE, _SAME_TASK, _SAME_SECTION = 3.0, 1.5, 0.4
"""What a sentence loses for each fact before it that is worded like it, of its task, of its section."""
_AGGREGATE = 3.0


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    order: int
    sentence: str
    said: Window
    names: frozenset[str]
    """Its own, or those of its heading; the names of models are not among them."""
    lead: str
    """What the sentence leaves to its heading."""

    @property
    def places(self) -> list[str]:
        return sorted(name for name in self.names if is_place(name))

    @property
    def tasks(self) -> frozenset[str]:
        return frozenset(task_of(name) for name in self.names if is_place(name) or re.search(r"\d", name))

    @property
    def section(self) -> tuple[str, ...]:
        return self.said.statements[0].headings[:2]


def extract(golden: str, wanted: int, model: str = "") -> tuple[Fact, ...]:
    """Up to so many drafts, those with most evidence, in the order of the report."""
    reading = read(golden)
    candidates = list(_candidates(reading, models_named(reading, model)))
    chosen: list[_Candidate] = []
    while candidates and len(chosen) < wanted:
        best = max(candidates, key=lambda one: (_worth(one, chosen), -one.order))
        candidates.remove(best)
        if not any(_overlap(best, one) > 0.9 and best.tasks == one.tasks for one in chosen):
            chosen.append(best)
    return tuple(_fact(number + 1, one) for number, one in enumerate(sorted(chosen, key=lambda one: one.order)))


def _candidates(reading: Reading, models: frozenset[str]) -> Iterator[_Candidate]:
    """Sentences that can stand alone and state something."""
    groups = [list(group) for _, group in groupby(reading.statements, key=lambda one: (one.passage, one.sentence))]
    for order, group in enumerate(groups):
        first, said = group[0], window(group)
        if first.kind != "text" or not _SHORTEST <= len(first.sentence) <= _LONGEST or _is_no_finding(first):
            continue
        one = _Candidate(
            order=order,
            sentence=first.sentence,
            said=said,
            names=(said.own or first.about) - models,
            lead="" if said.own else ", ".join(sorted(first.about - models)),
        )
        if said.amounts or said.quotes or one.names:
            yield one


def _is_no_finding(statement: Statement) -> bool:
    """Advice, notes on how the report was made, and intervals find nothing."""
    return (
        any(_NO_FACTS.search(title) for title in statement.headings[-1:])
        or _ADVICE.match(statement.sentence) is not None
        or _INTERVAL.search(statement.sentence) is not None
        or statement.sentence.endswith((":", "..."))
        or "...." in statement.sentence
        or statement.sentence[:1] in "(),;:.-"
    )


def _evidence(one: _Candidate) -> float:
    """How much it takes to know the sentence."""
    said = one.said
    others = len(one.names) - len(one.places)
    directions = {axis for each in said.statements for axis, _ in each.ways}
    return (
        2.0 * min(2, len(one.places))
        + 1.0 * min(2, others)
        + 2.0 * min(1, len(said.quotes))
        + 1.5 * bool(_CONTRAST.search(one.sentence))
        + 0.5 * min(2, len(directions))
        + 1.0 * min(2, sum(each.of is not None for each in said.amounts))
        + 0.5 * min(2, len(said.amounts))
        - _AGGREGATE * (not one.names and not said.quotes)
    )


def _worth(one: _Candidate, chosen: Sequence[_Candidate]) -> float:
    worth = _evidence(one)
    for other in chosen:
        worth -= _ALIKE * _overlap(one, other)
        worth -= _SAME_TASK * bool(one.tasks & other.tasks)
        worth -= _SAME_SECTION * (one.section == other.section)
    return worth


def _overlap(one: _Candidate, other: _Candidate) -> float:
    """How much of what the shorter says, beside places, the other says too."""
    mine, theirs = (
        each.said.stems | each.said.quotes | {name for name in each.names if not is_place(name)}
        for each in (one, other)
    )
    return len(mine & theirs) / max(1, min(len(mine), len(theirs)))


def _fact(number: int, one: _Candidate) -> Fact:
    sentence, ranges = soften(one.sentence)
    difficulty, reason = _difficulty(one)
    return Fact(
        id=f"B{number}",
        fact=f"{one.lead}: {sentence}" if one.lead else sentence,
        difficulty=difficulty,
        status=DRAFT,
        reason=reason,
        aggregate_only=difficulty == "low",
        claim=_claim(one, ranges),
    )


def _difficulty(one: _Candidate) -> tuple[str, str]:
    """By what it takes to find it: a trajectory read, several tasks joined, or a number looked up."""
    if one.said.quotes or any(":" in name for name in one.places):
        return "high", "it takes reading a trajectory; look the words up at the place that is named"
    if one.names:
        return "medium", "it joins rollouts or tasks; count them again"
    return "low", "aggregate only: the metrics alone give it, so remove it or tie it to tasks"


def _claim(one: _Candidate, ranges: Sequence[tuple[float, float]]) -> FactClaim:
    counted = one.said.amounts
    amount = next((each for each in counted if each.of is not None), next(iter(counted), None))
    denials = sum(each.denials for each in one.said.statements)
    found = next((each for each in ranges if amount and each[0] <= amount.low <= each[1]), None)
    exact = found is not None and found[0] == found[1]
    return FactClaim(
        ids=tuple(sorted(one.names)),
        quantity=_quantity(amount),
        relation=_relation(one, amount),
        value=found[0] if found and exact else None,
        range=None if exact else found,
        polarity="negated" if denials % 2 else "affirmed",
        recompute=_recompute(one),
    )


def _quantity(amount: Amount | None) -> str:
    if amount is None:
        return ""
    whole = f"of {amount.of:g}" if amount.of is not None else ""
    return " ".join(filter(None, (*sorted(amount.unit), whole)))


def _relation(one: _Candidate, amount: Amount | None) -> str:
    words = [f"{axis}{'+' if way > 0 else '-'}" for each in one.said.statements for axis, way in each.ways if way]
    sign = amount.relation if amount is not None else ""
    return " ".join(dict.fromkeys(filter(None, (sign, *words))))


def _recompute(one: _Candidate) -> str:
    if one.places:
        return f"blade show RUN {one.places[0]}"
    if one.tasks:
        return f"tasks.jsonl: {', '.join(sorted(one.tasks))}"
    return "findings.json" if one.names else "metrics.json"
