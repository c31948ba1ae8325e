"""POST /aggregate_metrics: verified rows in, their metrics out. What counts them is given by whoever starts the servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from blade.model.errors import BladeError
from blade_gym.serve.web import Body, Post

Aggregate = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]
"""Rows of one agent to `agent_metrics`, `key_metrics` and `group_level_metrics`; raises BladeError for rows of no use."""
_ROWS = {
    "type": "object",
    "required": ["verify_responses"],
    "properties": {"verify_responses": {"type": "array", "items": {"type": "object"}}},
}


def aggregate_route(aggregate: Aggregate | None) -> tuple[Post, ...]:
    """The route; none where nothing counts."""
    if aggregate is None:
        return ()

    async def answer(request: Request, body: Body) -> Mapping[str, Any]:
        rows = body.get("verify_responses")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise HTTPException(422, "verify_responses is a list of objects")
        try:
            return aggregate(rows)
        except BladeError as error:
            raise HTTPException(422, error.message) from None

    return (Post(path="/aggregate_metrics", summary="Metrics of verified rows", answer=answer, schema=_ROWS),)
