"""The words of a rule's text, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from blade.model.errors import RequestError
from blade.model.pattern import pattern_of

SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_WORD = pattern_of(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<number>\d+(?:\.\d+)?(?:ms|[smhdw])?(?![\w.*]))
      | (?P<name>[A-Za-z_*][\w*/:-]*)
      | (?P<sign><=|>=|!=|==|[=<>()\[\].,|+-])
      | (?P<part>\d[\w*-]*)
    """,
    re.VERBOSE,
)
_ESCAPE = pattern_of(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t"}


class RuleError(RequestError):
    """A rule that cannot be read: what is wrong, and where in its text."""

    def __init__(self, message: str, text: str, at: int, hint: str = "") -> None:
        before = text[:at]
        self.line = before.count("\n")
        """Lines of the text before the place."""
        self.what = message
        line = text.split("\n")[self.line]
        column = at - (before.rfind("\n") + 1)
        super().__init__(f"{message}\n  {line}\n  {' ' * column}^", hint=hint or "docs/packages.md shows the language")


class Word(NamedTuple):
    """A word of the text: what it is, what it says, and where it begins."""

    kind: str
    """text, number, name, sign, part or end."""
    said: str
    at: int

    @property
    def value(self) -> object:
        """What a text or a number stands for; a duration is in seconds."""
        if self.kind == "text":
            # Only what hides a quote or a line break is an escape: a regular expression keeps its own.
            return _ESCAPE.sub(self._unescaped, self.said[1:-1])
        unit = self.said.lstrip("0123456789.")
        number = float(self.said.removesuffix(unit))
        return number * SECONDS[unit] if unit else number

    def _unescaped(self, found: re.Match[str]) -> str:
        letter = found.group(1)
        if letter == self.said[0]:
            return letter
        return _ESCAPED.get(letter, found.group(0))


def words(text: str) -> Iterator[Word]:
    """The words of a rule, and an end; RuleError at what is no word."""
    at = 0
    while at < len(text):
        found = _WORD.match(text, at)
        if found is None:
            what = "a text without its closing quote" if text[at] in "\"'" else f"{text[at]!r} means nothing here"
            raise RuleError(what, text, at)
        if found.lastgroup != "space":
            yield Word(str(found.lastgroup), found.group(), at)
        at = found.end()
    yield Word("end", "", len(text))
