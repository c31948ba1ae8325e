"""A verifier tried on one answer, whatever it does: a reward, no verdict, or the fault of its code with its line."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blade.model.errors import RequestError
from blade_gym.answers import message
from blade_gym.environment import UNJUDGEABLE, Environment, NoVerdict, Row, Task
from blade_gym.foreign import place, said
from blade_gym.judging import NoJudge
from blade_gym.run.reverify import judged
from blade_gym.serve.contract import PAGE, Kept
from blade_gym.serve.fleet import Fleet

MOST_LOOKED_AT = 20
"""Further rows that are tried where the first cannot be judged."""
EMPTY: tuple[Row, ...] = (message(""),)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What came of it; one of the three is given."""

    reward: float | None = None
    without: str = ""
    """Why there is no verdict."""
    fault: str = ""
    """What the code raised, and where."""
    kind: str = ""
    """The class of failure where there is no verdict."""
    judge: bool = True
    """False where there is no verdict because no judge was given."""


async def tried(environment: Environment, row: Row, output: Sequence[Row]) -> Trial:
    """The verdict on an output, its calls carried out first."""
    try:
        verdict = await judged(environment, row, {"output": [dict(item) for item in output]})
    except NoVerdict as error:
        return Trial(without=str(error), kind=error.failure_class, judge=not isinstance(error, NoJudge))
    except Exception as error:  # noqa: BLE001 - somebody's code may raise anything
        return Trial(fault=_fault(environment, error, row))
    return Trial(reward=verdict.reward)


def gold_of(environment: Environment, row: Row) -> tuple[Sequence[Row] | None, str]:
    """The gold answer of a row, and the fault where it cannot be had."""
    try:
        return environment.gold(row), ""
    except Exception as error:  # noqa: BLE001 - somebody's code may raise anything
        return None, _fault(environment, error, row)


def refuse_broken(fleet: Fleet, tasks: Mapping[str, Sequence[Task]]) -> list[str]:
    """Raise where a verifier raises on an empty answer to an agent's first row, or on the row's gold answer.

    Any reward is fine here, and so is a judge that gives no verdict: what is looked for would waste every answer. Where
    the first gold answer cannot be judged, whatever it is, more rows are looked at: raises where none of them can be
    judged, else gives a line that says how many cannot.
    """
    return asyncio.run(_all_tried(fleet, tasks))


async def _all_tried(fleet: Fleet, tasks: Mapping[str, Sequence[Task]]) -> list[str]:
    notices = []
    try:
        for name, mine in tasks.items():
            agent = fleet.agents[name]
            if agent.verify and await _refuse(name, agent.environment, mine[0]):
                notices.append(await _unjudgeable(name, agent.environment, mine[: 1 + MOST_LOOKED_AT]))
    finally:
        # A judge that was asked holds connections, which belong to this event loop.
        await fleet.close()
    return notices


async def _refuse(name: str, environment: Environment, task: Task) -> bool:
    """Raise where the verifier raises; whether the row's gold answer cannot be judged."""
    gold, fault = gold_of(environment, task.row)
    if fault:
        raise _refused(name, "gold(row) of", task, fault)
    trial = Trial()
    for what, output in (("an empty answer to", EMPTY), ("the gold answer of", gold or ())):
        trial = await tried(environment, task.row, output) if output else Trial()
        if trial.fault:
            raise _refused(name, what, task, trial.fault)
    return trial.kind == UNJUDGEABLE


async def _unjudgeable(name: str, environment: Environment, tasks: Sequence[Task]) -> str:
    """How many rows cannot be judged, and why; raises where that is all of them."""
    found, looked = list[str](), 0
    for task in tasks:
        gold, _ = gold_of(environment, task.row)
        if gold:
            looked += 1
            trial = await tried(environment, task.row, gold)
            found += [f"{task.place}: {trial.without}"] if trial.kind == UNJUDGEABLE else []
    told = f"of the first {looked} rows for {name}, {len(found)} cannot be judged; {found[0]}"
    if len(found) == looked:
        raise RequestError(told, hint="no model was asked; give rows that the verifier can judge, or what it needs")
    return told


def _refused(name: str, what: str, task: Task, fault: str) -> RequestError:
    return RequestError(
        f"{task.place}: the verifier of {name} fails on {what} this row: {fault}",
        hint=f"no model was asked; fix the row or the verifier: {PAGE}",
    )


def _fault(environment: Environment, error: Exception, row: Row) -> str:
    where = f" ({place(error, environment.path)})" if isinstance(environment, Kept) else ""
    missing = isinstance(error, KeyError) and error.args and error.args[0] not in row
    return said(error) + ("; the row has no such field" if missing else "") + where
