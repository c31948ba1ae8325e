"""What is known of a call from its words alone: whether its tool changes something, whether its arguments can be read
and are as the tool's schema declares them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct

READING = frozenset(
    """get list search find lookup read view show describe count check fetch query retrieve inspect browse calculate
    compute verify validate select summarize summarise analyze analyse compare""".split()  # noqa: SIM905
)
"""Verbs of tools that only look; the first known verb of a name decides."""
CHANGING = frozenset(
    """create add update delete remove set send write edit modify insert move rename assign reply forward cancel book
    post put patch submit reset enable disable approve reject pay refund schedule""".split()  # noqa: SIM905
)
_READING_AT_FIRST = frozenset(("think", "note", "plan", "is", "has", "finish", "done", "respond", "wait", "noop"))
"""Words that are a verb only where a name begins with them."""
_OPENED_TO_READ = frozenset(("file", "url", "page", "website", "folder", "document", "link", "tab", "app"))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NO_CHANGE = re.compile(r"transfer_to_human|submit_answer|submit_final|final_answer")


DEEPEST = 60
"""Nesting of arguments that is looked into; deeper ones are taken as text."""


def is_deep(text: str) -> bool:
    """Whether JSON text is nested deeper than anything that a tool takes."""
    if text.count("{") + text.count("[") <= DEEPEST:
        return False
    depth = deepest = 0
    for letter in text:
        depth += (letter in "{[") - (letter in "}]")
        deepest = max(deepest, depth)
    return deepest > DEEPEST


class Tools(Struct, frozen=True, kw_only=True):
    """Names of tools, with `*`, that change something and that only read, whatever the names suggest."""

    changing: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()


NO_CUSTOM_TOOLS = Tools()


@lru_cache(maxsize=16)
def _verdicts(tools: Tools) -> Callable[[str], bool]:
    """Says of a tool whether it changes something; each name is judged once."""
    return lru_cache(maxsize=4096)(partial(_changes, tools))


def _changes(tools: Tools, tool: str) -> bool:
    if any(fnmatchcase(tool, name) for name in tools.changing):
        return True
    return not any(fnmatchcase(tool, name) for name in tools.reading) and _sounds_changing(tool)


_BY_NAME = _verdicts(NO_CUSTOM_TOOLS)
_TAUGHT: ContextVar[Callable[[str], bool]] = ContextVar("tools", default=_BY_NAME)


@contextmanager
def using_tools(tools: Tools) -> Iterator[None]:
    """Within it, tools that a package names change something or only read, as the package says."""
    before = _TAUGHT.set(_verdicts(tools))
    try:
        yield
    finally:
        _TAUGHT.reset(before)


def judge_of_tools() -> Callable[[str], bool]:
    """What `changes_state` asks here; for those who ask about many calls."""
    return _TAUGHT.get()


def changes_state(tool: str) -> bool:
    """Whether a tool is taken to change something: by what custom rules say, else unless its name says that it only reads or ends the talk."""
    return _TAUGHT.get()(tool)


def _sounds_changing(tool: str) -> bool:
    words = [word.lower() for word in _WORD.findall(tool)]
    if _NO_CHANGE.search(tool) or (words and words[0] in _READING_AT_FIRST):
        return False
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else ""
        if word in CHANGING or (word == "check" and after in ("in", "out")):
            return True
        if word in READING or (word == "look" and after == "up") or (word == "open" and after in _OPENED_TO_READ):
            return False
    return True


_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": Annotated[float, msgspec.Meta(multiple_of=1)],
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": None,
}
_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
"""Names that a struct can have."""
_MOST = 200
"""Arguments of a tool that are checked; one with more is not."""


class Offered:
    """Tools by name, ready to check calls.

    Of a schema the outermost level counts: required arguments, their types and lists of allowed words, and whether others
    may stand beside them. What it says in other ways (references, alternatives, depths) is taken as met.
    """

    def __init__(self, parameters: Mapping[str, object]) -> None:
        self._checks = {tool: check for tool, schema in parameters.items() if (check := _check(schema)) is not None}

    def __bool__(self) -> bool:
        return bool(self._checks)

    def refused(self, tool: str, arguments: str) -> str | None:
        """The argument of a call that the tool's schema refuses; None where it takes the call, or cannot tell."""
        check = self._checks.get(tool)
        return check.refused(arguments) if check is not None else None


NOTHING_OFFERED = Offered({})


class _Check:
    """The arguments of one tool."""

    def __init__(self, types: Mapping[str, Any], required: frozenset[str], closed: bool) -> None:
        # Models often give null for what they leave out, and tools take it so.
        self._types = {name: type_ if name in required else type_ | None for name, type_ in types.items()}
        self._required = required
        self._closed = closed
        self._decode = msgspec.json.Decoder(self._struct()).decode

    def _struct(self) -> type[msgspec.Struct]:
        attributes = {name: f"field_{place}" for place, name in enumerate(self._types)}
        fields: list[Any] = [
            (attributes[name], type_) if name in self._required else (attributes[name], type_, None)
            for name, type_ in self._types.items()
        ]
        return msgspec.defstruct(
            "Arguments",
            fields,
            rename={attribute: name for name, attribute in attributes.items()},
            forbid_unknown_fields=self._closed,
            kw_only=True,
            gc=False,
        )

    def refused(self, arguments: str) -> str | None:
        try:
            self._decode(arguments)
        except msgspec.ValidationError:
            return self._first(arguments)
        except (ValueError, RecursionError):
            return None  # no JSON at all, which is another mistake
        return None

    def _first(self, arguments: str) -> str | None:
        """The first argument that is not as the schema has it; those that are lacking come last."""
        try:
            values = msgspec.json.decode(arguments)
        except (ValueError, RecursionError):
            return None
        if not isinstance(values, dict):
            return "arguments"
        wrong = [name for name, value in values.items() if not self._takes(name, value)]
        return next(iter([*wrong, *sorted(self._required - values.keys())]), None)

    def _takes(self, name: str, value: object) -> bool:
        if name not in self._types:
            return not self._closed
        try:
            msgspec.json.decode(msgspec.json.encode(value), type=self._types[name])
        except msgspec.ValidationError:
            return False
        return True


def _check(schema: object) -> _Check | None:
    """What can be checked of a tool's schema; None where that is nothing."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict) or not 0 < len(properties) <= _MOST:
        return None
    if not all(isinstance(name, str) and _PLAIN.fullmatch(name) for name in properties):
        return None
    listed = schema.get("required")
    required = frozenset(name for name in properties if isinstance(listed, list) and name in listed)
    types = {name: _type(value) for name, value in properties.items()}
    return _Check(types, required, closed=schema.get("additionalProperties") is False)


def _type(schema: object) -> Any:
    """The type that a schema names; any where it says it in another way."""
    if not isinstance(schema, dict):
        return Any
    words = schema.get("enum")
    if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
        return Literal[tuple(words)]
    named = schema.get("type")
    names = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    if not names or not all(isinstance(name, str) and name in _TYPES for name in names):
        return Any
    return _union([name for name in names if name != "integer" or "number" not in names])


def _union(names: list[str]) -> Any:
    found = _TYPES[names[0]]
    for name in names[1:]:
        found = found | _TYPES[name] if found is not None else _TYPES[name] | found
    return found
