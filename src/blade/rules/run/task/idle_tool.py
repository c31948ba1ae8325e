"""A tool says yes, and its result shows the old value of a field that it was asked to change.

Why it matters
    The agent tells the user that something was done that was not, and the verifier may replay the same tool.

What to do
    Repair the tool, or have it refuse what it does not do.

Limits
    Looks only where the result shows the field; a result that echoes nothing cannot be looked at. Three calls are
    needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from blade.evidence import quotes
from blade.evidence.actions import parsed
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.model.rollout import Step
from blade.rules.declaration import rule

FEWEST_CALLS = 3


@rule("TSK002", scope="run", suggests=Cause.TASK, status="stable")
def idle_tool(context: RunContext) -> Iterator[Doubt]:
    asked = [_Asked(walk, *one) for walk in context.reading.walks.values() for one in _asked_changes(walk)]
    tools: dict[tuple[str, str], list[_Asked]] = {}
    for one in asked:
        tools.setdefault((one.call.tool or "", one.name), []).append(one)
    for what in sorted(tools):
        if _is_idle(tools[what]):
            yield _idle(what, tools[what])
        else:
            yield from (_idle(what, mine) for mine in _by_record(tools[what]) if _is_idle(mine))


class _Asked(NamedTuple):
    """A call that asks for another value of a field, and what its result shows."""

    walk: AlignedTrajectory
    call: Step
    name: str
    wanted: object
    shown: object

    @property
    def done(self) -> bool:
        return str(self.shown).lower() == str(self.wanted).lower()


def _is_idle(asked: Sequence[_Asked]) -> bool:
    return len(asked) >= FEWEST_CALLS and not any(one.done for one in asked)


def _by_record(asked: Sequence[_Asked]) -> list[list[_Asked]]:
    """The calls of one tool by the ids they name: it may skip some records only."""
    records: dict[str, list[_Asked]] = {}
    for one in asked:
        ids = {name: value for name, value in parsed(one.call.arguments).items() if name.endswith("id")}
        records.setdefault(json.dumps(ids, sort_keys=True), []).append(one)
    return [records[ids] for ids in sorted(records)]


def _asked_changes(walk: AlignedTrajectory) -> Iterator[tuple[Step, str, object, object]]:
    """Calls that ask for another value of a field than an earlier result about the same thing shows."""
    if not walk.changes:
        return
    shown: list[str] = []
    results = {step.answers: step for step in walk.steps if step.kind == "result" and step.answers is not None}
    for made in walk.made:
        result = results.get(made.step.index)
        text = result.text if result is not None and result.text.lstrip().startswith("{") else ""
        asked = _asked_for(made.arguments) if text and shown else ()
        for name, wanted in asked:
            before = _earlier(shown, made.arguments, name) if _shows(text, name) else None
            if before is not None and str(before).lower() != wanted.lower():
                yield made.step, name, wanted, _state(text)[name]
        if text:
            shown.append(text)


def _asked_for(arguments: Mapping[str, object]) -> list[tuple[str, str]]:
    """Fields and the values that a call wants them to have; none where it names no record by an id."""
    if not any(name.endswith("id") for name in arguments):
        return []
    return [(name, one) for name, one in arguments.items() if isinstance(one, str) and not name.endswith("id")]


@lru_cache(maxsize=256)
def _state(text: str) -> Mapping[str, object]:
    """The fields of a record, and of a record inside it: tools wrap what they show in `order` or `data`."""
    found = parsed(text)
    inner = [value for value in found.values() if isinstance(value, dict)]
    return {**{name: value for one in inner for name, value in one.items()}, **found}


def _earlier(shown: Sequence[str], arguments: Mapping[str, object], name: str) -> object | None:
    """The value of a field in the last result that shares an id with a call."""
    ids = [(key, value) for key, value in arguments.items() if key.endswith("id") and isinstance(value, str)]
    for text in reversed(shown):
        if _shows(text, name) and any(_state(text).get(key) == value for key, value in ids):
            return _state(text)[name]
    return None


def _shows(text: str, name: str) -> bool:
    """Whether a result has a field; most have not, and need not be parsed for that unless they spell something out."""
    return (f'"{name}"' in text or "\\" in text) and name in _state(text)


def _idle(what: tuple[str, str], asked: Sequence[_Asked]) -> Doubt:
    tool, name = what
    walk, call, _, wanted, shown = asked[0]
    result = walk.result_of(call)
    evidence = [quotes.of_call(walk.rollout, call, str(wanted), name)]
    evidence += [quotes.holding(walk.rollout, result, str(shown))] if result is not None else []
    places = tuple(dict.fromkeys((one.walk.rollout.key.task_id, one.walk.repeat) for one in asked))
    return Doubt(
        about="tool",
        tasks=tuple(dict.fromkeys(task for task, _ in places)),
        message=f"`{tool}` never changes `{name}`: {len(asked)} of {len(asked)} calls that ask for another return the old "
        f"({walk.place}:{call.index} asks {quotes.shown(str(wanted))}, "
        f":{result.index if result is not None else '?'} shows {quotes.shown(str(shown))})",
        rollouts=len(places),
        places=places,
        evidence=tuple(one for one in evidence if one is not None),
    )
