"""A report held against a golden one, statement by statement: where both speak of the same thing, do they say the same?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from blade.package.judge.amounts import Amount, comparable, mirrored, same_value
from blade.package.judge.statements import ReportStatements, Statement, models_named, run_of
from blade.package.judge.words import is_place, task_of

NUMBER, POLARITY, EVIDENCE = "number", "polarity", "evidence"
KINDS = (NUMBER, POLARITY, EVIDENCE)
_ALIKE = 0.7
"""Share of words that two clauses have in common when one is held against the other."""
_FEWEST = 3


class ComparedClaim(Struct, frozen=True, kw_only=True):
    """One thing that a report says of what the golden report speaks of too."""

    kind: str
    """number, polarity or evidence."""
    agrees: bool
    statement: Statement
    golden: int
    """Which statement of the golden report it was held against."""
    said: str
    right: str
    amount: Amount | None = None
    """The golden report's number, where one is at stake."""


def compare(candidate: ReportStatements, golden: GoldenIndex) -> tuple[ComparedClaim, ...]:
    """Everything that can be held against the golden report, in the order of the candidate."""
    models = golden.models | models_named(candidate)
    return tuple(
        one
        for statement in candidate.statements
        for one in _of(statement, golden, models)
        if one.agrees or _same_run(statement, golden.statements[one.golden], models)
    )


def _same_run(one: Statement, other: Statement, models: frozenset[str]) -> bool:
    """Whether both may be about the same model."""
    mine, theirs = run_of(one, models), run_of(other, models)
    return not mine or not theirs or bool(mine & theirs)


def _of(statement: Statement, golden: GoldenIndex, models: frozenset[str]) -> Iterator[ComparedClaim]:
    if statement.label:
        numbers = list(_row(statement, golden))
    else:
        like = [one for one in _like(statement, golden) if _same_run(statement, golden.statements[one], models)]
        near = [one for one in like if _same_subject(statement, golden.statements[one])]
        numbers = list(_numbers(statement, near, golden))
        yield from _polarity(statement, near, golden)
        if not near:
            yield from _moved(statement, like, golden)
    yield from numbers or _shared(statement, golden, models)
    yield from _quotes(statement, golden)
    yield from _outcomes(statement, golden)


def _like(statement: Statement, golden: GoldenIndex) -> list[int]:
    """Clauses of the golden report that say nearly the same words."""
    words = statement.stems
    if len(words) < _FEWEST and not statement.ids:
        return []
    counts = Counter(number for word in sorted(words) for number in golden.by_word.get(word, ()))
    found = []
    for number, shared in sorted(counts.items()):
        longest = max(len(words), len(golden.statements[number].stems))
        if shared / longest >= (_ALIKE if longest >= _FEWEST else 1.0):
            found.append(number)
    return found


def _placed(statement: Statement) -> frozenset[str]:
    return frozenset(task_of(name) for name in statement.ids if is_place(name))


def _same_subject(one: Statement, other: Statement) -> bool:
    """Whether nothing that they name sets them apart."""
    mine, theirs = _placed(one), _placed(other)
    if not mine or not theirs:
        mine, theirs = tasks_of(one), tasks_of(other)
    if not mine or not theirs:
        return not (one.ids and other.ids)
    return len(mine & theirs) >= 0.5 * min(len(mine), len(theirs))


def _polarity(statement: Statement, near: Sequence[int], golden: GoldenIndex) -> Iterator[ComparedClaim]:
    """Whether it denies what the golden report affirms, or points the other way."""
    if not near or (len(statement.stems) < _FEWEST and not statement.ids):
        return
    agreeing = next((one for one in near if _same_stance(statement, golden.statements[one])), None)
    number = agreeing if agreeing is not None else _closest(statement, near, golden)
    yield ComparedClaim(
        kind=POLARITY,
        agrees=agreeing is not None,
        statement=statement,
        golden=number,
        said=statement.text,
        right=golden.statements[number].text,
    )


def _closest(statement: Statement, near: Sequence[int], golden: GoldenIndex) -> int:
    def distance(number: int) -> tuple[int, int, int]:
        other = golden.statements[number]
        return (len(statement.ids ^ other.ids), len(statement.stems ^ other.stems), number)

    return min(near, key=distance)


