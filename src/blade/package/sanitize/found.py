"""What was found, without a single value: counts by rule, with files and lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from blade.model.check import Check
from blade.package.sanitize.rules import Group, Rule

MOST_LINES = 20
"""So many lines of a file are listed; all are counted."""


@dataclass(frozen=True, kw_only=True)
class InFile:
    """What a rule found in one file."""

    file: str
    count: int
    lines: tuple[int, ...]
    """The first lines, each once; empty where the name of the file, or the file as such, is meant."""

    @property
    def place(self) -> str:
        """`file:line` of the first."""
        return f"{self.file}:{self.lines[0]}" if self.lines else self.file


@dataclass(frozen=True, kw_only=True)
class Count:
    """What a rule found."""

    rule: str
    group: Group
    says: str
    count: int
    different: int
    """How many values there are when equal ones count once."""
    domains: int | None
    """How many domains they are in, for e-mail addresses."""
    files: tuple[InFile, ...]


@dataclass(frozen=True, kw_only=True)
class Sanitized:
    """What was looked at and what was found."""

    files: int
    lines: int
    bytes: int
    counts: tuple[Count, ...]
    """By group, then by rule."""
    allowed: int
    """How many matches the allow list covers."""
    unseen: tuple[str, ...]
    """Images, and folders of caches or history (with `/` at the end): they are in no rule's reach."""
    left_out: tuple[str, ...]
    """Files that a redacted copy does not hold."""
    clearance: Check

    @property
    def found(self) -> int:
        """How much must not be shared; a missing clearance counts."""
        return sum(count.count for count in self.counts) + (self.clearance.passed is False)


@dataclass
class _Values:
    count: int = 0
    lines: dict[str, list[int]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    values: set[int] = field(default_factory=set)
    domains: set[int] = field(default_factory=set)


class Tally:
    """Counts while files are read. Of a value it keeps the hash that a set needs, for as long as it counts."""

    def __init__(self) -> None:
        self._rules: dict[str, tuple[Rule, _Values]] = {}

    def add(self, rule: Rule, file: str, line: int | None, value: bytes) -> None:
        """Count a value of a rule."""
        _, seen = self._rules.setdefault(rule.name, (rule, _Values()))
        seen.count += 1
        seen.counts[file] = seen.counts.get(file, 0) + 1
        seen.values.add(hash(value))
        if rule.name == "email":
            seen.domains.add(hash(value.rpartition(b"@")[2].lower()))
        lines = seen.lines.setdefault(file, [])
        if line is not None and len(lines) < MOST_LINES and line not in lines[-1:]:
            lines.append(line)

    def counts(self, order: Iterable[Rule]) -> tuple[Count, ...]:
        """All rules that found something, in the order of groups and then of rules."""
        ranks = {name: number for number, name in enumerate(dict.fromkeys(rule.name for rule in order))}
        groups = list(Group)
        found = sorted(
            self._rules.values(),
            key=lambda one: (groups.index(one[0].group), ranks.get(one[0].name, len(ranks)), one[0].name),
        )
        return tuple(_count(rule, seen) for rule, seen in found)


def _count(rule: Rule, seen: _Values) -> Count:
    return Count(
        rule=rule.name,
        group=rule.group,
        says=rule.says,
        count=seen.count,
        different=len(seen.values),
        domains=len(seen.domains) if rule.name == "email" else None,
        files=tuple(
            InFile(file=file, count=count, lines=tuple(seen.lines[file])) for file, count in sorted(seen.counts.items())
        ),
    )
