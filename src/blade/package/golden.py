"""The golden report, ready to be looked up in: by word, label, quotation, rollout and task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from blade.package.amounts import Amount
from blade.package.claims import Reading, Statement
from blade.package.ids import is_place, task_of
from blade.package.models import models_named

_TELLING_QUOTE = 12


@dataclass(frozen=True)
class Golden:
    """The golden report, ready to be looked up in."""

    reading: Reading

    @property
    def statements(self) -> tuple[Statement, ...]:
        return self.reading.statements

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
        return models_named(self.reading)

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
