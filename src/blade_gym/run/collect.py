"""Collecting rollouts: many at once, each written when it is there; what fails is a row of its own file.

One bad request never ends a run. What ends it early: a stop that was asked for, a disk that is full, or an endpoint
that refuses everybody, which a person has to mend.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from blade_gym.agents.simple_agent import FAILURE, MENDABLE, SKIPPED, TERMINAL
from blade_gym.environment import FOREIGN
from blade_gym.models.model import UNREACHABLE
from blade_gym.models.retries import Patience
from blade_gym.run.artifacts import ATTEMPT, REPEAT, TASK, RowFile
from blade_gym.run.resume import MOST_ATTEMPTS, key_of

if TYPE_CHECKING:
    import httpx
    from starlette.applications import Starlette

NO_PERSIST = "_ng_no_persist"
BROKEN = "remote_agent_error"
HOPELESS = (*MENDABLE, BROKEN, FOREIGN)
"""Classes that mean nobody will be served, when nothing else comes back."""
MOST_HOPELESS = 20
_STAMPS = (TASK, REPEAT, ATTEMPT, "_ng_rollout_id", "agent_ref", "skills_ref")
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
SECONDS = 3600.0
"""The longest that one rollout may take to answer."""


class RunProgress(msgspec.Struct, kw_only=True):
    """How far a run is."""

    total: int
    done: int = 0
    """Rollouts with a reward, or whose verification is skipped; those of an earlier run among them."""
    failed: Counter[str] = msgspec.field(default_factory=Counter)
    """By class, in this run."""
    again: int = 0
    """Of what failed in this run, what `--resume` would try again."""
    rewards: float = 0.0
    judged: int = 0
    unsaved: int = 0
    in_vain: int = 0
    """Rollouts in a row, up to now, that nobody served."""
    hopeless: str = ""
    """Why the run was given up."""
    errors: dict[str, str] = msgspec.field(default_factory=dict)
    """The last error of each class."""

    @property
    def score(self) -> float | None:
        """The mean reward so far."""
        return self.rewards / self.judged if self.judged else None

    @property
    def unjudged(self) -> int:
        """Rollouts that are done and have no reward."""
        return self.done - self.judged

    @property
    def finished(self) -> int:
        """Rollouts that came to an end."""
        return self.done + self.failed.total() + self.unsaved


class RolloutFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The two files that rollouts go to."""

    rollouts: RowFile
    failures: RowFile

    def close(self) -> None:
        """Close both."""
        self.rollouts.close()
        self.failures.close()


