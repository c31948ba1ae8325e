"""A tool's error names an argument, and the agent's next call of that tool changes only others, and fails too.

Why it matters
    The agent was told what is wrong and mended something else, so the next call fails in the same place.

What to do
    Put the name of the argument and what it may be at the head of the error; where that is done already, train on such
    errors.

Limits
    An argument counts as named when the error holds its name as code would write it, or its value. A number of fewer
    than six digits is taken for an amount and not for a value that is named. An agent that first makes another change,
    such as creating what was missing, or that asks the tool for another operation, is not counted.
"""

import re
from collections.abc import Iterator

import msgspec

from blade.core.finding import LONGEST_QUOTE, Cause, Evidence
from blade.core.rollout import Rollout, Step
from blade.core.tools import changes_state, is_deep
from blade.detectors._engine import detector

HEAD = 600
"""Characters of an error in which an argument is looked for; further down it quotes what it was given."""
SHORTEST_VALUE = 4
LONGEST_VALUE = 120
ID_DIGITS = 6
"""Digits of a number that names something."""
OPERATIONS = frozenset(("command", "action", "operation", "op", "method", "mode", "type", "tool", "function"))
"""Arguments that choose what a tool does: with another one it is another call."""
_CODE_NAME = re.compile(r"\w+_\w+|[a-z]+[A-Z]\w*")
_AROUND_NAME = r"""["'`]{0}["'`]|\b{0} (?:argument|parameter|param|field|property|is required|must be)\b|\b(?:argument|parameter|param|field|property):? {0}\b"""

Arguments = dict[str, object]


@detector(
    "BEH006",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.tool_errors > 1 and f.calls > 1,
)
def error_answered_elsewhere(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    failing = [step.tool for step in steps if step.failed]
    if len(set(failing)) == len(failing):
        return
    answers = {(step.answers, step.call_id): step for step in steps if step.kind == "result"}
    before: dict[str, tuple[Step, Step]] = {}
    for call in steps:
        if call.kind != "call" or not call.tool:
            continue
        result = answers.get((call.index, call.call_id)) or answers.get((call.index, None))
        failed = result is not None and result.failed
        last = before.pop(call.tool, None)
        if failed and last is not None and _answers_elsewhere(last[0], last[1], call):
            quote = last[1].text.strip()[:LONGEST_QUOTE]
            yield Evidence(key=rollout.key, step=last[1].index, field="text", quote=quote)
            arguments = (call.arguments or "")[:LONGEST_QUOTE]
            yield Evidence(key=rollout.key, step=call.index, field="arguments", quote=arguments)
        if failed and result is not None:
            before[call.tool] = (call, result)
        elif changes_state(call.tool):
            before.clear()


def _answers_elsewhere(call: Step, error: Step, following: Step) -> bool:
    """Whether the error names arguments of the call, and the following call keeps them and changes others."""
    first, second = _arguments(call), _arguments(following)
    if first is None or second is None or following.index <= error.index:
        return False
    changed = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    if not changed or changed & OPERATIONS or len(changed) == len(first.keys() | second.keys()):
        return False
    text = error.text[:HEAD]
    named = {name for name, value in first.items() if _names(text, name, value)}
    named |= {name for name in second.keys() - first.keys() if _names(text, name, None)}
    return bool(named) and not named & changed


def _names(text: str, name: str, value: object) -> bool:
    if name in text and re.search(_written(name), text):
        return True
    return any(_holds(text, leaf) for leaf in _leaves(value))


def _written(name: str) -> str:
    """The pattern of an argument's name as errors write it; a plain word must be marked as a name."""
    escaped = re.escape(name)
    return rf"(?<!\w){escaped}(?!\w)" if _CODE_NAME.fullmatch(name) else _AROUND_NAME.format(escaped)


def _holds(text: str, leaf: str) -> bool:
    return leaf.lower() in text.lower() and bool(re.search(rf"(?<!\w){re.escape(leaf)}(?!\w)", text, re.IGNORECASE))


def _leaves(value: object) -> Iterator[str]:
    """The texts inside an argument that an error could name, and the numbers that are rather names."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str) and SHORTEST_VALUE <= len(value.strip()) <= LONGEST_VALUE:
        yield value.strip()
    elif isinstance(value, int) and len(str(value)) >= ID_DIGITS:
        yield str(value)


def _arguments(call: Step) -> Arguments | None:
    text = call.arguments or ""
    if is_deep(text):
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
