"""The judge: how much of what the golden report found does another report find, and how much of it does it get wrong?

    final = truth x (0.8 facts + 0.1 breadth + 0.1 structure)

`facts` is the share of anchor facts that the report asserts, less those that it contradicts. `breadth` is the share of
the golden report's sections with which it agrees in something, `structure` the share of sections of its own that state
something. `truth` falls with the share of false claims of each kind: numbers, polarity, evidence, and what the audit finds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec import Struct, to_builtins

from blade.claims.values import Audit, ClaimVerdict
from blade.package.anchor_facts import AnchorFact, FactProblem
from blade.package.judge.agreement import EVIDENCE, KINDS, NUMBER, POLARITY, ComparedClaim, GoldenIndex, compare
from blade.package.judge.amounts import Amount
from blade.package.judge.asserted import (
    CONTRADICTED,
    HALF,
    MET,
    NO,
    PART,
    YES,
    Assertion,
    ExpectedFact,
    best_of,
    common_words,
    tie,
)
from blade.package.judge.statements import ReportStatements, Statement, groups_of, read_statements
from blade.package.judge.words import is_place
from blade.report.text import LONGEST_CELL, cut

AUDITED = "audited"
FACTS, BREADTH, STRUCTURE = 0.8, 0.1, 0.1
_HARSH = {NUMBER: 1.5, POLARITY: 2.5, EVIDENCE: 1.5, AUDITED: 1.5}
"""By how much a share of false claims lowers the truth: two false numbers in three, and nothing is left."""
_DOUBT = 2
"""As many claims more would have to be seen before one false claim is taken for the rule."""
_AGGREGATE = 0.25
"""What a fact counts that can be had from the metrics alone."""
_CREDIT = {YES: 1.0, PART: 0.5, NO: 0.0, CONTRADICTED: -1.0}
MOST_FALSE = 20
"""False claims that the screen lists; reward.json has all."""
_HEAP = 24
"""No clause that somebody wrote to be read has so many numbers."""


class FactVerdict(Struct, frozen=True, kw_only=True):
    """What became of one fact."""

    fact: AnchorFact
    met: str
    """yes, part, no or contradicted."""
    degree: float
    weight: float
    why: str
    line: int | None
    """Of the candidate."""
    text: str
    supported: bool
    """Whether the golden report bears the fact out."""


class FalseClaim(Struct, frozen=True, kw_only=True):
    """Something that the report gets wrong."""

    kind: str
    """number, polarity, evidence or audited."""
    line: int
    said: str
    right: str
    text: str


class ReportScore(Struct, frozen=True, kw_only=True):
    """The score of a report, from 0 to 1, and its parts."""

    final: float
    facts: float
    breadth: float
    structure: float
    truth: float
    met: tuple[FactVerdict, ...]
    false: tuple[FalseClaim, ...]
    checked: dict[str, tuple[int, int]]
    """Of each kind of claim: how many are false, and how many could be compared."""
    statements: int


class Judge(Struct, frozen=True):
    """A golden report and its facts, read once for any number of candidates."""

    golden: GoldenIndex
    wanted: tuple[ExpectedFact, ...]

    def score(self, text: str, audit: Audit | None = None) -> ReportScore:
        """The score of a report; with an audit of it, what that found false counts too."""
        candidate = read_statements(text)
        compared = compare(candidate, self.golden)
        parts = groups_of(candidate)
        met = tuple(_met(one, best_of(one, parts), compared, self.golden) for one in self.wanted)
        checked = _checked(compared, audit)
        truth = _truth(checked) * (1 - _heaped(candidate, self.golden.report))
        facts = _share(met)
        breadth = _breadth(compared, self.golden) if candidate.statements else 0.0
        structure = _structure(candidate, self.golden.report)
        return ReportScore(
            final=round(truth * (FACTS * facts + BREADTH * breadth + STRUCTURE * structure), 4),
            facts=round(facts, 4),
            breadth=round(breadth, 4),
            structure=round(structure, 4),
            truth=round(truth, 4),
            met=met,
            false=tuple(_false(compared, audit)),
            checked=checked,
            statements=len(candidate.statements),
        )


def judge_against(golden: str, facts: Sequence[AnchorFact]) -> Judge:
    """A judge for reports on the same run as a golden report."""
    reading = read_statements(golden)
    parts, common = groups_of(reading), common_words(reading.statements)
    return Judge(GoldenIndex(reading), tuple(tie(fact, parts, common) for fact in facts))


def is_aggregate(wanted: ExpectedFact) -> bool:
    """Whether the fact can be had without reading a rollout."""
    return wanted.fact.aggregate_only or (bool(wanted.amounts) and not (wanted.names or wanted.quotes))


def _met(wanted: ExpectedFact, found: Assertion, compared: Sequence[ComparedClaim], golden: GoldenIndex) -> FactVerdict:
    against = _contradiction(wanted, compared, golden)
    word = CONTRADICTED if against else YES if found.degree >= MET else PART if found.degree >= HALF else NO
    place = against.statement if against else found.group.statements[0] if found.group else None
    return FactVerdict(
        fact=wanted.fact,
        met=word,
        degree=round(found.degree, 4),
        weight=_AGGREGATE if is_aggregate(wanted) else 1.0,
        why=_why(wanted, word, found, against),
        line=place.line if place and word != NO else None,
        text=place.sentence if place and word != NO else "",
        supported=bool(wanted.support),
    )


def _why(wanted: ExpectedFact, word: str, found: Assertion, against: ComparedClaim | None) -> str:
    if against is not None:
        return f"says {against.said!r} where the golden report has {against.right!r}"
    if not wanted.support:
        return "the golden report does not bear the fact out"
    if word == YES:
        return "the same names, numbers and direction"
    if word == PART:
        return f"lacks {' and '.join(found.lacks)}" if found.lacks else "points another way, or only some of it is said"
    return "no sentence asserts it"


def _contradiction(
    wanted: ExpectedFact, compared: Sequence[ComparedClaim], golden: GoldenIndex
) -> ComparedClaim | None:
    """The first claim that denies what the fact rests on."""
    support = set(wanted.support)
    for one in compared:
        if not one.agrees and golden.statements[one.golden] in support and _at_stake(one, wanted, golden):
            return one
    return None


def _at_stake(one: ComparedClaim, wanted: ExpectedFact, golden: GoldenIndex) -> bool:
    """Whether what is wrong is part of the fact."""
    if one.kind == NUMBER:
        return any(one.amount == right for right, _ in wanted.amounts)
    right = golden.statements[one.golden]
    if one.kind == POLARITY:
        return len(right.stems & wanted.stems) >= 0.5 * len(right.stems)
    return bool(right.names & set(wanted.names)) or bool(right.quotes & set(wanted.quotes))


def _share(met: Sequence[FactVerdict]) -> float:
    whole = sum(one.weight for one in met)
    if not whole:
        return 0.0
    return max(0.0, sum(one.weight * _CREDIT[one.met] * one.supported for one in met) / whole)


def _checked(compared: Sequence[ComparedClaim], audit: Audit | None) -> dict[str, tuple[int, int]]:
    """What is said both ways is not said at all: agreement with something that is denied elsewhere does not count."""
    denied = {_item(one) for one in compared if not one.agrees}
    kept = [one for one in compared if not one.agrees or _item(one) not in denied]
    made = {kind: [one.agrees for one in kept if one.kind == kind] for kind in KINDS}
    checked = {kind: (found.count(False), len(found)) for kind, found in made.items()}
    if audit is not None:
        checked[AUDITED] = (len(audit.false), audit.count(ClaimVerdict.TRUE, ClaimVerdict.FALSE))
    return checked


def _item(one: ComparedClaim) -> tuple[str, int, Amount | None]:
    return one.kind, one.golden, one.amount


def _truth(checked: dict[str, tuple[int, int]]) -> float:
    truth = 1.0
    for kind, (false, total) in checked.items():
        truth *= max(0.0, 1 - _HARSH[kind] * false / (total + _DOUBT))
    return truth


def _heaped(candidate: ReportStatements, golden: ReportStatements) -> float:
    """The share of the numbers that stand in heaps, where no reader can tell what each is of."""
    written = {one.sentence for one in golden.statements}
    prose = [one for one in candidate.statements if one.kind == "text"]
    numbers = sum(len(one.amounts) for one in prose)
    heaped = sum(len(one.amounts) for one in prose if len(one.amounts) > _HEAP and one.sentence not in written)
    return heaped / numbers if numbers else 0.0


def _breadth(compared: Sequence[ComparedClaim], golden: GoldenIndex) -> float:
    """The share of the golden report's sections with evidence in which something is agreed with."""
    rich = {_section(one) for one in golden.statements if _is_evidence(one)}
    reached = {
        _section(golden.statements[one.golden])
        for one in compared
        if one.agrees and _is_evidence(golden.statements[one.golden])
    }
    return len(reached) / len(rich) if rich else 0.0


