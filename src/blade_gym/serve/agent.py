"""An agent's server: `/run` makes a whole rollout of a row, `/v1/responses` answers one request with the agent's tools."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request

from blade_gym.agents import simple_agent
from blade_gym.serve.fleet import ServedAgent
from blade_gym.serve.web import Aggregate, Body, PostRoute, aggregate_route, application

_ROW = {
    "type": "object",
    "required": ["responses_create_params"],
    "properties": {"responses_create_params": {"type": "object"}},
}


def agent_app(agent: ServedAgent, aggregate: Aggregate | None = None) -> Starlette:
    """The routes of one agent."""

    async def run(request: Request, row: Body) -> dict[str, Any]:
        _own(row, agent.name)
        _params(row.get("responses_create_params"))
        return await simple_agent.run(
            row, model=agent.model, environment=agent.environment, limits=agent.limits, verify=agent.verify
        )

    async def respond(request: Request, params: Body) -> dict[str, Any]:
        _params(params)
        return await simple_agent.respond(params, model=agent.model, environment=agent.environment, limits=agent.limits)

    posts = (
        PostRoute(path="/run", summary="One rollout of one task, with its verdict", answer=run, schema=_ROW),
        PostRoute(path="/v1/responses", summary="Answer a request, with the tools of the environment", answer=respond),
        *aggregate_route(aggregate),
    )
    return application(agent.name, posts)


def _own(row: Body, name: str) -> None:
    """Refuse a row that says it belongs to another agent: its verifier would judge it by the wrong rules."""
    reference = row.get("agent_ref")
    other = reference.get("name") if isinstance(reference, dict) else reference
    if other is not None and other != name:
        shown = "".join(f" {key}={row[key]!r}" for key in ("_ng_task_index", *simple_agent.IDS) if key in row)
        raise HTTPException(422, f"the row{shown} is for the agent {other!r} (its agent_ref), and this is {name}")


def _params(params: object) -> None:
    if not isinstance(params, dict) or not isinstance(params.get("input"), str | list):
        raise HTTPException(422, "responses_create_params.input is a string or a list of items")
