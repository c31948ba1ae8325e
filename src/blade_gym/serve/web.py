"""What every server has: bodies read as JSON objects, errors as JSON, /health, and /openapi.json of its routes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from blade.model.errors import BladeError
from blade_gym.models.model import ModelError

Body = dict[str, Any]
Answer = Callable[[Request, Body], Awaitable[Any]]
Aggregate = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]
"""Rows of one agent to `agent_metrics`, `key_metrics` and `group_level_metrics`; raises BladeError for rows of no use."""
_STATUS = {"rate_limited": 429, "not_authorized": 401, "not_found": 404, "refused_request": 400}
_OBJECT: dict[str, Any] = {"type": "object"}
_ROWS = {
    "type": "object",
    "required": ["verify_responses"],
    "properties": {"verify_responses": {"type": "array", "items": {"type": "object"}}},
}


class PostRoute(msgspec.Struct, frozen=True, kw_only=True):
    """A route that takes a JSON object."""

    path: str
    summary: str
    answer: Answer
    schema: Mapping[str, Any] | None = None


def application(
    title: str, posts: Sequence[PostRoute], gets: Mapping[str, Callable[[], Any]] | None = None
) -> Starlette:
    """A server with these routes, and what every server has."""
    readers = {"/health": lambda: {"status": "ok", "name": title}, **(gets or {})}
    document = openapi(title, posts, readers)
    readers["/openapi.json"] = lambda: document
    routes = [Route(post.path, _posted(post), methods=["POST"]) for post in posts]
    routes += [Route(path, _got(read), methods=["GET"]) for path, read in readers.items()]
    return Starlette(routes=routes, exception_handlers={ModelError: _model_error})


def _posted(post: PostRoute) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            body = json.loads(await request.body() or b"{}")
        except (ValueError, RecursionError) as error:
            raise HTTPException(422, f"the body is not JSON: {error}") from None
        if not isinstance(body, dict):
            raise HTTPException(422, "the body is not a JSON object")
        return as_json(await post.answer(request, body))

    return endpoint


def _got(read: Callable[[], Any]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return as_json(read())

    return endpoint


def as_json(value: Any) -> Response:
    """The value as JSON; a response as it is."""
    if isinstance(value, Response):
        return value
    return Response(msgspec.json.encode(value), media_type="application/json")


async def _model_error(request: Request, error: Exception) -> Response:
    """A model's failure as a status and a class that a caller can act on."""
    if not isinstance(error, ModelError):
        raise error
    said = {"message": str(error), "type": error.failure_class, "again": error.again}
    headers = {"Retry-After": f"{error.after:g}"} if error.after is not None else None
    status = _STATUS.get(error.failure_class, 502 if error.again else 400)
    return JSONResponse({"error": said}, status_code=status, headers=headers)


def openapi(title: str, posts: Sequence[PostRoute], gets: Mapping[str, Any]) -> dict[str, Any]:
    """The OpenAPI document of the routes."""
    paths: dict[str, Any] = {
        path: {"get": {"summary": path.strip("/"), "responses": {"200": {"description": "OK"}}}} for path in gets
    }
    for post in posts:
        body = {"required": True, "content": {"application/json": {"schema": post.schema or _OBJECT}}}
        answers = {"200": {"description": "OK"}, "422": {"description": "the body cannot be used"}}
        paths[post.path] = {"post": {"summary": post.summary, "requestBody": body, "responses": answers}}
    return {"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "paths": dict(sorted(paths.items()))}


def aggregate_route(aggregate: Aggregate | None) -> tuple[PostRoute, ...]:
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

    return (PostRoute(path="/aggregate_metrics", summary="Metrics of verified rows", answer=answer, schema=_ROWS),)
