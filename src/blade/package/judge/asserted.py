"""Whether a report asserts a fact: the same names, numbers, words and direction, together in one place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from blade.package.anchor_facts import AnchorFact
from blade.package.judge.amounts import Amount, comparable, mirrored, same_value
from blade.package.judge.statements import Statement, StatementGroup, as_group, read_statements
from blade.package.judge.words import content, is_place, parts, share_named, spoken, task_of

YES, PART, NO, CONTRADICTED = "yes", "part", "no", "contradicted"
MET, HALF = 0.62, 0.45
_WEIGHTS = {"names": 3.0, "numbers": 3.0, "quotes": 2.0, "words": 2.0, "outcomes": 1.0, "direction": 1.0}
_SCALES = ("outcome", "more", "most", "accept")
_NAMED, _TOLD = 0.45, 0.34
"""The least share of names, and of everything else, without which nothing counts."""
_ENOUGH_WORDS = 0.5
_TELLING_DECIMALS = 2
"""A number with so many is the same thing wherever it stands."""
_CROWD, _WORDY = 10, 40
"""So many more names and numbers, or words, than the fact has may stand beside it; a list of everything asserts nothing."""


class ExpectedFact(Struct, frozen=True, kw_only=True):
    """What a report must say to assert a fact: what the fact states and the golden report bears out."""

    fact: AnchorFact
    names: tuple[str, ...]
    amounts: tuple[tuple[Amount, Amount], ...]
    """As the golden report has them, and as the fact softens them."""
    quotes: tuple[str, ...]
    stems: frozenset[str]
    outcomes: frozenset[tuple[str, int]]
    support: tuple[Statement, ...]
    """The golden sentences that it rests on; none when the golden report does not bear it out."""
    share: float
    """How much of the fact the golden report bears out."""
    common: Mapping[str, int]
    """In how many statements of the golden report a word stands."""

    def weight(self, word: str) -> float:
        """What a word tells: the more often the golden report uses it, the less."""
        return 1 / (1 + math.log(max(1, self.common.get(word, 1))))


class Assertion(Struct, frozen=True, kw_only=True):
    """How far a part of a report asserts a fact, from 0 to 1, and what it lacks."""

    degree: float
    group: StatementGroup | None
    told: float = 0.0
    """The share of its words; it tells apart what asserts the fact in full."""
    lacks: tuple[str, ...] = ()


def parsed(fact: AnchorFact) -> StatementGroup:
    """The sentence of a fact as a report would state it, with the names and the range of its claim."""
    found = as_group(one for one in read_statements(fact.fact).statements)
    claim = fact.claim
    if claim is None:
        return found
    names = found.names | {name.lower() for name in claim.ids}
    return replace(found, names=names, named=frozenset(part for name in names for part in parts(name)))


def common_words(statements: Iterable[Statement]) -> Counter[str]:
    """In how many statements each word stands."""
    return Counter(word for one in statements for word in one.stems)


def tie(fact: AnchorFact, golden: Sequence[StatementGroup], common: Mapping[str, int]) -> ExpectedFact:
    """The fact with the golden sentences that support it."""
    said = parsed(fact)
    whole = ExpectedFact(
        fact=fact,
        names=tuple(sorted(said.names)),
        amounts=tuple((one, one) for one in said.amounts),
        quotes=tuple(sorted(said.quotes)),
        stems=said.stems,
        outcomes=said.outcomes,
        support=(),
        share=0.0,
        common=common,
    )
    best = best_of(whole, golden)
    if best.group is None or best.degree < HALF:
        return whole
    return replace(_borne_out(whole, best.group), share=best.degree, support=best.group.statements)


def _borne_out(wanted: ExpectedFact, support: StatementGroup) -> ExpectedFact:
    """Only what the golden report says too; its own numbers in the place of softened ones."""
    amounts = []
    for _, soft in wanted.amounts:
        right = _matching(soft, (soft, soft), support.amounts)
        if right is not None:
            amounts.append((right, soft))
    return replace(
        wanted,
        names=tuple(name for name in wanted.names if share_named([name], support.names) == 1.0),
        amounts=tuple(amounts),
        stems=wanted.stems & support.stems,
        outcomes=wanted.outcomes & support.outcomes,
    )


def best_of(wanted: ExpectedFact, groups: Sequence[StatementGroup]) -> Assertion:
    """The part of a report that comes closest to asserting a fact; of equals the first."""
    best = Assertion(degree=0.0, group=None)
    tasks = {task_of(name) for name in wanted.names if is_place(name)} or {task_of(name) for name in wanted.names}
    for one in groups:
        if tasks and not tasks & one.named:
            continue
        found = asserts(wanted, _on_subject(one, tasks))
        if (found.degree, found.told) > (best.degree, best.told):
            best = found
    return best


def _on_subject(said: StatementGroup, tasks: set[str]) -> StatementGroup:
    """Without the sentences of a paragraph that speak of other things than the fact."""
    if not tasks or len({one.sentence for one in said.statements}) == 1:
        return said
    return as_group(one for one in said.statements if not one.ids or any(task_of(name) in tasks for name in one.ids))


def asserts(wanted: ExpectedFact, said: StatementGroup) -> Assertion:
    """How far a part of a report asserts a fact."""
    shares = _shares(wanted, said)
    named = shares.get("names", 1.0)
    counted = shares.get("numbers", 1.0)
    bare = not wanted.names and not wanted.quotes
    if named < _NAMED or not _tells(shares) or (bare and counted < 0.5):
        return Assertion(degree=0.0, group=None)
    degree = (_mean(shares) or 0.0) * _clear(wanted, said)
    if counted < (0.75 if bare else 0.5) or _turned(wanted, said):
        degree = min(degree, MET - 0.01)
    return Assertion(
        degree=degree,
        group=said,
        told=len(wanted.stems & said.stems) / max(1, len(wanted.stems)),
        lacks=tuple(name for name, share in shares.items() if share < 0.5),
    )


def _tells(shares: dict[str, float]) -> bool:
    """Whether it says something of what it names: most of a quotation, or enough of the rest."""
    rest = _mean({name: share for name, share in shares.items() if name != "names"})
    return rest is not None and (rest >= _TOLD or shares.get("quotes", 0.0) >= 0.5)


def _mean(shares: dict[str, float]) -> float | None:
    whole = sum(_WEIGHTS[name] for name in shares)
    return sum(_WEIGHTS[name] * share for name, share in shares.items()) / whole if whole else None


def _shares(wanted: ExpectedFact, said: StatementGroup) -> dict[str, float]:
    """The share of each kind of thing that is said; kinds that the fact does not have are left out."""
    shares: dict[str, float] = {}
    if wanted.names:
        shares["names"] = _named_share(wanted.names, said.names)
    if wanted.amounts:
        hits = sum(_matching(right, (right, soft), said.amounts) is not None for right, soft in wanted.amounts)
        shares["numbers"] = hits / len(wanted.amounts)
    if wanted.quotes:
        shares["quotes"] = sum(_quoted(quote, said) for quote in wanted.quotes) / len(wanted.quotes)
    if wanted.stems:
        overlap = sum(wanted.weight(word) for word in wanted.stems & _words(said))
        shares["words"] = min(1.0, overlap / (_ENOUGH_WORDS * sum(map(wanted.weight, wanted.stems))))
    if wanted.outcomes:
        shares["outcomes"] = len(wanted.outcomes & said.outcomes) / len(wanted.outcomes)
    right, mine = _directions(wanted, said)
    if wanted.outcomes:
        right.pop("outcome", None)
    if right:
        shares["direction"] = sum(mine.get(axis) == way for axis, way in right.items()) / len(right)
    return shares


def _named_share(wanted: Sequence[str], said: frozenset[str]) -> float:
    """Places count most: what else is named may be named of any rollout."""
    places = [name for name in wanted if is_place(name)]
    others = [name for name in wanted if not is_place(name)]
    if not places or not others:
        return share_named(wanted, said)
    return min(share_named(places, said), 0.7 * share_named(places, said) + 0.3 * share_named(others, said) + 0.1)


def _matching(one: Amount, forms: tuple[Amount, Amount], said: Sequence[Amount]) -> Amount | None:
    """The first amount that says the same and counts the same."""
    return next(
        (other for other in said if any(same_value(other, form) for form in forms) and _may_count_the_same(other, one)),
        None,
    )


def _may_count_the_same(one: Amount, other: Amount) -> bool:
    exact = min(one.decimals, other.decimals) >= _TELLING_DECIMALS
    return exact or comparable(one, other) or not one.unit or not other.unit


def _words(said: StatementGroup) -> frozenset[str]:
    return said.stems | content(word for quote in said.quotes for word in quote.split())


def _quoted(quote: str, said: StatementGroup) -> float:
    """Word for word 1; otherwise by how many of its words are told."""
    if any(quote in other or (other in quote and 2 * len(other) >= len(quote)) for other in said.quotes):
        return 1.0
    words = content(spoken(quote))
    return 0.8 * min(1.0, len(words & _words(said)) / (_ENOUGH_WORDS * len(words))) if words else 0.0


def _clear(wanted: ExpectedFact, said: StatementGroup) -> float:
    """Less than 1 where names, numbers or words are heaped up."""
    mine = len(wanted.names) + len(wanted.amounts)
    named = (2 * mine + _CROWD) / max(1, len(said.names) + len(said.amounts))
    worded = (2 * len(wanted.stems) + _WORDY) / max(1, len(said.stems))
    return min(1.0, named, worded)


def _turned(wanted: ExpectedFact, said: StatementGroup) -> bool:
    """Whether it points the other way than the golden sentences on every scale that both use."""
    right, mine = _directions(wanted, said, every=True)
    both = [axis for axis in sorted(right.keys() & mine.keys()) if mine[axis]]
    return bool(both) and all(right[axis] != mine[axis] for axis in both)


def _directions(
    wanted: ExpectedFact, said: StatementGroup, every: bool = False
) -> tuple[dict[str, int], dict[str, int]]:
    """Which way the golden sentences point, and which way the words of a report do."""
    right = {axis: way for axis, way in _ways(wanted.support).items() if way and (every or axis in _SCALES)}
    if any(mirrored(one, other) for one in said.amounts for other, _ in wanted.amounts):
        right.pop("outcome", None)
    return right, _ways(said.statements)


def _ways(statements: Sequence[Statement]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in statements:
        for axis, way in one.ways:
            signed = way * (-1) ** one.denials
            found[axis] = signed if found.get(axis, signed) == signed else 0
    return found
