"""The tool loop: ask the model, answer its calls, until it has no more, is cut off, or the steps are used up.

A row comes out in every case: with a reward, or with the class of what went wrong and no reward at all.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blade_gym.environment import Environment, NoVerdict, Row, Session, ToolError
from blade_gym.models.model import UNREACHABLE, Model, ModelError
from blade_gym.models.openai_model import extra_body
from blade_gym.models.reply import output_item, summed

FAILURE = "_ng_failure_class"
TERMINAL = "_ng_failure_terminal"
JUDGE_ERROR = "_ng_failure_judge_error"
SKIPPED = "verification_skipped"
"""A rollout that nobody was asked to judge: it has no reward, and no class of failure either."""
TOOK = "seconds"
"""How long the rollout took, its waits between tries and its verdict included."""
IDS = ("task_id", "instance_id", "problem_id", "question_id", "sample_id", "uuid", "id")
"""Fields that name the task; the rollout's row keeps them."""


class RolloutLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Where a rollout ends at the latest."""

    max_steps: int | None = None
    """Calls of the model; None is no limit but that of MOST_STEPS."""
    seconds: float | None = None


MENDABLE = ("not_authorized", "not_found", UNREACHABLE)
"""Classes that tell nothing of the rollout: a person has to change a key, an address, or start the server."""
MOST_STEPS = 1000
"""No loop runs for ever."""


class _Trajectory:
    """What has happened so far; it is there whatever ends the rollout."""

    def __init__(self, row: Row, tools: Sequence[Row]) -> None:
        self.params: dict[str, Any] = {
            name: value for name, value in row["responses_create_params"].items() if value is not None
        }
        if tools and not self.params.get("tools"):
            self.params["tools"] = [dict(tool) for tool in tools]
        self.seed = extra_body(self.params.get("metadata")).get("seed")
        self.output: list[dict[str, Any]] = []
        self.replies: list[Mapping[str, Any]] = []
        self.cut = False

    @property
    def request(self) -> dict[str, Any]:
        given = self.params.get("input") or []
        prompt = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        return {**self.params, "input": prompt + self.output}

    @property
    def response(self) -> dict[str, Any] | None:
        """All steps as one response; None before the model's first word."""
        if not self.replies:
            return None
        usage = summed([reply.get("usage") for reply in self.replies])
        return {**self.replies[-1], "output": self.output, "usage": usage}


async def run(
    row: Row, *, model: Model, environment: Environment, limits: RolloutLimits, verify: bool = True
) -> dict[str, Any]:
    """One rollout in a session of its own; never raises for what a model, tool or verifier does."""
    taken = _Trajectory(row, environment.tools)
    base = {name: row[name] for name in IDS if name in row}
    base |= {"responses_create_params": taken.params}
    start = time.monotonic()
    try:
        async with asyncio.timeout(limits.seconds):
            found = await _played(row, taken, model, environment, limits, verify=verify)
    except ModelError as error:
        mendable = error.again or error.failure_class in MENDABLE
        found = _failed(error.failure_class, str(error), terminal=not mendable)
    except NoVerdict as error:
        found = _failed(error.failure_class, str(error), terminal=error.terminal) | {JUDGE_ERROR: str(error)}
    except TimeoutError:
        found = _failed("timeout_exceeded", f"the rollout took more than {limits.seconds:g} s", terminal=True)
    except Exception as error:  # noqa: BLE001 - one rollout's trouble stays its own
        found = _failed("environment_error", f"{type(error).__name__}: {error}", terminal=False)
    return base | {"response": taken.response} | found | {TOOK: round(time.monotonic() - start, 3)}


def _failed(kind: str, why: str, *, terminal: bool) -> dict[str, Any]:
    return {"reward": None, FAILURE: kind, TERMINAL: terminal, "error": why}


async def _played(
    row: Row, taken: _Trajectory, model: Model, environment: Environment, limits: RolloutLimits, *, verify: bool
) -> dict[str, Any]:
    session = environment.open(row)
    await loop(taken, model, session, _steps(environment, limits))
    response = taken.response
    if response is None:
        raise ModelError("the model was never asked: max_steps is 0", failure_class="refused_request", again=False)
    stop = {"stop_reason": "max_steps"} if taken.cut else {}
    if not verify:
        return {**stop, "reward": None, SKIPPED: True}
    verdict = await session.verify(response)
    return {**stop, **verdict.fields, "reward": verdict.reward}


def _steps(environment: Environment, limits: RolloutLimits) -> int | None:
    """None for an environment without tools: calls of tools that a task only describes are the answer itself."""
    if not environment.tools:
        return None
    return limits.max_steps if limits.max_steps is not None else MOST_STEPS


async def loop(taken: _Trajectory, model: Model, session: Session, max_steps: int | None) -> None:
    """Steps until the model is done; calls of one step are answered in their order. One step where `max_steps` is None."""
    for step in range(1, (max_steps if max_steps is not None else 1) + 1):
        reply = await model.respond(taken.request, seed=taken.seed)
        taken.replies.append(reply)
        taken.output += reply["output"]
        calls = [item for item in reply["output"] if item.get("type") == "function_call"]
        if not calls or max_steps is None or reply.get("incomplete_details"):
            return
        for call in calls:
            taken.output.append(output_item(call["call_id"], await _answer(call, session)))
        taken.cut = step == max_steps


async def _answer(call: Row, session: Session) -> str:
    """What the tool says; bad arguments and refusals are words for the model."""
    try:
        arguments = json.loads(call.get("arguments") or "{}")
    except (ValueError, RecursionError) as error:
        return json.dumps({"error": f"Invalid tool call arguments: {error}"})
    if not isinstance(arguments, dict):
        return json.dumps({"error": "Invalid tool call arguments: not an object"})
    try:
        return await session.call(call["name"], arguments)
    except ToolError as error:
        return str(error)


async def respond(params: Row, *, model: Model, environment: Environment, limits: RolloutLimits) -> dict[str, Any]:
    """The agent's answer to one request, without a verdict; raises ModelError."""
    row = {"responses_create_params": params}
    taken = _Trajectory(row, environment.tools)
    await loop(taken, model, environment.open(row), _steps(environment, limits))
    response = taken.response
    if response is None:
        raise ModelError("the model was never asked: max_steps is 0", failure_class="refused_request", again=False)
    return response
