"""From the text of a rule to its value; every error names its place."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager

import re2
from msgspec import Struct

from blade.custom_rules.syntax import (
    KINDS,
    OF_ROLLOUT,
    OF_STEP,
    AllRules,
    AnyRule,
    Compare,
    Constant,
    Exists,
    FieldPath,
    Holds,
    Not,
    Rule,
    StepCount,
    StepPattern,
    StepSequence,
    Sum,
    Value,
    ValueLength,
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


class Token(Struct, frozen=True):
    """A word of a rule's text: what it is, its letters, and where it begins."""

    kind: str
    """text, number, name, sign, part or end."""
    text: str
    at: int

    @property
    def value(self) -> object:
        """What a text or a number stands for; a duration is in seconds."""
        if self.kind == "text":
            # Only what hides a quote or a line break is an escape: a regular expression keeps its own.
            quote = self.text[0]
            return _ESCAPE.sub(
                lambda match: quote if match[1] == quote else _ESCAPED.get(match[1], match[0]), self.text[1:-1]
            )
        unit = self.text.lstrip("0123456789.")
        number = float(self.text.removesuffix(unit))
        return number * SECONDS[unit] if unit else number


def tokens(text: str) -> Iterator[Token]:
    """The words of a rule, each with its place, and an end; RuleError at what is no word."""
    at = 0
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            what = "a text without its closing quote" if text[at] in "\"'" else f"{text[at]!r} means nothing here"
            raise RuleError(what, text, at)
        if match.lastgroup != "space":
            yield Token(str(match.lastgroup), match.group(), at)
        at = match.end()
    yield Token("end", "", len(text))


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
        self.tokens = list(tokens(text))
        self.place = 0
        self.inside = 0
        """How many brackets are open: within them the fields of a step are known."""
        self.names: set[str] = set()
        self.depth = 0

    def whole(self) -> Rule:
        rule = self.rule()
        if self.next.kind != "end":
            raise self.error(f"{self.next.text!r} was not expected after a whole rule", hint="join rules with and, or")
        return rule

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        word = self.next
        self.place += word.kind != "end"
        return word

    def taken(self, text: str) -> bool:
        """Whether the next word is this one, which is then behind us."""
        if self.next.text == text and self.next.kind in ("name", "sign"):
            self.place += 1
            return True
        return False

    def need(self, text: str) -> None:
        if not self.taken(text):
            found = self.next.text or "the end"
            raise self.error(f"{text!r} is missing before {found!r}")

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
            return found[0] if len(found) == 1 else AnyRule(tuple(found))

    def all_of(self) -> Rule:
        found = [self.negated()]
        while self.taken("and"):
            found.append(self.negated())
        return found[0] if len(found) == 1 else AllRules(tuple(found))

    def negated(self) -> Rule:
        with self.deeper():
            return Not(self.negated()) if self.taken("not") else self.atom()

    def atom(self) -> Rule:
        word = self.next
        if word.kind == "name" and (word.text in KINDS or word.text in ("earlier", "later")):
            return self.sequence()
        if self.taken("exists"):
            return Exists(self.sum())
        if self.next.text == "(" and not self._is_sum():
            self.take()
            rule = self.rule()
            self.need(")")
            return rule
        return self.comparison()

    def _is_sum(self) -> bool:
        """Whether the bracket ahead holds a value and no rule: an operator or a sign follows it."""
        depth = 0
        for number in range(self.place, len(self.tokens)):
            depth += (self.tokens[number].text == "(") - (self.tokens[number].text == ")")
            if depth == 0:
                return self.tokens[number + 1].text in (*OPERATORS, "+", "-")
        return False

    def sequence(self) -> StepSequence:
        at = self.next.at
        where = "anywhere"
        if self.next.text in ("earlier", "later"):
            where = self.take().text
        if where != "anywhere" and not self.inside:
            raise self.error(
                f"{where!r} needs a step that it is {where} than", at, "write it in the brackets of a step: call x[...]"
            )
        patterns = [self.pattern()]
        while self.taken("then"):
            patterns.append(self.pattern())
        return StepSequence(tuple(patterns), where)  # type: ignore[arg-type]

    def pattern(self) -> StepPattern:
        word = self.take()
        if word.text not in KINDS:
            raise self.error(f"{word.text or 'the end'!r} is no kind of step", word.at, f"one of {', '.join(KINDS)}")
        tools = self.tools() if self._names_tool() else ()
        name = self.new_name() if self.taken("as") else None
        where = self.bracket() if self.taken("[") else None
        return StepPattern(word.text, tools, name, where)

    def _names_tool(self) -> bool:
        return self.next.kind == "text" or (self.next.kind == "name" and self.next.text not in (*_RESERVED, *OPERATORS))

    def tools(self) -> tuple[str, ...]:
        found = [self.tool()]
        while self.taken("|"):
            found.append(self.tool())
        return tuple(found)

    def tool(self) -> str:
        word = self.take()
        if word.kind not in ("text", "name"):
            raise self.error(f"{word.text or 'the end'!r} is no name of a tool", word.at)
        name = str(word.value) if word.kind == "text" else word.text
        while self.next.text == "." and word.kind == "name":
            self.take()
            name += "." + self.take().text
        return name

    def new_name(self) -> str:
        word = self.take()
        if word.kind != "name" or word.text in _RESERVED or word.text in (*OF_STEP, *OF_ROLLOUT):
            raise self.error(f"{word.text or 'the end'!r} cannot be the name of a step", word.at)
        self.names.add(word.text)
        return word.text

    def bracket(self) -> Rule:
        self.inside += 1
        rule = self.rule()
        self.inside -= 1
        self.need("]")
        return rule

    def comparison(self) -> Rule:
        left = self.sum()
        if self.next.text not in OPERATORS or self.next.kind not in ("sign", "name"):
            if isinstance(left, Constant):
                raise self.error("a value alone is no rule", hint=f"compare it with {' '.join(OPERATORS[:-3])} ...")
            return Holds(left)
        operator, at = self.take().text, self.next.at
        right = self.listed() if operator == "in" and self.next.text == "(" else self.sum()
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
        while self.next.text in ("+", "-"):
            sign = self.take().text
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
        if word.text in _CONSTANTS:
            return Constant(_CONSTANTS[self.take().text])
        if word.text == "null":
            raise self.error("nothing equals null", hint="write exists X, or not exists X")
        return self.function() if word.text in ("count", "length") else self.path()

    def function(self) -> Value:
        called = self.take().text
        self.need("(")
        found: Value = StepCount(self.pattern()) if called == "count" else ValueLength(self.sum())
        self.need(")")
        return found

    def path(self) -> FieldPath:
        word = self.take()
        if word.kind != "name" or word.text in _RESERVED:
            raise self.error(f"{word.text or 'the end'!r} stands where a value should", word.at)
        self.check_name(word)
        parts = []
        while self.taken("."):
            part = self.take()
            if part.kind not in ("name", "part", "text", "number"):
                raise self.error("a name is missing after the dot", part.at)
            parts.append(str(part.value) if part.kind == "text" else part.text)
        if word.text == "row" and not parts:
            raise self.error("which field of the row?", word.at, "row.FIELD, for example row.difficulty")
        named = word.text in self.names
        if named and parts and parts[0] not in OF_STEP:
            raise self.error(f"a step has no {parts[0]!r}", word.at, f"it has {', '.join(OF_STEP)}")
        return FieldPath(word.text, tuple(parts), named=named)

    def check_name(self, word: Token) -> None:
        known = [*self.names, *(OF_STEP if self.inside else ()), *OF_ROLLOUT]
        if word.text in known:
            return
        near = difflib.get_close_matches(word.text, known, n=1)
        if near:
            hint = f"did you mean {near[0]}?"
        elif word.text in OF_STEP:
            hint = f"{word.text} is of a step: write it in brackets, call x[{word.text} ...]"
        else:
            hint = f"a field of the row is row.{word.text}; known: {', '.join(known)}"
        raise self.error(f"nothing is called {word.text!r}", word.at, hint)
