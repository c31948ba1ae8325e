"""Verifiers on their gold answers: what a row's own key says is right must pass, and nothing may raise.

`gym env test` tries every row; a run tries its first rows before a model is asked anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from blade.model.errors import RequestError
from blade_gym.answers import message
from blade_gym.config.load import Resolved
from blade_gym.config.roots import place
from blade_gym.config.servers import RESOURCES, Instance
from blade_gym.environment import UNJUDGEABLE, Environment, NoVerdict, Row, Task, judge_stored, refuse_unready
from blade_gym.loading import error_line, where_raised
from blade_gym.run.dataset import RowsToRun, SourceLine, lines
from blade_gym.serve.contract import PAGE, CheckedEnvironment
from blade_gym.serve.fleet import Fleet, load_environment
from blade_gym.verifier_kit.judge import NoJudge

FULL = 1.0
MOST_LOOKED_AT = 20
"""Further rows that are tried where the first cannot be judged."""
EMPTY: tuple[Row, ...] = (message(""),)


class GoldResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came out for one resources server and one data set."""

    name: str
    data: str
    passed: int
    rows: int
    without: int = 0
    """Rows whose key gives no gold answer."""
    idle: int = 0
    """Rows that an empty answer passes too."""
    wrong: tuple[str, ...] = ()
    """Places of gold answers that fail, and of answers that the verifier's code fails on."""
    skipped: str = ""
    """Why nothing was tried."""
    unready: RequestError | None = None
    """What this machine lacks, where that is why nothing was tried."""
    judge: int = 0
    """Rows whose gold answer only a judge can judge."""

    @property
    def holds(self) -> bool:
        """Whether every gold answer passes; what was not tried is no failure."""
        return not self.wrong

    @property
    def needs_judge(self) -> bool:
        """Whether nothing was tried because every row needs a judge."""
        return bool(self.judge) and not self.rows

    @property
    def line(self) -> str:
        """One line for people."""
        if self.skipped:
            return f"skipped {self.name}: {self.skipped}"
        if self.needs_judge and not self.wrong:
            return f"skipped {self.name}: needs a judge; `gym eval run` with --judge-model gives it one"
        verdict = "ok" if self.holds else "FAILED"
        none = f"; {self.without} rows have no gold answer" if self.without else ""
        none += f"; {self.judge} rows need a judge" if self.judge else ""
        none += f"; an empty answer passes {self.idle}" if self.idle else ""
        where = f": {'; '.join(self.wrong[:3])}" if self.wrong else ""
        return f"{verdict:7} {self.name}: {self.passed} of {self.rows} gold answers pass ({self.data}{none}){where}"


def golden(resolved: Resolved, limit: int | None = None) -> Iterator[GoldResult]:
    """The resources servers of a config on the data sets of the agents that work in them."""
    proven = set[str]()
    for agent in resolved.agents:
        resources = resolved.resources_server(agent.name)
        if resources is None or resources.group != RESOURCES:
            continue
        for dataset in (one for one in resolved.datasets if one.agent == agent.name):
            path = place(dataset.jsonl_fpath, resolved.roots, beside=dataset.prepare_script)
            source = RowsToRun(path=path, shown=dataset.jsonl_fpath)
            proven.add(resources.name)
            yield _proven(resources, load_environment(resources, resolved.roots), source, limit)
    for one in resolved.instances:
        if one.group == RESOURCES and one.name not in proven:
            load_environment(one, resolved.roots)
            why = "it can be made, and no data set is there to test it on: give `datasets` to an agent that works in it"
            yield GoldResult(name=one.name, data="", passed=0, rows=0, skipped=why)


def _proven(resources: Instance, environment: Environment, source: RowsToRun, limit: int | None) -> GoldResult:
    if not source.path.is_file():
        why = f"{source.shown} not found; `gym eval prepare` makes the data of a benchmark"
        return GoldResult(name=resources.name, data=source.shown, passed=0, rows=0, skipped=why)
    try:
        refuse_unready([environment])
    except RequestError as problem:
        why = f"{problem} ({problem.hint})"
        return GoldResult(name=resources.name, data=source.shown, passed=0, rows=0, skipped=why, unready=problem)
    return asyncio.run(_all(resources.name, environment, list(islice(lines(source), limit)), source))


async def _all(name: str, environment: Environment, rows: list[SourceLine], source: RowsToRun) -> GoldResult:
    passed = without = idle = judge = 0
    wrong: list[str] = []
    for line in rows:
        gold, fault = gold_of(environment, line.row)
        if gold is None and not fault:
            without += 1
            continue
        trial = VerifierTrial(fault=fault) if fault else await tried(environment, line.row, gold or ())
        if not trial.judge:
            judge += 1
            continue
        why = _why_not(trial)
        passed += not why
        wrong += [f"{line.place}: {why}"] if why else []
        silent = await tried(environment, line.row, EMPTY)
        wrong += [f"{line.place}: an empty answer: {silent.fault}"] if silent.fault else []
        idle += _passes(silent)
    return GoldResult(
        name=name,
        data=source.shown,
        passed=passed,
        rows=len(rows) - without - judge,
        without=without,
        judge=judge,
        idle=idle,
        wrong=tuple(wrong),
    )


def _passes(trial: VerifierTrial) -> bool:
    return trial.reward is not None and trial.reward >= FULL - 1e-9


def _why_not(trial: VerifierTrial) -> str:
    """Why a gold answer does not get the full reward; empty where it does."""
    if _passes(trial):
        return ""
    if trial.reward is None:
        return trial.fault or f"no verdict: {trial.without}"
    return f"the gold answer gets {trial.reward:g}"


class VerifierTrial(msgspec.Struct, frozen=True, kw_only=True):
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


async def tried(environment: Environment, row: Row, output: Sequence[Row]) -> VerifierTrial:
    """The verdict on an output, its calls carried out first."""
    try:
        verdict = await judge_stored(environment, row, {"output": [dict(item) for item in output]})
    except NoVerdict as error:
        return VerifierTrial(without=str(error), kind=error.failure_class, judge=not isinstance(error, NoJudge))
    except Exception as error:  # noqa: BLE001 - somebody's code may raise anything
        return VerifierTrial(fault=_fault(environment, error, row))
    return VerifierTrial(reward=verdict.reward)


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
    trial = VerifierTrial()
    for what, output in (("an empty answer to", EMPTY), ("the gold answer of", gold or ())):
        trial = await tried(environment, task.row, output) if output else VerifierTrial()
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
    where = f" ({where_raised(error, environment.path)})" if isinstance(environment, CheckedEnvironment) else ""
    missing = isinstance(error, KeyError) and error.args and error.args[0] not in row
    return error_line(error) + ("; the row has no such field" if missing else "") + where