def _same_stance(one: Statement, other: Statement) -> bool:
    mine, theirs = dict(one.ways), dict(other.ways)
    gap = abs(one.denials - other.denials)
    if any(mirrored(said, right) for said in one.amounts for right in other.amounts):
        mine.pop("outcome", None)
        gap = abs(one.denials - _none_of(one) - other.denials + _none_of(other))
    turned = sum(mine[axis] * theirs[axis] < 0 for axis in sorted(mine.keys() & theirs.keys()))
    return gap == turned < 2


def _none_of(statement: Statement) -> int:
    """Denials that are counts: `0 of 4 pass`."""
    return sum(one.of is not None and not one.high for one in statement.amounts)


def _numbers(statement: Statement, near: Sequence[int], golden: GoldenIndex) -> Iterator[ComparedClaim]:
    """Numbers of a clause against those of the golden clause that agrees best."""
    if not statement.amounts or not near:
        return
    best = min(
        near, key=lambda one: (_unmatched(statement, golden.statements[one]), _closeness(statement, one, golden))
    )
    yield from _against(statement, best, golden)


def _closeness(statement: Statement, number: int, golden: GoldenIndex) -> tuple[int, int]:
    other = golden.statements[number]
    return len(statement.ids ^ other.ids) + len(statement.stems ^ other.stems), number


def _unmatched(statement: Statement, other: Statement) -> int:
    return sum(not any(same_value(one, right) for right in other.amounts) for one in statement.amounts)


def _against(statement: Statement, number: int, golden: GoldenIndex) -> Iterator[ComparedClaim]:
    other = golden.statements[number]
    left = list(other.amounts)
    wrong = []
    for one in statement.amounts:
        match = next((right for right in left if same_value(one, right)), None)
        if match is None:
            match = next((right for right in other.amounts if same_value(one, right)), None)
        if match is None:
            wrong.append(one)
            continue
        if match in left:
            left.remove(match)
        yield _number(statement, number, one, match, True)
    for one in wrong:
        match = next((right for right in left if comparable(one, right)), None)
        if match is not None:
            left.remove(match)
            yield _number(statement, number, one, match, False)


def _number(statement: Statement, golden: int, said: Amount, right: Amount, agrees: bool) -> ComparedClaim:
    return ComparedClaim(
        kind=NUMBER,
        agrees=agrees,
        statement=statement,
        golden=golden,
        said=shown(said),
        right=shown(right),
        amount=right,
    )


def shown(amount: Amount) -> str:
    """An amount as a report would write it."""
    ends = f"{amount.low:g}" if amount.low == amount.high else f"{amount.low:g} to {amount.high:g}"
    return ends + ("%" if amount.percent else "") + (f" of {amount.of:g}" if amount.of is not None else "")


def _row(statement: Statement, golden: GoldenIndex) -> Iterator[ComparedClaim]:
    """A row against the golden row of the same label."""
    rows = golden.by_label.get(statement.label, ())
    if rows and statement.amounts:
        best = min(rows, key=lambda one: (_unmatched(statement, golden.statements[one]), one))
        yield from _against(statement, best, golden)


def _shared(statement: Statement, golden: GoldenIndex, models: frozenset[str]) -> Iterator[ComparedClaim]:
    """How often the one task of a sentence passes, in whatever words."""
    for key, amount in shares_of(statement, models):
        known = golden.by_share.get(key, ())
        agreeing = next((one for one in known if same_value(amount, one[1])), None)
        if known:
            number, right = agreeing or known[0]
            yield _number(statement, number, amount, right, agreeing is not None)


def _quotes(statement: Statement, golden: GoldenIndex) -> Iterator[ComparedClaim]:
    """Whose words they are: the same quotation for another task is false."""
    mine = tasks_of(statement) & (golden.tasks or tasks_of(statement))
    for quote in sorted(statement.quotes):
        known = golden.by_quote.get(quote, ())
        if known and mine:
            agreeing = next((one for one in known if mine & tasks_of(golden.statements[one])), None)
            yield _evidence(statement, known[0] if agreeing is None else agreeing, golden, agreeing is not None)


