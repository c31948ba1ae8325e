"""Whether a row belongs to this company: another data set has the same tool names, ids and categories, and other records.

A row says so with `world`, a mark made from the records themselves. Rows from before that mark are known by their messages:
the day that they name, and a request that reads back as one of the company's own tasks. In both cases the row's tools and its ground truth must fit too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from blade_gym.answers import text_of
from blade_gym.environment import ForeignRow, Row, ToolError

from . import wording
from .company import NAME, TODAY, company
from .state import State
from .tools import BY_NAME

MARK = "world"
HINT = (
    "make rows with `gym eval prepare --benchmark workplace_assistant`; for a task of your own on this company, copy `world` "
    "and `company_seed` from one of those rows. Rows of NVIDIA's workplace_assistant need NVIDIA's server: its records are not here"
)


@lru_cache(maxsize=8)
def mark(seed: int) -> str:
    """The name of the company of a seed, with a digest of all its records."""
    state = company(seed)
    records = json.dumps([state.people, state.visits, state.tables], sort_keys=True)
    return f"{NAME.lower()}-{seed}-{hashlib.sha256(records.encode()).hexdigest()[:12]}"


def refuse_foreign(row: Row, seed: int) -> None:
    """Raise ForeignRow for a row that is not about the company of the seed."""
    reasons = [*_unmarked(row, seed), *_unknown_tools(row), *_impossible(row, company(seed).copy())]
    if reasons:
        raise ForeignRow(
            f"the row with the id {row.get('id')!r} is not about the company {mark(seed)}: {'; '.join(reasons)}",
            hint=HINT,
        )


def calls_of(row: Row) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a row's ground truth; raises KeyError, TypeError or ValueError where it holds anything else."""
    calls = []
    for call in row["ground_truth"]:
        given = call["arguments"]
        calls.append((str(call["name"]), json.loads(given) if isinstance(given, str) else dict(given)))
    return calls


def _unmarked(row: Row, seed: int) -> Iterator[str]:
    given = row.get(MARK)
    if given is not None:
        if given != mark(seed):
            yield f"its `{MARK}` is {given!r}"
    elif str(TODAY) not in _said(row, "system") or wording.read(_said(row, "user")) is None:
        yield f"it has no `{MARK}`, and its messages are not those of the company's tasks"


def _said(row: Row, role: str) -> str:
    """The first message of a role."""
    given = (row.get("responses_create_params") or {}).get("input") or ""
    if isinstance(given, str):
        return given if role == "user" else ""
    said = (text_of(item.get("content")) for item in given if isinstance(item, Mapping) and item.get("role") == role)
    return next(said, "")


def _unknown_tools(row: Row) -> Iterator[str]:
    tools: Sequence[Any] = (row.get("responses_create_params") or {}).get("tools") or ()
    for tool in tools:
        name = str(tool.get("name")) if isinstance(tool, Mapping) else ""
        if name not in BY_NAME:
            yield f"it brings the tool {name!r}, which the company does not have"
        elif _parameters(tool) != set(BY_NAME[name].parameters):
            yield f"it describes other parameters of {name}"


def _parameters(tool: Row) -> set[str]:
    """Names alone: descriptions may be reworded."""
    given = tool.get("parameters")
    return set(given.get("properties") or ()) if isinstance(given, Mapping) else set()


def _impossible(row: Row, state: State) -> Iterator[str]:
    try:
        for name, arguments in calls_of(row):
            if name not in BY_NAME:
                raise ToolError(f"there is no tool {name!r}")
            BY_NAME[name].call(state, arguments)
    except (ToolError, KeyError, TypeError, ValueError) as problem:
        yield f"its ground truth cannot be carried out ({problem})"
