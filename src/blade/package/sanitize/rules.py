"""What a rule of `sanitize` is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Group(StrEnum):
    """What a rule looks for; a check of the package stands for each."""

    SECRETS = "secrets"
    ENDPOINTS = "endpoints"
    PATHS = "paths"
    PEOPLE = "people"
    SOURCE = "source"
    NAMES = "names"
    CLEARANCE = "clearance"


class Match(NamedTuple):
    """What a pattern matched: `view` is the line as rules see it, the value stands at [start, end)."""

    view: bytes
    name: bytes
    """What the value is assigned to; empty for patterns without a group `name`."""
    start: int
    end: int

    @property
    def value(self) -> bytes:
        """The bytes that a redaction replaces."""
        return self.view[self.start : self.end]

    def after(self, size: int = 1) -> bytes:
        """What follows the value."""
        return self.view[self.end : self.end + size]

    def before(self, size: int = 1) -> bytes:
        """What stands in front of the value."""
        return self.view[max(0, self.start - size) : self.start]


def always(match: Match) -> bool:
    """The pattern settles it."""
    return True


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One form of what must not be shared."""

    name: str
    """Stands in `[redacted: NAME]` and in the allow list."""
    group: Group
    says: str
    """What was found, in the plural."""
    gate: str = ""
    """RE2, over raw bytes: where it does not match, the rule is not tried. Empty for rules about whole files."""
    pattern: str = ""
    """RE2, over the view; a group `value` is what is redacted, a group `name` what it is assigned to."""
    keep: Callable[[Match], bool] = always
    """Whether a match is one, where the form alone does not settle it."""
    backslashes: bool = False
    """It needs the backslashes that the view hides."""
    whole: bool = False
    """It speaks of the text around it: the whole string, line or file is redacted."""


def own(names: str) -> frozenset[bytes]:
    """Names with blanks between them, as rules compare them."""
    return frozenset(names.encode().split())
