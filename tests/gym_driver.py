"""The least that runs a policy in an environment: a tool loop, and rows in the shape that `gym eval run` writes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blade_gym.environment import Environment, Session, ToolError
from blade_gym.models.model import Model

MAX_STEPS = 12


async def roll(env: Environment, model: Model, row: Mapping[str, Any], repeat: int) -> dict[str, Any]:
    params = {**row["responses_create_params"], "tools": list(env.tools)}
    session, output = env.open(row), list[dict[str, Any]]()
    for _ in range(MAX_STEPS):
        response = await model.respond({**params, "input": [*params["input"], *output]}, seed=repeat)
        output += response["output"]
        calls = [item for item in response["output"] if item["type"] == "function_call"]
        output += [await _answer(session, call) for call in calls]
        if not calls:
            break
    response["output"] = output
    verdict = await session.verify(response)
    kept = {name: value for name, value in row.items() if name != "responses_create_params"}
    return {**kept, "responses_create_params": params, "response": response, "reward": verdict.reward, **verdict.fields}


async def _answer(session: Session, call: Mapping[str, Any]) -> dict[str, Any]:
    try:
        text = await session.call(call["name"], json.loads(call["arguments"]))
    except ToolError as problem:
        text = json.dumps({"error": str(problem)})
    return {"type": "function_call_output", "call_id": call["call_id"], "output": text}


def collect(env: Environment, model: Model, rows: Sequence[Mapping[str, Any]], repeats: int) -> list[dict[str, Any]]:
    """A row for each task and repeat."""

    async def run() -> list[dict[str, Any]]:
        return [
            {
                "_ng_task_index": index,
                "_ng_rollout_index": repeat,
                "agent_ref": {"type": "responses_api_agents", "name": "workplace_assistant_simple_agent"},
                **await roll(env, model, row, repeat),
            }
            for index, row in enumerate(rows)
            for repeat in range(repeats)
        ]

    return asyncio.run(run())


def write(rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
