"""A verifier tried on one answer, whatever it does: a reward, no verdict, or the fault of its code with its line."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blade.core.errors import RequestError
from blade.gym.answers import message
from blade.gym.environment import Environment, NoVerdict, Row
from blade.gym.foreign import place, said
from blade.gym.judging import NoJudge
from blade.gym.run.reverify import judged
from blade.gym.serve.contract import PAGE, Kept
from blade.gym.serve.fleet import Fleet

EMPTY: tuple[Row, ...] = (message(""),)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What came of it; one of the three is given."""

    reward: float | None = None
    without: str = ""
    """Why there is no verdict."""
    fault: str = ""
    """What the code raised, and where."""
    judge: bool = True
    """False where there is no verdict because no judge was given."""


async def tried(environment: Environment, row: Row, output: Sequence[Row]) -> Trial:
    """The verdict on an output, its calls carried out first."""
    try:
        verdict = await judged(environment, row, {"output": [dict(item) for item in output]})
    except NoVerdict as error:
        return Trial(without=str(error), judge=not isinstance(error, NoJudge))
    except Exception as error:  # noqa: BLE001 - somebody's code may raise anything
        return Trial(fault=_fault(environment, error))
    return Trial(reward=verdict.reward)


def gold_of(environment: Environment, row: Row) -> tuple[Sequence[Row] | None, str]:
    """The gold answer of a row, and the fault where it cannot be had."""
    try:
        return environment.gold(row), ""
    except Exception as error:  # noqa: BLE001 - somebody's code may raise anything
        return None, _fault(environment, error)


def refuse_broken(fleet: Fleet, first: Mapping[str, Row]) -> None:
    """Raise where a verifier raises on an empty answer to an agent's first row, or on the row's gold answer.

    Any reward is fine here, and so is a judge that gives no verdict: what is looked for would waste every answer.
    """
    asyncio.run(_all_tried(fleet, first))


async def _all_tried(fleet: Fleet, first: Mapping[str, Row]) -> None:
    try:
        for name, row in first.items():
            if fleet.agents[name].verify:
                await _refuse(name, fleet.agents[name].environment, row)
    finally:
        # A judge that was asked holds connections, which belong to this event loop.
        await fleet.close()


async def _refuse(name: str, environment: Environment, row: Row) -> None:
    gold, fault = gold_of(environment, row)
    if fault:
        raise _refused(name, "gold(row) of", fault)
    for what, output in (("an empty answer to", EMPTY), ("the gold answer of", gold or ())):
        trial = await tried(environment, row, output) if output else Trial()
        if trial.fault:
            raise _refused(name, what, trial.fault)


def _refused(name: str, what: str, fault: str) -> RequestError:
    return RequestError(
        f"the verifier of {name} fails on {what} the first task: {fault}",
        hint=f"no model was asked; `gym env test` tries every row, and {PAGE}",
    )


def _fault(environment: Environment, error: Exception) -> str:
    where = f" ({place(error, environment.path)})" if isinstance(environment, Kept) else ""
    return said(error) + where
