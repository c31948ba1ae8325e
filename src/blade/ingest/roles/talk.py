"""Trajectories under any field names: who acts, what is said, the tool with its arguments, and what came back.

A list of objects is one where texts recur under a few speakers, or where most objects that name a tool hold its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from blade.ingest.decode import encode
from blade.ingest.roles.outcome import as_verdicts
from blade.ingest.roles.results import verdict_fields
from blade.ingest.roles.shaped import AGENTS, CALL, OTHERS, USERS
from blade.model.roles import TalkShape

Items = list[dict[str, Any]]

FEWEST_ROWS = 3
MOST_ROWS = 60
"""Rows whose lists are looked at: the objects of a run's trajectories are built alike."""
MOST_WHO = 12
"""People, agents and tools that act in one run; a field with more values names something else."""
LONGEST_NAME = 40
LEAST_WORDS = 2.0
"""Words of a text on average: what is said is more than one word."""
LEAST_WITH_ARGUMENTS = 0.8
"""Of the items that name a tool: a name of somebody who acts stands beside arguments now and then."""
MOST_SHARED = 0.8
"""Of the rows, those that may have the same list as another: trajectories differ."""
_GIVEN = re.compile(r"arg|param|input|kwarg|payload|request", re.IGNORECASE)
_ATTEMPT = re.compile(
    r"(?:trial|run|attempt|repeat|sample|rollout|seed|epoch)(?:_?(?:id|index|no|num|number))?", re.IGNORECASE
)
_BACK = re.compile(r"out|result|return|reply|respons|observ|back", re.IGNORECASE)


def talk_shape(path: str, column: Sequence[Any]) -> TalkShape | None:
    """How the lists of a field write down what happened; None where they are no trajectories."""
    lists = [value for value in column if isinstance(value, list) and value][:MOST_ROWS]
    if len(lists) < FEWEST_ROWS or not all(isinstance(item, dict) for value in lists for item in value):
        return None
    if len({encode(value) for value in lists}) * MOST_SHARED < len(lists) * (1 - MOST_SHARED):
        return None
    items = [item for value in lists for item in value]
    tool, arguments, result = _calls(items, lists)
    if not tool and (held := _held(items)):
        tool, arguments = held
        free = [name for name in _fields(items) if name != arguments and _strings(items, name)]
        result = max(free, key=lambda name: _returned(name, items), default="")
    elif not tool and (tool := _written(items)):
        results = [name for name in _fields(items) if name != tool and _strings(items, name)]
        result = max(results, key=lambda name: _returned(name, items), default="")
        return TalkShape(path=path, text=_text(items, {tool, result}), tool=tool, arguments=tool, result=result)
    who = _who(items, lists, tool)
    if not tool and not _are_speakers(items, who) and _are_judged(items):
        return None
    text = _text(items, {who, tool, result, arguments})
    if text and (tool or (who and _alternates(lists, who))):
        agents = _agents(items, who, tool) if who else ()
        return TalkShape(path=path, who=who, text=text, tool=tool, arguments=arguments, result=result, agents=agents)
    return None


def _are_speakers(items: Items, who: str) -> bool:
    """Whether some of those who act are called what people call agents and users."""
    return bool({name.lower() for name in _strings(items, who)} & (AGENTS | USERS | OTHERS.keys()))


def _are_judged(items: Items) -> bool:
    """Whether each item has a verdict or the number of an attempt: then they are checks or attempts, and nobody speaks."""
    counts = [name for name in _fields(items) if _ATTEMPT.fullmatch(name)]
    return bool(verdict_fields(items)) or any(type(items[0].get(name)) is int for name in counts)


def _strings(items: Sequence[Mapping[str, Any]], field: str) -> list[str]:
    return [value for item in items if isinstance(value := item.get(field), str) and value]


def _fields(items: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for item in items for name in item))


