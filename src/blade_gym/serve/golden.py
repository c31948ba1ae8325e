"""Verifiers on their gold answers: what a row's own key says is right must pass."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from blade.model.errors import RequestError
from blade_gym.config.load import Resolved
from blade_gym.config.roots import place
from blade_gym.config.servers import RESOURCES, Instance
from blade_gym.environment import Environment, refuse_unready
from blade_gym.run.dataset import Line, Source, lines
from blade_gym.serve.fleet import load_environment
from blade_gym.serve.trial import EMPTY, Trial, gold_of, tried

FULL = 1.0


@dataclass(frozen=True, kw_only=True)
class Proven:
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


def golden(resolved: Resolved, limit: int | None = None) -> Iterator[Proven]:
    """The resources servers of a config on the data sets of the agents that work in them."""
    proven = set[str]()
    for agent in resolved.agents:
        resources = resolved.resources_server(agent.name)
        if resources is None or resources.group != RESOURCES:
            continue
        for dataset in (one for one in resolved.datasets if one.agent == agent.name):
            path = place(dataset.jsonl_fpath, resolved.roots, beside=dataset.prepare_script)
            source = Source(path=path, shown=dataset.jsonl_fpath)
            proven.add(resources.name)
            yield _proven(resources, load_environment(resources, resolved.roots), source, limit)
    for one in resolved.instances:
        if one.group == RESOURCES and one.name not in proven:
            load_environment(one, resolved.roots)
            why = "it can be made, and no data set is there to test it on: give `datasets` to an agent that works in it"
            yield Proven(name=one.name, data="", passed=0, rows=0, skipped=why)


def _proven(resources: Instance, environment: Environment, source: Source, limit: int | None) -> Proven:
    if not source.path.is_file():
        why = f"{source.shown} not found; `gym eval prepare` makes the data of a benchmark"
        return Proven(name=resources.name, data=source.shown, passed=0, rows=0, skipped=why)
    try:
        refuse_unready([environment])
    except RequestError as problem:
        why = f"{problem} ({problem.hint})"
        return Proven(name=resources.name, data=source.shown, passed=0, rows=0, skipped=why, unready=problem)
    return asyncio.run(_all(resources.name, environment, list(islice(lines(source), limit)), source))


async def _all(name: str, environment: Environment, rows: list[Line], source: Source) -> Proven:
    passed = without = idle = judge = 0
    wrong: list[str] = []
    for line in rows:
        gold, fault = gold_of(environment, line.row)
        if gold is None and not fault:
            without += 1
            continue
        trial = Trial(fault=fault) if fault else await tried(environment, line.row, gold or ())
        if not trial.judge:
            judge += 1
            continue
        why = _why_not(trial)
        passed += not why
        wrong += [f"{line.place}: {why}"] if why else []
        silent = await tried(environment, line.row, EMPTY)
        wrong += [f"{line.place}: an empty answer: {silent.fault}"] if silent.fault else []
        idle += _passes(silent)
    return Proven(
        name=name,
        data=source.shown,
        passed=passed,
        rows=len(rows) - without - judge,
        without=without,
        judge=judge,
        idle=idle,
        wrong=tuple(wrong),
    )


def _passes(trial: Trial) -> bool:
    return trial.reward is not None and trial.reward >= FULL - 1e-9


def _why_not(trial: Trial) -> str:
    """Why a gold answer does not get the full reward; empty where it does."""
    if _passes(trial):
        return ""
    if trial.reward is None:
        return trial.fault or f"no verdict: {trial.without}"
    return f"the gold answer gets {trial.reward:g}"
