"""Verifiers on their gold answers: what a row's own key says is right must pass."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from blade.gym.config.load import Resolved
from blade.gym.config.roots import place
from blade.gym.config.servers import RESOURCES, Instance
from blade.gym.environment import Environment, NoVerdict, Row
from blade.gym.models.reply import message_item
from blade.gym.run.dataset import Line, Source, lines
from blade.gym.run.reverify import judged
from blade.gym.serve.fleet import load_environment

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
    """Places of gold answers that fail."""
    missing: bool = False

    @property
    def holds(self) -> bool:
        """Whether every gold answer passes; data that is not there is no failure."""
        return not self.wrong

    @property
    def line(self) -> str:
        """One line for people."""
        if self.missing:
            return f"skipped {self.name}: {self.data} is not there; `gym eval prepare` makes it"
        verdict = "ok" if self.holds else "FAILED"
        none = f"; {self.without} rows have no gold answer" if self.without else ""
        none += f"; an empty answer passes {self.idle}" if self.idle else ""
        where = f": {'; '.join(self.wrong[:3])}" if self.wrong else ""
        return f"{verdict:7} {self.name}: {self.passed} of {self.rows} gold answers pass ({self.data}{none}){where}"


def golden(resolved: Resolved, limit: int | None = None) -> Iterator[Proven]:
    """The resources servers of a config on the data sets of the agents that work in them."""
    for agent in resolved.agents:
        resources = resolved.resources_server(agent.name)
        if resources is None or resources.group != RESOURCES:
            continue
        for dataset in (one for one in resolved.datasets if one.agent == agent.name):
            path = place(dataset.jsonl_fpath, resolved.roots, beside=dataset.prepare_script)
            source = Source(path=path, shown=dataset.jsonl_fpath)
            yield _proven(resources, load_environment(resources, resolved.roots), source, limit)


def _proven(resources: Instance, environment: Environment, source: Source, limit: int | None) -> Proven:
    if not source.path.is_file():
        return Proven(name=resources.name, data=source.shown, passed=0, rows=0, missing=True)
    return asyncio.run(_all(resources.name, environment, list(islice(lines(source), limit)), source))


async def _all(name: str, environment: Environment, rows: list[Line], source: Source) -> Proven:
    passed = without = idle = 0
    wrong: list[str] = []
    for line in rows:
        gold = environment.gold(line.row)
        if gold is None:
            without += 1
            continue
        why = await _wrong(environment, line.row, gold)
        passed += why is None
        wrong += [f"{line.place}: {why}"] if why else []
        idle += await _wrong(environment, line.row, [message_item("", "msg_empty")]) is None
    return Proven(
        name=name,
        data=source.shown,
        passed=passed,
        rows=len(rows) - without,
        without=without,
        idle=idle,
        wrong=tuple(wrong),
    )


async def _wrong(environment: Environment, row: Row, output: Sequence[Row]) -> str | None:
    """Why an output does not get the full reward, its calls carried out first; None where it does."""
    try:
        verdict = await judged(environment, row, {"output": [dict(item) for item in output]})
    except NoVerdict as error:
        return f"no verdict: {error}"
    return None if verdict.reward >= FULL - 1e-9 else f"the gold answer gets {verdict.reward:g}"
