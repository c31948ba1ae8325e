"""From the text of a rule to its value; every error names its place."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import re2

from blade.custom_rules.syntax import (
    KINDS,
    OF_ROLLOUT,
    OF_STEP,
    AllOf,
    AnyOf,
    Compare,
    Constant,
    Count,
    Exists,
    Holds,
    Length,
    Not,
    Path,
    Pattern,
    Rule,
    Steps,
    Sum,
    Value,
)
from blade.model.errors import RequestError
from blade.model.pattern import pattern_of

OPERATORS = ("=", "==", "!=", "<", "<=", ">", ">=", "contains", "matches", "in")
_CONSTANTS = {"true": True, "false": False}
_RESERVED = frozenset(
    (*KINDS, *_CONSTANTS, "null", "and", "or", "not", "exists", "count", "length", "then", "as", "earlier", "later")
)
DEEPEST = 50
LONGEST = 20_000


def parse(text: str) -> Rule:
    """The rule that a text says; RuleError where it says none."""
    if not text.strip():
        raise RuleError("the rule is empty", text, 0)
    if len(text) > LONGEST:
        raise RuleError(f"a rule of more than {LONGEST:,} characters", text, 0)
    return _Parser(text).whole()


class _Parser:
    """One reading of one text, word by word."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = list(words(text))
        self.place = 0
        self.inside = 0
        """How many brackets are open: within them the fields of a step are known."""
        self.names: set[str] = set()
        self.depth = 0

    def whole(self) -> Rule:
        rule = self.rule()
        if self.next.kind != "end":
            raise self.error(f"{self.next.said!r} was not expected after a whole rule", hint="join rules with and, or")
        return rule

    @property
    def next(self) -> Word:
        return self.words[self.place]

    def take(self) -> Word:
        word = self.next
        self.place += word.kind != "end"
        return word

    def taken(self, said: str) -> bool:
        """Whether the next word is this one, which is then behind us."""
        if self.next.said == said and self.next.kind in ("name", "sign"):
            self.place += 1
            return True
        return False

    def need(self, said: str) -> None:
        if not self.taken(said):
            found = self.next.said or "the end"
            raise self.error(f"{said!r} is missing before {found!r}")

    def error(self, what: str, at: int | None = None, hint: str = "") -> RuleError:
        return RuleError(what, self.text, self.next.at if at is None else at, hint)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"nested more than {DEEPEST} deep")
        yield
        self.depth -= 1

    def rule(self) -> Rule:
        with self.deeper():
            found = [self.all_of()]
            while self.taken("or"):
                found.append(self.all_of())
            return found[0] if len(found) == 1 else AnyOf(tuple(found))

    def all_of(self) -> Rule:
        found = [self.negated()]
        while self.taken("and"):
            found.append(self.negated())
        return found[0] if len(found) == 1 else AllOf(tuple(found))

    def negated(self) -> Rule:
        with self.deeper():
            return Not(self.negated()) if self.taken("not") else self.atom()

    def atom(self) -> Rule:
        word = self.next
        if word.kind == "name" and (word.said in KINDS or word.said in ("earlier", "later")):
            return self.sequence()
        if self.taken("exists"):
            return Exists(self.sum())
        if self.next.said == "(" and not self._is_sum():
            self.take()
            rule = self.rule()
            self.need(")")
            return rule
        return self.comparison()

    def _is_sum(self) -> bool:
        """Whether the bracket ahead holds a value and no rule: an operator or a sign follows it."""
        depth = 0
        for number in range(self.place, len(self.words)):
            depth += (self.words[number].said == "(") - (self.words[number].said == ")")
            if depth == 0:
                return self.words[number + 1].said in (*OPERATORS, "+", "-")
        return False

    def sequence(self) -> Steps:
        at = self.next.at
        place: Callable[[str], bool] = self.taken
        where = "earlier" if place("earlier") else "later" if place("later") else "anywhere"
        if where != "anywhere" and not self.inside:
            raise self.error(
                f"{where!r} needs a step that it is {where} than", at, "write it in the brackets of a step: call x[...]"
            )
        patterns = [self.pattern()]
        while self.taken("then"):
            patterns.append(self.pattern())
        return Steps(tuple(patterns), where)  # type: ignore[arg-type]

    def pattern(self) -> Pattern:
        word = self.take()
        if word.said not in KINDS:
            raise self.error(f"{word.said or 'the end'!r} is no kind of step", word.at, f"one of {', '.join(KINDS)}")
        tools = self.tools() if self._names_tool() else ()
        name = self.new_name() if self.taken("as") else None
        where = self.bracket() if self.taken("[") else None
        return Pattern(word.said, tools, name, where)

    def _names_tool(self) -> bool:
        return self.next.kind == "text" or (self.next.kind == "name" and self.next.said not in (*_RESERVED, *OPERATORS))

    def tools(self) -> tuple[str, ...]:
        found = [self.tool()]
        while self.taken("|"):
            found.append(self.tool())
        return tuple(found)

    def tool(self) -> str:
        word = self.take()
        if word.kind not in ("text", "name"):
            raise self.error(f"{word.said or 'the end'!r} is no name of a tool", word.at)
        said = str(word.value) if word.kind == "text" else word.said
        while self.next.said == "." and word.kind == "name":
            self.take()
            said += "." + self.take().said
        return said

    def new_name(self) -> str:
        word = self.take()
        if word.kind != "name" or word.said in _RESERVED or word.said in (*OF_STEP, *OF_ROLLOUT):
            raise self.error(f"{word.said or 'the end'!r} cannot be the name of a step", word.at)
        self.names.add(word.said)
        return word.said

    def bracket(self) -> Rule:
        self.inside += 1
        rule = self.rule()
        self.inside -= 1
        self.need("]")
        return rule

    def comparison(self) -> Rule:
        left = self.sum()
        if self.next.said not in OPERATORS or self.next.kind not in ("sign", "name"):
            if isinstance(left, Constant):
                raise self.error("a value alone is no rule", hint=f"compare it with {' '.join(OPERATORS[:-3])} ...")
            return Holds(left)
        operator, at = self.take().said, self.next.at
        right = self.listed() if operator == "in" and self.next.said == "(" else self.sum()
        if operator == "matches":
            self.check_pattern(right, at)
        return Compare(left, "=" if operator == "==" else operator, right)

    def check_pattern(self, value: Value, at: int) -> None:
        if not isinstance(value, Constant) or not isinstance(value.value, str):
            raise self.error("'matches' takes a regular expression in quotes", at)
        options = re2.Options()
        options.log_errors = False
        try:
            re2.compile(value.value, options)
        except re2.error as error:
            why = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error.args[0])
            raise self.error(f"no regular expression of RE2: {why}", at) from None

    def listed(self) -> Constant:
        self.need("(")
        found = [self.literal()]
        while self.taken(","):
            found.append(self.literal())
        self.need(")")
        return Constant(tuple(found))

    def literal(self) -> object:
        value = self.value()
        if not isinstance(value, Constant):
            raise self.error("a list holds texts and numbers only")
        return value.value

    def sum(self) -> Value:
        found = self.value()
        while self.next.said in ("+", "-"):
            sign = self.take().said
            found = Sum(found, "+" if sign == "+" else "-", self.value())
        return found

    def value(self) -> Value:
        word = self.next
        if word.kind in ("text", "number"):
            return Constant(self.take().value)
        if self.taken("("):
            with self.deeper():
                found = self.sum()
            self.need(")")
            return found
        if self.taken("-"):
            number = self.literal()
            if not isinstance(number, float):
                raise self.error("only a number can be negative", word.at)
            return Constant(-number)
        if word.said in _CONSTANTS:
            return Constant(_CONSTANTS[self.take().said])
        if word.said == "null":
            raise self.error("nothing equals null", hint="write exists X, or not exists X")
        return self.function() if word.said in ("count", "length") else self.path()

    def function(self) -> Value:
        called = self.take().said
        self.need("(")
        found: Value = Count(self.pattern()) if called == "count" else Length(self.sum())
        self.need(")")
        return found

    def path(self) -> Path:
        word = self.take()
        if word.kind != "name" or word.said in _RESERVED:
            raise self.error(f"{word.said or 'the end'!r} stands where a value should", word.at)
        self.check_name(word)
        parts = []
        while self.taken("."):
            part = self.take()
            if part.kind not in ("name", "part", "text", "number"):
                raise self.error("a name is missing after the dot", part.at)
            parts.append(str(part.value) if part.kind == "text" else part.said)
        if word.said == "row" and not parts:
            raise self.error("which field of the row?", word.at, "row.FIELD, for example row.difficulty")
        named = word.said in self.names
        if named and parts and parts[0] not in OF_STEP:
            raise self.error(f"a step has no {parts[0]!r}", word.at, f"it has {', '.join(OF_STEP)}")
        return Path(word.said, tuple(parts), named=named)

    def check_name(self, word: Word) -> None:
        known = [*self.names, *(OF_STEP if self.inside else ()), *OF_ROLLOUT]
        if word.said in known:
            return
        near = difflib.get_close_matches(word.said, known, n=1)
        if near:
            hint = f"did you mean {near[0]}?"
        elif word.said in OF_STEP:
            hint = f"{word.said} is of a step: write it in brackets, call x[{word.said} ...]"
        else:
            hint = f"a field of the row is row.{word.said}; known: {', '.join(known)}"
        raise self.error(f"nothing is called {word.said!r}", word.at, hint)


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
        super().__init__(f"{message}\n  {line}\n  {' ' * column}^", hint=hint or "docs/teaching.md shows the language")


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
