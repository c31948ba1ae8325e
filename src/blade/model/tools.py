"""What is known of a call from its words alone: whether its tool changes something, whether its arguments can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from functools import lru_cache, partial

from msgspec import Struct

from blade.model.pattern import pattern_of

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
_WORD = pattern_of(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NO_CHANGE = pattern_of(r"transfer_to_human|submit_answer|submit_final|final_answer")


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


def changes_state(tool: str) -> bool:
    """Whether a tool is taken to change something: by what is taught, else unless its name says that it only reads or ends the talk."""
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
