"""An assistant in a company: tools over its records, tasks of several steps, verified by the state that is left.

Each rollout has a company of its own, and is judged by what its calls leave behind. The calls of a response are carried out again on a fresh company, and so are those of the ground truth. So a verdict needs
the response alone, and a stored rollout can be verified again. Rows about other records are refused (see `world.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from blade_gym.answers import message
from blade_gym.environment import Environment, NoVerdict, Row, Session, ToolError, Verdict
from blade_gym.verifiers import state_comparison

from .company import SEED, company
from .state import State, effects
from .tools import BY_NAME, TOOLS
from .world import MARK, calls_of, mark, refuse_foreign


class _Session(msgspec.Struct, frozen=True, kw_only=True):
    row: Row
    before: State
    state: State
    world: str

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        return call(self.state, tool, arguments)

    async def verify(self, response: Row) -> Verdict:
        output = response.get("output")
        items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
        verdict = judged(self.row, self.before, replayed(items, self.before))
        return Verdict(reward=verdict.reward, fields={**verdict.fields, MARK: self.world})


class Workplace(msgspec.Struct, frozen=True, kw_only=True):
    """The environment `workplace_assistant`; `seed` is that of the company where a row names none."""

    seed: int = SEED

    @property
    def tools(self) -> Sequence[Row]:
        """All tools of the company."""
        return tuple(tool.schema() for tool in TOOLS)

    def admit(self, row: Row) -> None:
        """Raise ForeignRow for a task that is not about this company. A request without a ground truth is no task."""
        if "ground_truth" in row:
            refuse_foreign(row, self._seed(row))

    def open(self, row: Row) -> Session:
        """A company of its own; raises ForeignRow."""
        self.admit(row)
        before = company(self._seed(row))
        return _Session(row=row, before=before, state=before.copy(), world=mark(self._seed(row)))

    def gold(self, row: Row) -> Sequence[Row]:
        """The key's calls with what the tools answer, and a closing word."""
        self.admit(row)
        state = company(self._seed(row)).copy()
        return (*_made(row, state), message("Done."))

    def _seed(self, row: Row) -> int:
        given = row.get("company_seed", self.seed)
        return given if isinstance(given, int) else self.seed


def call(state: State, tool: str, arguments: Mapping[str, Any]) -> str:
    """What a tool answers, as JSON; raises ToolError."""
    known = BY_NAME.get(tool)
    if known is None:
        raise ToolError(f"Error: there is no tool {tool[:80]!r}.")
    return json.dumps({"output": known.call(state, arguments)})


def _made(row: Row, state: State) -> Iterator[Row]:
    for number, (name, arguments) in enumerate(calls_of(row)):
        asked = {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": f"call_{number}"}
        yield asked
        yield {"type": "function_call_output", "call_id": asked["call_id"], "output": call(state, name, arguments)}


def replayed(output: Sequence[Row], before: State) -> State:
    """The company after the calls of a response; those that its tools refuse change nothing."""
    state = before.copy()
    for item in output:
        tool = BY_NAME.get(str(item.get("name"))) if item.get("type") == "function_call" else None
        if tool is not None and tool.changes:
            with suppress(ToolError, ValueError, RecursionError):
                arguments = json.loads(str(item.get("arguments") or "{}"))
                if isinstance(arguments, dict):
                    tool.call(state, arguments)
    return state


def judged(row: Row, before: State, after: State) -> Verdict:
    """1 when the state is the one that the key's calls leave; what was only read does not matter."""
    expected = before.copy()
    try:
        for name, arguments in calls_of(row):
            call(expected, name, arguments)
    except (ToolError, KeyError, ValueError) as problem:
        raise NoVerdict(f"the key of this task cannot be carried out: {problem}", terminal=True) from problem
    verdict = state_comparison.judge(effects(expected, before), effects(after, before))
    return Verdict(reward=verdict.reward, fields={**verdict.fields, "ground_truth": row["ground_truth"]})


def environment(config: Mapping[str, Any]) -> Environment:
    """The environment of a config; `seed` is that of the company where a row names none."""
    return Workplace(seed=int(config.get("seed", SEED)))