def _is_name(values: Sequence[str]) -> bool:
    """Whether short words recur: a name of somebody or something."""
    distinct = set(values)
    short = all(len(value) <= LONGEST_NAME and "\n" not in value and value.count(" ") < 3 for value in distinct)
    return short and 0 < len(distinct) <= max(2, len(values) // 2)


def _calls(items: Items, lists: Sequence[Items]) -> tuple[str, str, str]:
    """The fields of a tool, its arguments and its result: a name beside an object, and what stands in the same items."""
    for tool in _fields(items):
        names = _strings(items, tool)
        if not names or not _is_name(names) or any(" " in name for name in names):
            continue
        having = [item for item in items if isinstance(item.get(tool), str) and item[tool]]
        beside = [name for name in _fields(having) if name != tool and _is_beside(name, having, items)]
        holders = [name for name in beside if _holds_arguments(name, having)]
        if not holders:
            continue
        arguments = max(holders, key=lambda name: _given(name, tool, lists))
        results = [name for name in beside if name != arguments]
        return tool, arguments, max(results, key=lambda name: _returned(name, having), default="")
    return "", "", ""


def _held(items: Items) -> tuple[str, str] | None:
    """An object in most items that holds a call: the path of the name in it that recurs, and the object itself."""
    for holder in _fields(items):
        objects = [value for item in items if isinstance(value := item.get(holder), dict) and len(value) > 1]
        if len(objects) < LEAST_WITH_ARGUMENTS * len(items):
            continue
        for name in _fields(objects):
            values = _strings(objects, name)
            if len(values) == len(objects) and _is_name(values) and not any(" " in value for value in values):
                return f"{holder}.{name}", holder
    return None


def _written(items: Items) -> str:
    """The field in which calls are written as in code, such as `click("12")`; it holds tool and arguments."""
    for name in _fields(items):
        found = [match[1] for value in _strings(items, name) if (match := CALL.fullmatch(value.strip("` \n")))]
        if len(found) >= LEAST_WITH_ARGUMENTS * len(items) and len(set(found)) > 1:
            return name
    return ""


def _is_beside(name: str, having: Items, items: Items) -> bool:
    """Whether a field stands in most items with a tool, and hardly in others."""
    with_tool = sum(item.get(name) is not None for item in having)
    without = sum(item.get(name) not in (None, "", {}, []) for item in items) - with_tool
    return 2 * with_tool > len(having) and 4 * without <= with_tool


def _holds_arguments(name: str, having: Items) -> bool:
    objects = sum(isinstance(item.get(name), dict) or _is_object_text(item.get(name)) for item in having)
    return objects >= LEAST_WITH_ARGUMENTS * len(having)


def _is_object_text(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("{") and value.rstrip().endswith("}")


def _given(name: str, tool: str, lists: Sequence[Items]) -> tuple[float, bool, bool]:
    """How much of what a field holds was said before: arguments repeat it, results are news. Names break ties."""
    known = total = 0
    for items in lists:
        before = ""
        for item in items:
            values = [str(value).lower() for value in _leaves(item.get(name))] if item.get(tool) else []
            total += len(values)
            known += sum(value in before for value in values)
            before += " ".join(str(value).lower() for key, value in item.items() if key != name)
    return round(known / total, 1) if total else 0.0, _GIVEN.search(name) is not None, _BACK.search(name) is None


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    return [value] if isinstance(value, str | int | float) and not isinstance(value, bool) else []


def _returned(name: str, having: Items) -> tuple[bool, int]:
    return _BACK.search(name) is not None, sum(len(encode(item.get(name))) for item in having)


def _who(items: Items, lists: Sequence[Items], tool: str) -> str:
    """The field that says who acts: a name in most items, that recurs; not one that says what kind of item it is."""
    found = {}
    for name in _fields(items):
        values = _strings(items, name)
        if name == tool or 10 * len(values) < 9 * len(items) or not _is_name(values):
            continue
        distinct = set(values)
        if not 2 <= len(distinct) <= MOST_WHO or as_verdicts([*distinct]) is not None:
            continue
        known = len({value.lower() for value in distinct} & (AGENTS | USERS | OTHERS.keys()))
        found[name] = (known, not _is_kind(items, name), sum(len({*_strings(one, name)}) > 1 for one in lists))
    return max(found, key=lambda name: found[name], default="")


def _is_kind(items: Items, name: str) -> bool:
    """Whether each value of a field goes with fields of its own, as a kind of item does."""
    keys: dict[Any, set[frozenset[str]]] = {}
    for item in items:
        keys.setdefault(item.get(name), set()).add(frozenset(key for key, value in item.items() if value is not None))
    return len({shape for shapes in keys.values() for shape in shapes}) > 1 and all(
        len(shapes) == 1 for shapes in keys.values()
    )


def _text(items: Items, taken: set[str]) -> str:
    """The field with the most prose."""
    lengths = {}
    for name in _fields(items):
        values = _strings(items, name) if name not in taken else []
        if values and sum(len(value.split()) for value in values) >= LEAST_WORDS * len(values):
            lengths[name] = sum(map(len, values))
    return max(lengths, key=lambda name: lengths[name], default="")


def _alternates(lists: Sequence[Items], who: str) -> bool:
    """Whether most lists have several who act, and none acts under a name that a path or a number is."""
    several = sum(len({*_strings(items, who)}) > 1 for items in lists)
    names = {name for items in lists for name in _strings(items, who)}
    return 2 * several > len(lists) and not any(re.search(r"[/\\]|^\d+$|\.\w{2,4}$", name) for name in names)


def _agents(items: Items, who: str, tool: str) -> tuple[str, ...]:
    """Those who are the agent: by what they are called, by the tools that they call, else all who are nobody else."""
    names = sorted({*_strings(items, who)})
    known = [name for name in names if name.lower() in AGENTS]
    if known:
        return tuple(known)
    free = [name for name in names if name.lower() not in USERS and name.lower() not in OTHERS]
    callers = {item.get(who) for item in items if tool and item.get(tool)}
    acting = [name for name in free if name in callers]
    if acting:
        return tuple(acting)
    return tuple(free)
