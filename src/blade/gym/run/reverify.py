"""New rewards on stored rollouts, without a model: calls that the rollout made are carried out again where that matters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blade.core.errors import RequestError
from blade.gym.agents.simple_agent import FAILURE, JUDGE_ERROR, SKIPPED, TERMINAL
from blade.gym.environment import Environment, NoVerdict, Row, ToolError, Verdict, refuse_foreign
from blade.gym.run.artifacts import Artifacts, Key, RowFile
from blade.gym.run.judges import Judges
from blade.gym.run.resume import key_of, read_left, rows_of
from blade.gym.sandbox.walls import end_all

_OURS = (FAILURE, TERMINAL, JUDGE_ERROR, SKIPPED, "error")


STATELESS = "stateless"


def mode(environment: Environment) -> str:
    """Whether stored responses can be judged again: `stateless` unless the environment says otherwise."""
    return str(getattr(environment, "reverify", STATELESS))


async def judged(environment: Environment, row: Row, response: Mapping[str, Any]) -> Verdict:
    """The verdict on a stored response in a fresh session, after the calls that it holds; raises NoVerdict."""
    session = environment.open(row)
    if environment.tools:
        for item in response["output"]:
            if item.get("type") == "function_call":
                await _again(session, item)
    return await session.verify(response)


async def _again(session: Any, call: Mapping[str, Any]) -> None:
    """The environment is brought to where the rollout left it; what tools say is on record already."""
    try:
        arguments = json.loads(call.get("arguments") or "{}")
        if isinstance(arguments, dict):
            await session.call(call["name"], arguments)
    except (ValueError, RecursionError, ToolError):
        return


@dataclass(frozen=True, kw_only=True)
class Reverify:
    """What is judged again, by what, and to where."""

    judges: Judges
    inputs: Mapping[Key, Row]
    """Rows of the data set by rollout."""
    rows: Sequence[Mapping[str, Any]]
    output: Path
    concurrency: int = 8
    keep_failures: bool = True
    """Whether a rollout without a verdict is a row of the failures; it need not be where it is one already."""
    told: Callable[[int, int], None] = lambda done, total: None

    def task(self, row: Row) -> Row:
        """The row of the data set behind a rollout; the rollout's own where the inputs do not have it."""
        return self.inputs.get(key_of(row), row)

    def refuse_foreign(self) -> None:
        """Raise where rows belong to other records than the environment of their agent holds."""
        for agent, environment in self.judges.environments.items():
            mine = (row for row in self.rows if row["agent_ref"]["name"] == agent)
            refuse_foreign(environment, map(self.task, mine))


@dataclass(kw_only=True)
class Again:
    """How many were judged again, and how their rewards moved."""

    judged: int = 0
    up: int = 0
    down: int = 0
    first: int = 0
    """Judged ones that had no reward before."""
    failed: int = 0
    last_error: str = ""
    kept: int = 0
    """Rollouts that an earlier, unfinished reverify had done."""

    def take(self, before: Any, row: Mapping[str, Any]) -> None:
        """Count a row that came back."""
        if FAILURE in row:
            self.failed, self.last_error = self.failed + 1, str(row["error"])
            return
        self.judged += 1
        if isinstance(before, int | float):
            self.up += row["reward"] > before
            self.down += row["reward"] < before
        else:
            self.first += 1


def reverify(wanted: Reverify) -> Again:
    """Append every row with its new reward to the output; what gets no verdict goes to its failures."""
    files = Artifacts(wanted.output)
    left = read_left(files)
    to_do = [row for row in wanted.rows if key_of(row) not in left.done]
    again = Again(kept=len(wanted.rows) - len(to_do))
    rollouts, failures = RowFile(files.rollouts), RowFile(files.failures)
    rollouts.lock()
    try:
        asyncio.run(_all(wanted, to_do, rollouts, failures, again))
    finally:
        failures.close()
        rollouts.close()
    return again


async def _all(
    wanted: Reverify, rows: Sequence[Mapping[str, Any]], rollouts: RowFile, failures: RowFile, again: Again
) -> None:
    waiting = iter(rows)

    async def work() -> None:
        for row in waiting:
            new = await _judged_again(wanted, row)
            if FAILURE not in new:
                rollouts.append(new)
            elif wanted.keep_failures:
                failures.append(new)
            again.take(row.get("reward"), new)
            wanted.told(again.judged + again.failed, len(rows))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, min(wanted.concurrency, len(rows)))):
                group.create_task(work())
    except asyncio.CancelledError:  # Ctrl-C
        end_all()
        raise
    finally:
        await wanted.judges.close()


async def _judged_again(wanted: Reverify, row: Mapping[str, Any]) -> dict[str, Any]:
    agent = row["agent_ref"]["name"]
    kept = {name: value for name, value in row.items() if name not in _OURS}
    try:
        verdict = await judged(wanted.judges.environments[agent], wanted.task(row), row["response"])
    except NoVerdict as error:
        failed = {FAILURE: error.failure_class, TERMINAL: error.terminal, JUDGE_ERROR: str(error), "error": str(error)}
        return {**kept, "reward": None, **failed}
    except Exception as error:  # noqa: BLE001 - one row's trouble stays its own
        why = f"{type(error).__name__}: {error}"
        return {**kept, "reward": None, FAILURE: "environment_error", TERMINAL: False, "error": why}
    return {**kept, **verdict.fields, "reward": verdict.reward}


def stored(path: Path) -> Iterator[dict[str, Any]]:
    """Rows that can be judged again, with an agent and a response; raises where the file cannot be read."""
    if not path.is_file():
        raise RequestError(f"no such file: {path}", hint="check the path")
    for row in rows_of(path):
        response, agent = row.get("response"), row.get("agent_ref")
        outputs = response.get("output") if isinstance(response, dict) else None
        if isinstance(outputs, list) and isinstance(agent, dict) and isinstance(agent.get("name"), str):
            yield row
