"""Parts of a report in which a fact may stand: a sentence, a paragraph, a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from blade.package.amounts import Amount
from blade.package.claims import Reading, Statement
from blade.package.ids import parts


@dataclass(frozen=True, kw_only=True)
class Window:
    """Some statements that stand together."""

    statements: tuple[Statement, ...]
    own: frozenset[str]
    """Names in the words themselves."""
    names: frozenset[str]
    """With those that the words go on from."""
    named: frozenset[str]
    """The names and what they are part of."""
    amounts: tuple[Amount, ...]
    quotes: frozenset[str]
    stems: frozenset[str]
    outcomes: frozenset[tuple[str, int]]

    @property
    def line(self) -> int:
        return self.statements[0].line

    @property
    def text(self) -> str:
        return " ".join(dict.fromkeys(one.sentence for one in self.statements))


def window(statements: Iterable[Statement]) -> Window:
    """The statements as one."""
    mine = tuple(statements)
    own = frozenset(name for one in mine for name in one.ids)
    names = own | frozenset(name for one in mine for name in one.about)
    return Window(
        statements=mine,
        own=own,
        names=names,
        named=frozenset(part for name in names for part in parts(name)),
        amounts=tuple(amount for one in mine for amount in one.amounts),
        quotes=frozenset(quote for one in mine for quote in one.quotes),
        stems=frozenset(word for one in mine for word in one.stems),
        outcomes=frozenset(each for one in mine for each in one.outcomes),
    )


def windows(reading: Reading) -> list[Window]:
    """Every part of a report in which a fact may stand; the smaller ones first."""
    passages = [list(group) for _, group in groupby(reading.statements, key=lambda one: one.passage)]
    small = [window(sentence) for passage in passages for sentence in _sentences(passage)]
    large = [window(passage) for passage in passages if len({one.sentence for one in passage}) > 1]
    return [*small, *large]


def _sentences(passage: Sequence[Statement]) -> Iterator[list[Statement]]:
    for _, group in groupby(passage, key=lambda one: one.sentence):
        yield list(group)