def _evidence(statement: Statement, number: int, golden: GoldenIndex, agrees: bool) -> ComparedClaim:
    return ComparedClaim(
        kind=EVIDENCE,
        agrees=agrees,
        statement=statement,
        golden=number,
        said=", ".join(sorted(statement.names)),
        right=", ".join(sorted(golden.statements[number].names)),
    )


def _outcomes(statement: Statement, golden: GoldenIndex) -> Iterator[ComparedClaim]:
    """How rollouts ended."""
    for rollout, sign in statement.outcomes:
        known = golden.by_outcome.get(rollout, ())
        if known:
            agreeing = next((number for number, right in known if right == sign), None)
            number = known[0][0] if agreeing is None else agreeing
            words = {1: "passed", -1: "failed"}
            yield ComparedClaim(
                kind=EVIDENCE,
                agrees=agreeing is not None,
                statement=statement,
                golden=number,
                said=f"{rollout} {words[sign]}",
                right=f"{rollout} {words[known[0][1]]}",
            )


def _moved(statement: Statement, like: Sequence[int], golden: GoldenIndex) -> Iterator[ComparedClaim]:
    """The same words and the same numbers or names, of another task: evidence that was moved."""
    if not tasks_of(statement) & golden.tasks:
        return
    for number in like:
        other = golden.statements[number]
        if tasks_of(other) and _same_matter(statement, other):
            yield _evidence(statement, number, golden, agrees=False)
            return


def _same_matter(one: Statement, other: Statement) -> bool:
    """Whether beside the task all is the same, and enough of it that it cannot be said of two tasks by chance."""
    counted = bool(one.amounts) and not _unmatched(one, other) and not _unmatched(other, one)
    mine, theirs = ({name for name in each.ids if not is_place(name)} - _placed(each) for each in (one, other))
    return counted or (len(mine) > 1 and mine == theirs)


_TELLING_QUOTE = 12


class GoldenIndex:
    """The golden report, ready to be looked up in: by word, label, quotation, rollout and task."""

    def __init__(self, report: ReportStatements) -> None:
        self.report = report
        self.statements = report.statements

    @cached_property
    def by_word(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, one in enumerate(self.statements):
            if one.kind == "text":
                for word in sorted(one.stems):
                    found.setdefault(word, []).append(number)
        return found

    @cached_property
    def by_label(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, one in enumerate(self.statements):
            if one.label:
                found.setdefault(one.label, []).append(number)
        return found

    @cached_property
    def by_quote(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, one in enumerate(self.statements):
            for quote in sorted(one.quotes):
                if len(quote) >= _TELLING_QUOTE and tasks_of(one):
                    found.setdefault(quote, []).append(number)
        return found

    @cached_property
    def by_outcome(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for number, one in enumerate(self.statements):
            for rollout, sign in one.outcomes:
                found.setdefault(rollout, []).append((number, sign))
        return found

    @cached_property
    def by_share(self) -> dict[tuple[str, float], list[tuple[int, Amount]]]:
        """How often a task passes or fails, of how many."""
        found: dict[tuple[str, float], list[tuple[int, Amount]]] = {}
        for number, one in enumerate(self.statements):
            for key, amount in shares_of(one, self.models):
                found.setdefault(key, []).append((number, amount))
        return found

    @cached_property
    def models(self) -> frozenset[str]:
        return models_named(self.report)

    @cached_property
    def tasks(self) -> frozenset[str]:
        """Everything that is named as if it were a task: places say so, and what is named like them."""
        return frozenset(task_of(name) for one in self.statements for name in one.ids if is_place(name))


def tasks_of(statement: Statement) -> frozenset[str]:
    """The tasks, tools and other things that a statement is about."""
    return frozenset(task_of(name) for name in statement.names)


def shares_of(statement: Statement, models: frozenset[str]) -> Iterator[tuple[tuple[str, float], Amount]]:
    """How often the one task of a statement passes or fails, of how many."""
    tasks = {task_of(name) for name in statement.names - models}
    if len(tasks) == 1 and not any(map(is_place, statement.names)):
        for amount in statement.amounts:
            if amount.of is not None and amount.outcome:
                yield (next(iter(tasks)), amount.of), amount
