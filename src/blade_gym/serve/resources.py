"""A resources server: sessions, tools by name, and verification, over one environment."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from blade_gym.agents.simple_agent import FAILURE, JUDGE_ERROR, TERMINAL
from blade_gym.environment import Environment, ForeignRow, NoVerdict, Session, ToolError, judge_stored, reverify_mode
from blade_gym.serve.web import Aggregate, Answer, Body, PostRoute, aggregate_route, application

COOKIE = "session_id"
MOST_SESSIONS = 10_000
MOST_BYTES = 256_000_000
"""Of the rows that sessions were opened with, all together."""


class _Sessions:
    """Open sessions within both limits; the one that was not used for longest is ended first."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, tuple[Session, int]] = OrderedDict()
        self._bytes = 0

    def add(self, session: Session, size: int) -> str:
        name = secrets.token_hex(16)
        self._open[name] = (session, size)
        self._bytes += size
        while len(self._open) > MOST_SESSIONS or (self._bytes > MOST_BYTES and len(self._open) > 1):
            _, (_, freed) = self._open.popitem(last=False)
            self._bytes -= freed
        return name

    def of(self, request: Request) -> Session | None:
        """The session that a request names; None where it names none. One that was ended is never replaced in silence."""
        name = _named(request)
        if not name:
            return None
        if name not in self._open:
            raise HTTPException(410, f"no session {name[:64]!r} is open, or it was ended: POST /seed_session again")
        self._open.move_to_end(name)
        return self._open[name][0]


def _keep(reply: Response, name: str) -> Response:
    """Say the session's name again: an agent of NeMo Gym sends only the cookies of the last reply."""
    reply.set_cookie(COOKIE, name, httponly=True)
    return reply


def _named(request: Request) -> str:
    return request.cookies.get(COOKIE) or request.headers.get("x-session-id") or ""


def resources_app(name: str, environment: Environment, aggregate: Aggregate | None = None) -> Starlette:
    """The routes of one environment; each rollout has a session, known by a cookie or `x-session-id`."""
    sessions = _Sessions()

    async def seed(request: Request, row: Body) -> Response:
        try:
            opened = sessions.add(environment.open(row), len(await request.body()))
        except ForeignRow as error:
            raise HTTPException(422, str(error)) from None
        return _keep(JSONResponse({COOKIE: opened}), opened)

    async def verify(request: Request, row: Body) -> dict[str, Any]:
        response = row["response"] if isinstance(row.get("response"), dict) else {}
        output = response.get("output")
        if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
            raise HTTPException(422, "response is an object with the whole output, a list of items")
        session = sessions.of(request)
        try:
            # Without a session nobody has carried the calls out yet.
            verdict = await (session.verify(response) if session else judge_stored(environment, row, response))
        except NoVerdict as error:
            failed = {FAILURE: error.failure_class, TERMINAL: error.terminal, JUDGE_ERROR: str(error)}
            return {**row, "reward": None, **failed}
        return {**row, **verdict.fields, "reward": verdict.reward}

    async def call(request: Request, arguments: Body) -> Response:
        session = sessions.of(request)
        if session is None:
            raise HTTPException(400, "no session: POST /seed_session first, and send its cookie")
        try:
            reply = PlainTextResponse(await session.call(request.url.path.rpartition("/")[2], arguments))
        except ToolError as error:
            reply = PlainTextResponse(str(error), status_code=400)
        return _keep(reply, _named(request))

    tools = [dict(tool) for tool in environment.tools]
    posts = [
        PostRoute(path="/seed_session", summary="Open a session for a row of the data set", answer=seed),
        PostRoute(path="/verify", summary="The verdict on a finished response", answer=verify),
        *aggregate_route(aggregate),
        *(_tool(tool, call) for tool in tools),
        PostRoute(path="/{tool}", summary="Call a tool that a row brings", answer=call),
    ]
    return application(
        name, posts, {"/tools": lambda: tools, "/reverify_mode": lambda: {"mode": reverify_mode(environment)}}
    )


def _tool(tool: dict[str, Any], call: Answer) -> PostRoute:
    """The route of one tool, with its own schema."""
    summary = str(tool.get("description") or tool["name"])
    return PostRoute(path=f"/{tool['name']}", summary=summary, answer=call, schema=tool.get("parameters"))
