"""Anchor facts drafted from a golden report: the sentences that carry most evidence, spread over sections and kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from blade.claims.markdown import parse
from blade.claims.names import Number, numbers
from blade.package.anchor_facts import DRAFT, AnchorFact, FactClaim
from blade.package.judge.statements import (
    ReportStatements,
    Statement,
    StatementGroup,
    as_group,
    models_named,
    read_statements,
)
from blade.package.judge.words import NO_NAMES, is_place, mentions, task_of

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
"""What a sentence loses that names nothing and quotes nobody."""
_EXACT = 12
"""Counts up to here are small enough to be right or wrong."""
_SPREAD = 0.1
_RATE_SPREAD = 0.02
_PERCENT_SPREAD = 2.0
_LEVELS = (90, 95, 99)
"""Of confidence, not of anything counted."""
_WHOLE = re.compile(r"(?:\bof|\bout\s+of|/|\bx|\u00d7|\bto|-|\u2013)\s*(?:the\s+|its\s+|all\s+)?$", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:to|-|\u2013)\s*\d|-\w", re.IGNORECASE)
_PART = re.compile(r"\s*(?:of|out\s+of|/)\s*(?:the\s+|its\s+|all\s+)?([\d,]+)", re.IGNORECASE)
_DAY = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+$", re.IGNORECASE)
"""A month before a number: a day is as it is."""
_HEDGE = re.compile(r"\b(?:about|around|roughly)\s*$", re.IGNORECASE)


class _Candidate(Struct, frozen=True, kw_only=True, eq=False):
    order: int
    sentence: str
    said: StatementGroup
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


def extract(golden: str, wanted: int, model: str = "") -> tuple[AnchorFact, ...]:
    """Up to so many drafts, those with most evidence, in the order of the report."""
    reading = read_statements(golden)
    candidates = list(_candidates(reading, models_named(reading, model)))
    chosen: list[_Candidate] = []
    while candidates and len(chosen) < wanted:
        best = max(candidates, key=lambda one: (_worth(one, chosen), -one.order))
        candidates.remove(best)
        if not any(_overlap(best, one) > 0.9 and best.tasks == one.tasks for one in chosen):
            chosen.append(best)
    return tuple(_fact(number + 1, one) for number, one in enumerate(sorted(chosen, key=lambda one: one.order)))


def _candidates(reading: ReportStatements, models: frozenset[str]) -> Iterator[_Candidate]:
    """Sentences that can stand alone and state something."""
    groups = [list(group) for _, group in groupby(reading.statements, key=lambda one: (one.passage, one.sentence))]
    for order, group in enumerate(groups):
        first, said = group[0], as_group(group)
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


def _fact(number: int, candidate: _Candidate) -> AnchorFact:
    sentence, ranges = soften(candidate.sentence)
    # By what it takes to find it: a trajectory read, several tasks joined, or a number looked up.
    if candidate.said.quotes or any(":" in name for name in candidate.places):
        difficulty, reason = "high", "it takes reading a trajectory; look the words up at the place that is named"
    elif candidate.names:
        difficulty, reason = "medium", "it joins rollouts or tasks; count them again"
    else:
        difficulty, reason = "low", "aggregate only: the metrics alone give it, so remove it or tie it to tasks"
    return AnchorFact(
        id=f"B{number}",
        fact=f"{candidate.lead}: {sentence}" if candidate.lead else sentence,
        difficulty=difficulty,
        status=DRAFT,
        reason=reason,
        aggregate_only=difficulty == "low",
        claim=_claim(candidate, ranges),
    )


def _claim(candidate: _Candidate, ranges: Sequence[tuple[float, float]]) -> FactClaim:
    counted, statements = candidate.said.amounts, candidate.said.statements
    amount = next((each for each in counted if each.of is not None), next(iter(counted), None))
    ends = next((each for each in ranges if amount and each[0] <= amount.low <= each[1]), None)
    exact = ends is not None and ends[0] == ends[1]
    whole = f"of {amount.of:g}" if amount is not None and amount.of is not None else ""
    ways = [f"{axis}{'+' if way > 0 else '-'}" for one in statements for axis, way in one.ways if way]
    if candidate.places:
        recompute = f"blade show RUN {candidate.places[0]}"
    elif candidate.tasks:
        recompute = f"tasks.jsonl: {', '.join(sorted(candidate.tasks))}"
    else:
        recompute = "findings.json" if candidate.names else "metrics.json"
    return FactClaim(
        ids=tuple(sorted(candidate.names)),
        quantity=" ".join(filter(None, (*sorted(amount.unit), whole))) if amount is not None else "",
        relation=" ".join(dict.fromkeys(filter(None, (amount.relation if amount is not None else "", *ways)))),
        value=ends[0] if ends and exact else None,
        range=None if exact else ends,
        polarity="negated" if sum(one.denials for one in statements) % 2 else "affirmed",
        recompute=recompute,
    )


def soften(sentence: str) -> tuple[str, tuple[tuple[float, float], ...]]:
    """The sentence with ranges for its larger numbers, and the range of every number that is a part or a count."""
    found = list(_numbers(sentence))
    made, at, ranges = [], 0, []
    for number in found:
        before = sentence[: number.start]
        if _WHOLE.search(before) or _DAY.search(before) or _JOINED.match(sentence, number.end):
            continue
        low, high = range_of(number, _whole(sentence, number))
        ranges.append((low, high))
        if _shown(low, number) == _shown(high, number):
            continue
        about = "" if _HEDGE.search(sentence[: number.start]) else "about "
        made += [sentence[at : number.start], f"{about}{_shown(low, number)} to {_shown(high, number)}"]
        at = number.end
    return "".join((*made, sentence[at:])), tuple(ranges)


def _numbers(sentence: str) -> Sequence[Number]:
    """The numbers that the audit's parser finds, where the sentence stands as it is written."""
    passages = [one for one in parse(sentence).passages if one.kind == "text"]
    found: list[Number] = []
    for passage in passages:
        names = mentions(passage)
        for one in numbers(passage, NO_NAMES):
            if any(name.start < one.end and one.start < name.end for name in names):
                continue
            line, start = passage.spots[one.start]
            if line == 0 and sentence[start : start + len(one.token)] == one.token:
                found.append(Number(start, start + len(one.token), one.token, one.value, one.decimals, one.percent))
    return found


def _whole(sentence: str, number: Number) -> float | None:
    part = _PART.match(sentence, number.end)
    return float(part.group(1).replace(",", "") or 0) if part and part.group(1).strip(",") else None


def range_of(number: Number, whole: float | None) -> tuple[float, float]:
    """Between which numbers an honest count of the same lies; small counts are as they are."""
    value = number.value
    if number.percent and value in _LEVELS:
        return value, value
    if number.percent:
        return max(0.0, value - _PERCENT_SPREAD), value + _PERCENT_SPREAD
    if number.decimals and 0 <= value <= 1:
        return max(0.0, round(value - _RATE_SPREAD, 3)), min(1.0, round(value + _RATE_SPREAD, 3))
    if abs(value) <= _EXACT or value == whole:
        return value, value
    spread = max(1.0, float(round(abs(value) * _SPREAD)))
    return value - spread, min(value + spread, whole) if whole is not None else value + spread


def _shown(value: float, number: Number) -> str:
    return f"{value:.{number.decimals}f}" if number.decimals else f"{value:,.0f}"