class Collector(msgspec.Struct, frozen=True, kw_only=True):
    """How rollouts are asked for."""

    endpoints: Endpoints
    sink: RolloutFiles
    concurrency: int
    most_attempts: int = MOST_ATTEMPTS
    """How often a rollout may fail before it is left alone."""
    patience: Patience = msgspec.field(default_factory=lambda: Patience(tries=3))
    seed: int = 0
    on_progress: Callable[[RunProgress], None] = lambda progress: None

    async def collect(self, rows: Sequence[Mapping[str, Any]], progress: RunProgress, stop: asyncio.Event) -> None:
        """Run the rows; returns when all came to an end, or soon after `stop` is set."""
        waiting = iter(rows)

        async def work() -> None:
            for row in waiting:
                self._take(row, await self._rollout(row), progress)
                if progress.hopeless:
                    stop.set()

        async def work_all() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, min(self.concurrency, len(rows)))):
                    group.create_task(work())

        working, stopped = asyncio.create_task(work_all()), asyncio.create_task(_set(stop))
        try:
            await asyncio.wait([working, stopped], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            if not working.done():
                working.cancel()
            await asyncio.gather(working, stopped, return_exceptions=True)
        if not working.cancelled() and (error := working.exception()):
            raise _first(error)

    def _take(self, row: Mapping[str, Any], result: dict[str, Any], progress: RunProgress) -> None:
        """Write what came back where it belongs, and count it."""
        stamps = {name: row[name] for name in _STAMPS if name in row}
        whole = {**result, **stamps}
        kind = whole.get(FAILURE)
        if whole.pop(NO_PERSIST, None):
            progress.unsaved += 1
        elif kind is not None:
            self.sink.failures.append(whole)
            progress.failed[str(kind)] += 1
            progress.errors[str(kind)] = str(whole.get("error") or kind)
            progress.again += self._may_try_again(whole)
            self._despair(str(kind), progress)
        else:
            self.sink.rollouts.append(whole)
            progress.done += 1
            progress.in_vain = 0
            if whole["reward"] is not None:
                progress.rewards, progress.judged = progress.rewards + whole["reward"], progress.judged + 1
        self.on_progress(progress)

    def _may_try_again(self, failed: Mapping[str, Any]) -> bool:
        used = failed.get(ATTEMPT, 0) + (failed[FAILURE] not in MENDABLE)
        return not failed.get(TERMINAL) and used < self.most_attempts

    def _despair(self, kind: str, progress: RunProgress) -> None:
        progress.in_vain = progress.in_vain + 1 if kind in HOPELESS else 0
        if progress.in_vain >= MOST_HOPELESS:
            progress.hopeless = f"{progress.in_vain} rollouts in a row all failed with {kind}: {progress.errors[kind]}"

    async def _rollout(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """What the agent's `/run` gives, asked again where the way there broke; a row in every case."""
        task, repeat = key_of(row)
        chance = random.Random(f"{self.seed}:{task}:{repeat}")
        for failed in range(1, self.patience.tries + 1):
            result, again = await self._ask(row)
            if not again or failed == self.patience.tries:
                return result
            await asyncio.sleep(self.patience.wait(failed, None, chance))
        raise AssertionError("unreachable")

    async def _ask(self, row: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        """One request: the row, and whether to ask again."""
        import httpx

        url = self.endpoints.urls[row["agent_ref"]["name"]]
        headers = {"Content-Type": "application/json"}
        try:
            reply = await self.endpoints.client.post(f"{url}/run", content=msgspec.json.encode(row), headers=headers)
        except httpx.ReadTimeout:
            return _broken(row, "timeout_exceeded", "the agent did not answer in time", terminal=True), False
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            return _broken(row, UNREACHABLE, f"the agent's server: {type(error).__name__}: {error}"), True
        except httpx.HTTPError as error:
            return _broken(row, BROKEN, f"{type(error).__name__}: {error}"), True
        if reply.status_code != 200:
            why = f"HTTP {reply.status_code} from the agent: {reply.text[:200]}"
            return _broken(row, BROKEN, why), reply.status_code in _AGAIN
        return _checked(row, reply.content)


async def _set(stop: asyncio.Event) -> None:
    await stop.wait()


def _first(error: BaseException) -> BaseException:
    """What went wrong, out of the group that tells of it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _checked(row: Mapping[str, Any], content: bytes) -> tuple[dict[str, Any], bool]:
    """The agent's row, if it is one: with a class of failure, a reward that is a number, or one that was not asked for."""
    try:
        result = json.loads(content)
    except (ValueError, RecursionError):
        return _broken(row, BROKEN, "the agent's reply is not JSON"), True
    if not isinstance(result, dict):
        return _broken(row, BROKEN, "the agent's reply is not an object"), True
    reward = result.get("reward")
    judged = isinstance(reward, int | float) and not isinstance(reward, bool) and math.isfinite(reward)
    skipped = result.get(SKIPPED) is True
    if judged or skipped or result.get(FAILURE) is not None or result.get(NO_PERSIST):
        # Whoever skipped the verification may have made a reward up.
        return (result | {"reward": None} if skipped else result), False
    return {**result, **_failure("incomplete", f"the agent's reply has no reward but {reward!r}")}, False


def _broken(row: Mapping[str, Any], kind: str, why: str, *, terminal: bool = False) -> dict[str, Any]:
    return {
        "responses_create_params": row["responses_create_params"],
        "response": None,
        **_failure(kind, why, terminal=terminal),
    }


def _failure(kind: str, why: str, *, terminal: bool = False) -> dict[str, Any]:
    return {"reward": None, FAILURE: kind, TERMINAL: terminal, "error": why}


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """A client, and the address of each agent."""

    client: httpx.AsyncClient
    urls: Mapping[str, str]

    async def close(self) -> None:
        """Let go of the connections."""
        await self.client.aclose()


def in_process(apps: Mapping[str, Starlette]) -> Endpoints:
    """The applications themselves; no port is opened."""
    import httpx

    urls = {name: f"http://agent-{number}.in-process" for number, name in enumerate(apps)}
    mounts = {urls[name]: httpx.ASGITransport(app=app, raise_app_exceptions=False) for name, app in apps.items()}
    return Endpoints(client=httpx.AsyncClient(mounts=mounts, timeout=None), urls=urls)


def over_network(urls: Mapping[str, str], seconds: float = SECONDS) -> Endpoints:
    """Servers at these addresses."""
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
    timeout = httpx.Timeout(seconds, connect=15.0, pool=None)
    return Endpoints(client=httpx.AsyncClient(limits=limits, timeout=timeout, trust_env=False), urls=urls)
