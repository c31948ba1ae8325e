"""Looking at lines: one search over the raw bytes says which rules are worth trying, and these look at the view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import re2

from blade.package.sanitize import endpoints, keys, people, secrets, source
from blade.package.sanitize.lists import Allowed, Denied
from blade.package.sanitize.rules import Group, Match, Rule
from blade.package.sanitize.view import unhidden, view

_MEMORY = 64 << 20
_MOST_BACKSLASHES = 64
_WITH_NAME = 2
"""How many groups a pattern has that names what the value is assigned to; the value is the last."""
RULES = (*keys.RULES, *secrets.RULES, *endpoints.RULES, *people.RULES, *source.RULES)


class Hit(NamedTuple):
    """A value of a rule at [start, end) of a line."""

    start: int
    end: int
    rule: Rule


class Scanner:
    """All rules, and the names of a deny list, ready to look; what the allow list covers is no hit."""

    def __init__(self, denied: Denied, allowed: Allowed) -> None:
        extra = denied.rule()
        self._rules: tuple[Rule, ...] = (*RULES, *((extra,) if extra else ()))
        self._order = {rule: number for number, rule in reversed(list(enumerate(self._rules)))}
        self._patterns = tuple(_compiled(rule.pattern) for rule in self._rules)
        self._gate = _gate(self._rules)
        self._allowed = allowed

    def opens(self, lines: bytes) -> bool:
        """Whether any rule has something to look at."""
        return bool(self._gate(lines))

    def hits(self, line: bytes, path: str, *, is_json: bool, covered: list[str] | None = None) -> list[Hit]:
        """What must not be shared, in the order of places; a hit inside another is left out unless it alone is a secret.

        The line is a `readable` one. Rules of what the allow list covers are added to `covered`.
        """
        open_rules = self._gate(line)
        if not open_rules:
            return []
        seen = view(line)
        found = [hit for number in open_rules for hit in self._of(number, line, seen, is_json)]
        kept: list[Hit] = []
        for hit in found:
            if not self._allowed.covers(hit.rule.name, line[hit.start : hit.end], path):
                kept.append(hit)
            elif covered is not None:
                covered.append(hit.rule.name)
        return self._distinct(kept)

    def _of(self, number: int, line: bytes, seen: bytes, is_json: bool) -> Iterator[Hit]:
        rule = self._rules[number]
        text = line if rule.backslashes else seen
        pattern = self._patterns[number]
        for match in pattern.finditer(text):
            start, end = match.span(pattern.groups)
            name = match[1] if pattern.groups == _WITH_NAME else b""
            one = Match(text, name, start, end)
            halves = is_json and rule.backslashes and _halves_escape(line, start)
            if not halves and rule.keep(one):
                yield Hit(start, end, rule)

    def _distinct(self, hits: list[Hit]) -> list[Hit]:
        hits.sort(key=lambda hit: (hit.start, -hit.end, self._order[hit.rule]))
        kept: list[Hit] = []
        reach = secret_reach = -1
        for hit in hits:
            secret = hit.rule.group is Group.SECRETS
            if hit.end > (secret_reach if secret else reach):
                kept.append(hit)
                reach = max(reach, hit.end)
                secret_reach = max(secret_reach, hit.end) if secret else secret_reach
        return kept


def readable(line: bytes, is_json: bool) -> bytes:
    """The line in the form that rules are given: in JSON, escapes that nothing demands are resolved."""
    return unhidden(line) if is_json else line


def _halves_escape(line: bytes, start: int) -> bool:
    r"""After an odd number of backslashes the first letter of the value belongs to an escape, as in `C:\\Users\new`."""
    before = line[max(0, start - _MOST_BACKSLASHES) : start]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 1


def _gate(rules: Sequence[Rule]) -> Callable[[bytes], list[int]]:
    patterns = re2.Set.SearchSet(_options())
    owners: dict[str, list[int]] = {}
    for number, rule in enumerate(rules):
        owners.setdefault(rule.gate, []).append(number)
    for gate in owners:
        patterns.Add(gate.encode())
    patterns.Compile()
    groups = tuple(owners.values())

    def open_rules(line: bytes) -> list[int]:
        found = patterns.Match(line)
        return sorted(number for place in found for number in groups[place]) if found else []

    return open_rules


def _compiled(pattern: str) -> Any:
    return re2.compile(pattern.encode(), _options())


def _options() -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _MEMORY
    options.log_errors = False
    return options
