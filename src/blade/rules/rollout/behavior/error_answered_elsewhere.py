"""A tool's error names an argument, and the agent's next call of that tool changes only others, for the same error.

Why it matters
    The agent was told what is wrong and mended something else, so the next call fails in the same place.

What to do
    Put the name of the argument and what it may be at the head of the error; where that is done already, train on such
    errors.

Limits
    An argument counts as named when the error holds its name as code would write it, or a value of it that is an id, a
    date or in quotes; a number of fewer than six digits is taken for an amount. An agent that first makes another change,
    such as creating what was missing, that asks the tool for another operation, or that gets another error, is not
    counted.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.model.tools import changes_state, is_deep
from blade.rules.declaration import rule

HEAD = 600
"""Characters of an error in which an argument is looked for; further down it quotes what it was given."""
ID_DIGITS = 6
"""Digits of a number that names something."""
OPERATIONS = frozenset(("command", "action", "operation", "op", "method", "mode", "type", "tool", "function"))
"""Arguments that choose what a tool does: with another one it is another call."""
_WORD = re.compile(r"[\w#@.-]{4,}")
_QUOTED = re.compile(r"""["'`]([^"'`\n]{4,120})["'`]""")
_SPEAKS_OF_ARGUMENTS = re.compile(r"param|argument|field|property|required|must be")
_CODE_NAME = re.compile(r"\w+_\w+|[a-z]+[A-Z]\w*")
_AROUND_NAME = r"""["'`]{0}["'`]|\b{0} (?:argument|parameter|param|field|property|is required|must be)\b|\b(?:argument|parameter|param|field|property):? {0}\b"""

Arguments = dict[str, object]


@rule(
    "BEH006",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.tool_errors > 1 and f.calls > 1,
)
def error_answered_elsewhere(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    errors = [step.text for step in steps if step.failed]
    if len(set(errors)) == len(errors):
        return
    for first, second in _same_errors(steps):
        calls = (_call(steps, first), _call(steps, second))
        if calls[0] is not None and calls[1] is not None and _answers_elsewhere(calls[0], first, calls[1]):
            quote = first.text.strip()[:LONGEST_QUOTE]
            yield Evidence(key=rollout.key, step=first.index, field="text", quote=quote)
            arguments = (calls[1].arguments or "")[:LONGEST_QUOTE]
            yield Evidence(key=rollout.key, step=calls[1].index, field="arguments", quote=arguments)


def _same_errors(steps: tuple[Step, ...]) -> Iterator[tuple[Step, Step]]:
    """Errors of a tool that came twice in its row of results, with no change carried out between."""
    before: dict[str | None, Step] = {}
    for step in steps:
        if step.failed:
            last = before.get(step.tool)
            before[step.tool] = step
            if last is not None and last.text == step.text and _may_name(step.text[:HEAD]):
                yield last, step
        elif step.kind == "result" and changes_state(step.tool or ""):
            before.clear()


def _call(steps: tuple[Step, ...], result: Step) -> Step | None:
    return next(
        (s for s in steps if s.kind == "call" and (s.index, s.call_id) == (result.answers, result.call_id)), None
    )


def _answers_elsewhere(call: Step, error: Step, following: Step) -> bool:
    """Whether the error names arguments of the call, and the following call keeps them and changes others."""
    text = error.text[:HEAD]
    values = _values(text)
    if call.arguments == following.arguments or following.index <= error.index:
        return False
    first, second = _arguments(call), _arguments(following)
    if first is None or second is None:
        return False
    changed = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    if not changed or changed & OPERATIONS or len(changed) == len(first.keys() | second.keys()):
        return False
    if any(_names(text, values, name, first.get(name)) for name in changed):
        return False
    return any(_names(text, values, name, value) for name, value in first.items() if name not in changed)


@lru_cache(maxsize=1024)
def _values(text: str) -> tuple[str, ...]:
    """What an error may quote of a call, in small letters: ids, dates, words in quotes; no amounts."""
    words = [word.strip(".-") for word in _WORD.findall(text.lower())]
    ids = [word for word in words if word and not word.isalpha() and (len(word) >= ID_DIGITS or not word.isdecimal())]
    return (*ids, *_QUOTED.findall(text.lower()))


@lru_cache(maxsize=1024)
def _may_name(text: str) -> bool:
    return bool(_values(text)) or _SPEAKS_OF_ARGUMENTS.search(text) is not None


def _names(text: str, values: tuple[str, ...], name: str, value: object) -> bool:
    if name in text and re.search(_written(name), text):
        return True
    shown = str(value).lower() if values and value is not None else ""
    return any(word in shown for word in values)


def _written(name: str) -> str:
    """The pattern of an argument's name as errors write it; a plain word must be marked as a name."""
    escaped = re.escape(name)
    return rf"(?<!\w){escaped}(?!\w)" if _CODE_NAME.fullmatch(name) else _AROUND_NAME.format(escaped)


def _arguments(call: Step) -> Arguments | None:
    text = call.arguments or ""
    if is_deep(text):
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