def _is_evidence(statement: Statement) -> bool:
    return (
        bool(statement.quotes)
        or any(map(is_place, statement.ids))
        or (statement.kind == "text" and bool(statement.ids))
    )


def _section(statement: Statement) -> tuple[str, ...]:
    return statement.headings[:2]


def _structure(candidate: ReportStatements, golden: ReportStatements) -> float:
    """Sections that state something, against those of the golden report."""
    telling = {one.headings[:2] for one in candidate.statements if one.kind == "text" and (one.ids or one.amounts)}
    wanted = {one.headings[:2] for one in golden.statements if one.kind == "text" and (one.ids or one.amounts)}
    return min(1.0, len(telling) / len(wanted)) if wanted else 0.0


def _false(compared: Sequence[ComparedClaim], audit: Audit | None) -> list[FalseClaim]:
    found = [
        FalseClaim(kind=one.kind, line=one.statement.line, text=one.statement.sentence, said=one.said, right=one.right)
        for one in compared
        if not one.agrees
    ]
    if audit is not None:
        found += [
            FalseClaim(kind=AUDITED, line=one.line, text=one.text, said=one.token, right=one.found)
            for one in audit.false
        ]
    return sorted(found, key=lambda one: (one.line, one.kind, one.said))


def reward(score: ReportScore, problems: Sequence[FactProblem] = ()) -> dict[str, object]:
    """The score as a document."""
    return {
        "final_score": score.final,
        "parts": {
            "facts": {"value": score.facts, "weight": FACTS},
            "breadth": {"value": score.breadth, "weight": BREADTH},
            "structure": {"value": score.structure, "weight": STRUCTURE},
            "truth": {"value": score.truth, "multiplies": True},
        },
        "statements": score.statements,
        "compared": {kind: {"false": false, "of": total} for kind, (false, total) in score.checked.items()},
        "anchor_facts": [
            {
                "id": one.fact.id,
                "met": one.met,
                "why": one.why,
                "degree": one.degree,
                "weight": one.weight,
                "supported_by_golden": one.supported,
                "line": one.line,
                "text": one.text,
                "fact": one.fact.fact,
            }
            for one in score.met
        ],
        "false_claims": to_builtins(score.false),
        "problems": [str(one) for one in problems],
    }


def as_text(document: object) -> str:
    """A document as it is written to a file."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def reward_lines(score: ReportScore) -> list[str]:
    """The score for a reader: the number, its parts, and what was missed or wrong."""
    parts = f"{FACTS} x facts {score.facts:.3f} + {BREADTH} x breadth {score.breadth:.3f}"
    lines = [
        f"final_score {score.final:.3f} = truth {score.truth:.3f} x ({parts} + {STRUCTURE} x structure {score.structure:.3f})"
    ]
    for one in score.met:
        where = f" (line {one.line})" if one.line is not None else ""
        lines.append(f"{one.met:>12}  {one.fact.id}{where}: {one.why}")
    for wrong in score.false[:MOST_FALSE]:
        stated, right = (cut(" ".join(text.split()), LONGEST_CELL) for text in (wrong.said, wrong.right))
        lines.append(f"false {wrong.kind}, line {wrong.line}: {stated}; golden: {right}")
    if len(score.false) > MOST_FALSE:
        lines.append(f"and {len(score.false) - MOST_FALSE} more false claims")
    if not score.statements:
        lines.append("the report states nothing that can be compared")
    return lines
