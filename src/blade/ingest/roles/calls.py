"""Lists of calls, whatever their fields are called: by the tools that they name and the arguments beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from blade.ingest.roles.matches import LEAST_GAIN
from blade.ingest.roles.outcome import Verdicts
from blade.ingest.roles.paths import Sample
from blade.ingest.roles.shaped import USERS_IN_KEYS, as_calls
from blade.model.roles import CallShape
from blade.model.rollout import Step

NAMES = ("name", "tool", "tool_name", "function")
ARGUMENTS = ("arguments", "kwargs", "args", "parameters", "input")
"""Of several fields that fit, the ones under the names of documented formats come first."""
_WANTED = re.compile(r"expect|gold|truth|reference|target|need|want|requir|ideal", re.IGNORECASE)
_AGENTS = ("assistant", "agent", "model", "ai", "bot", "")
"""Who has to call, with `USERS_IN_KEYS`: values, never names of fields."""
LEAST_KNOWN = 0.5
"""Of the tools that a list names, the share that must be tools of the run: the model may never have called the others."""


def tools_of(sample: Sample, trajectories: Sequence[tuple[Step, ...]], offered: Sequence[str]) -> frozenset[str]:
    """The tools that some rollout calls, and those that the fields in `offered` list."""
    names = {name for steps in trajectories for name in called(steps)}
    for path in offered:
        for value in sample.of(path):
            names |= {name for item in _objects(value) for name in _names_in(item)}
    return frozenset(names)


def called(steps: Sequence[Step]) -> frozenset[str]:
    """The tools that one trajectory calls."""
    return frozenset(step.tool for step in steps if step.kind == "call" and step.tool)


def _names_in(item: Mapping[str, Any]) -> Iterator[str]:
    function = item.get("function")
    for holder in (item, function if isinstance(function, dict) else {}):
        if isinstance(holder.get("name"), str):
            yield holder["name"]


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, or of the lists in it; the value itself where it is one."""
    if isinstance(value, dict):
        return [value]
    flat = [one for item in value for one in (item if isinstance(item, list) else [item])] if value else []
    return [one for one in flat if isinstance(one, dict)]


def call_shape(path: str, values: Sequence[Any], tools: frozenset[str]) -> CallShape | None:
    """How the calls in these values are written, where they all are lists of calls of the run's tools."""
    if not all(isinstance(value, list) for value in values):
        return None
    items = [item for value in values for item in _objects(value)]
    if not items or len(items) < sum(map(len, values)):
        return None
    for inside in ("", *_shared(items, dict)):
        holders = [item[inside] for item in items] if inside else items
        name, arguments = _name(holders, tools), _arguments(holders)
        if name and arguments:
            actor = next((field for field in _shared(items, str) if all(_is_party(item[field]) for item in items)), "")
            return CallShape(path=path, inside=inside, name=name, arguments=arguments, actor=actor)
    return None


def _is_party(value: str) -> bool:
    return value.lower() in (*_AGENTS, *USERS_IN_KEYS)


def _shared(items: Sequence[Mapping[str, Any]], kind: type) -> list[str]:
    """The fields that all objects have, with values of a kind, in the order of the first."""
    return [field for field in items[0] if all(isinstance(item.get(field), kind) for item in items)]


def _name(items: Sequence[Mapping[str, Any]], tools: frozenset[str]) -> str:
    """The field whose values are tools of the run."""
    known = {}
    for field in _shared(items, str):
        values = {item[field] for item in items}
        known[field] = len(values & tools) / len(values)
    best = max(known.values(), default=0.0)
    return _usual([field for field in known if known[field] == best], NAMES) if best >= LEAST_KNOWN else ""


def _arguments(items: Sequence[Mapping[str, Any]]) -> str:
    """The field that holds an object in most calls; of several the one with the most keys."""
    counts = Counter(
        field for item in items for field, value in item.items() if isinstance(value, dict) or _is_object_text(value)
    )
    often = [field for field, count in counts.items() if 2 * count > len(items)]
    keys = {
        field: len({key for item in items if isinstance(item.get(field), dict) for key in item[field]})
        for field in often
    }
    most = max(keys.values(), default=0)
    return _usual([field for field in often if keys[field] == most], ARGUMENTS) if often else ""


def _is_object_text(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("{") and value.endswith("}")


def _usual(fields: Sequence[str], known: Sequence[str]) -> str:
    return next((name for name in known if name in fields), fields[0])


def tools_wanted(value: Any, shape: CallShape) -> frozenset[str]:
    """The tools that a list of calls names."""
    return frozenset(
        call["name"] for call in _objects(as_calls(value, shape) or []) if isinstance(call.get("name"), str)
    )


def lacks_calls(sample: Sample, shape: CallShape, trajectories: Sequence[tuple[Step, ...]]) -> bool:
    """Whether some rollout calls none of a tool that its field wants: what a rollout made is in its own trajectory."""
    rows = zip(sample.columns[shape.path], trajectories, strict=True)
    return any(not tools_wanted(value, shape) <= called(steps) for value, steps in rows if value and steps)


def made_and_wanted(
    sample: Sample, paths: Sequence[str], reward: Verdicts, same_in_task: Callable[[str], bool] | None
) -> tuple[CallShape, CallShape] | None:
    """Of rows without a trajectory: the lists of calls that were made and that were wanted, equal in passes.

    `same_in_task` tells of a field whether repeats of a task agree in it; without repeats, what was made is empty or names
    other tools in some failures.
    """
    shapes = [shape for path in paths if (shape := _alone(path, sample.of(path))) is not None]
    found = []
    for one in shapes:
        for two in shapes:
            gain = _equal_in(sample, one, two, reward, 1.0) - _equal_in(sample, one, two, reward, 0.0)
            if one.path != two.path and gain >= LEAST_GAIN and _is_made(sample, one, two, same_in_task):
                found.append((gain, one, two))
    return max(found, key=lambda pair: pair[0])[1:] if found else None


def _alone(path: str, values: Sequence[Any]) -> CallShape | None:
    """How calls are written of which no trajectory tells the tools: a name that recurs, beside an object."""
    items = [item for value in values if isinstance(value, list) for item in _objects(value)]
    for inside in ("", *_shared(items, dict)) if items else ():
        holders = [item[inside] for item in items] if inside else items
        names = [field for field in _shared(holders, str) if 2 * len({one[field] for one in holders}) <= len(holders)]
        arguments = _arguments(holders)
        if names and arguments:
            return CallShape(path=path, inside=inside, name=_usual(names, NAMES), arguments=arguments)
    return None


def _equal_in(sample: Sample, one: CallShape, two: CallShape, reward: Verdicts, verdict: float) -> float:
    """In which share of the rows with a verdict two lists hold the same calls."""
    rows = zip(sample.columns[one.path], sample.columns[two.path], reward, strict=True)
    equal = [as_calls(a, one) == as_calls(b, two) for a, b, given in rows if given == verdict]
    return sum(equal) / len(equal) if equal else 0.0


def _is_made(sample: Sample, made: CallShape, wanted: CallShape, same: Callable[[str], bool] | None) -> bool:
    """Whether of two lists the first was made by rollouts, and the second is of the task."""
    if same is not None:
        return same(wanted.path) and not same(made.path)
    empty = [sum(not value for value in sample.columns[shape.path]) for shape in (made, wanted)]
    if empty[0] != empty[1]:
        return empty[0] > empty[1]
    return bool(_WANTED.search(wanted.path)) and not _WANTED.search(made.path)
