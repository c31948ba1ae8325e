"""New rewards on stored rollouts, without a model: calls that the rollout made are carried out again where that matters."""

from __future__ import annotations

import asyncio
import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.agents.simple_agent import FAILURE, JUDGE_ERROR, SKIPPED, TERMINAL
from blade_gym.config.compose import parts as parts_of
from blade_gym.config.problem import refuse
from blade_gym.config.servers import AGENTS, MODELS, RESOURCES, Instance, instances, references
from blade_gym.config.values import interpolated, overridden
from blade_gym.environment import Environment, NoVerdict, Row, Task, judge_stored, refuse_foreign, refuse_unready
from blade_gym.models.make import make_model
from blade_gym.models.model import Model
from blade_gym.run import manifest as about
from blade_gym.run.artifacts import REPEAT, TASK, Artifacts, Key, RowFile
from blade_gym.run.resume import key_of, read_earlier
from blade_gym.sandbox.walls import end_all
from blade_gym.serve.fleet import load_environment
from blade_gym.serve.verifier_code import Code, code_of, recorded

_OURS = (FAILURE, TERMINAL, JUDGE_ERROR, SKIPPED, "error")


class ReverifyRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is judged again, by what, and to where."""

    judges: Judges
    inputs: Mapping[Key, Row]
    """Rows of the data set by rollout."""
    rows: Sequence[Mapping[str, Any]]
    places: Mapping[Key, str]
    """File and line of each row."""
    output: Path
    concurrency: int = 8
    keep_failures: bool = True
    """Whether a rollout without a verdict is a row of the failures; it need not be where it is one already."""
    on_progress: Callable[[int, int], None] = lambda done, total: None

    def task(self, row: Row) -> Row:
        """The row of the data set behind a rollout; the rollout's own where the inputs do not have it."""
        return self.inputs.get(key_of(row), row)

    def refuse_foreign(self) -> None:
        """Raise where rows belong to other records than the environment of their agent holds."""
        for agent, environment in self.judges.environments.items():
            mine = (row for row in self.rows if row["agent_ref"]["name"] == agent)
            refuse_foreign(environment, (Task(row=self.task(row), place=self.places[key_of(row)]) for row in mine))


class ReverifyCounts(msgspec.Struct, kw_only=True):
    """How many were judged again, and how their rewards moved."""

    judged: int = 0
    up: int = 0
    down: int = 0
    first: int = 0
    """Judged ones that had no reward before."""
    failed: int = 0
    last_error: str = ""
    kept: int = 0
    """Rollouts that an earlier, unfinished reverify had done."""

    def take(self, before: Any, row: Mapping[str, Any]) -> None:
        """Count a row that came back."""
        if FAILURE in row:
            self.failed, self.last_error = self.failed + 1, str(row["error"])
            return
        self.judged += 1
        if isinstance(before, int | float):
            self.up += row["reward"] > before
            self.down += row["reward"] < before
        else:
            self.first += 1


def reverify(request: ReverifyRequest) -> ReverifyCounts:
    """Append every row with its new reward to the output; what gets no verdict goes to its failures."""
    files = Artifacts(request.output)
    left = read_earlier(files)
    to_do = [row for row in request.rows if key_of(row) not in left.done]
    again = ReverifyCounts(kept=len(request.rows) - len(to_do))
    rollouts, failures = RowFile(files.rollouts), RowFile(files.failures)
    rollouts.lock()
    try:
        asyncio.run(_all(request, to_do, rollouts, failures, again))
    finally:
        failures.close()
        rollouts.close()
    return again


class _InOrder:
    """Writes rows in the order in which they were asked for, whichever is judged first."""

    def __init__(self, write: Callable[[dict[str, Any]], None]) -> None:
        self._write = write
        self._waiting: dict[int, dict[str, Any]] = {}
        self._next = 0

    def take(self, position: int, row: dict[str, Any]) -> None:
        """Write a row as soon as those before it are written."""
        self._waiting[position] = row
        while self._next in self._waiting:
            self._write(self._waiting.pop(self._next))
            self._next += 1

    def flush(self) -> None:
        """Write what still waits for a row that never came: no verdict is lost."""
        for position in sorted(self._waiting):
            self._write(self._waiting.pop(position))


async def _all(
    request: ReverifyRequest,
    rows: Sequence[Mapping[str, Any]],
    rollouts: RowFile,
    failures: RowFile,
    again: ReverifyCounts,
) -> None:
    def write(row: dict[str, Any]) -> None:
        if FAILURE not in row:
            rollouts.append(row)
        elif request.keep_failures:
            failures.append(row)

    waiting, written = iter(enumerate(rows)), _InOrder(write)

    async def work() -> None:
        for position, row in waiting:
            new = await _judged_again(request, row)
            written.take(position, new)
            again.take(row.get("reward"), new)
            request.on_progress(again.judged + again.failed, len(rows))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, min(request.concurrency, len(rows)))):
                group.create_task(work())
    except asyncio.CancelledError:  # Ctrl-C
        end_all()
        raise
    finally:
        written.flush()
        await request.judges.close()


async def _judged_again(request: ReverifyRequest, row: Mapping[str, Any]) -> dict[str, Any]:
    agent = row["agent_ref"]["name"]
    kept = {name: value for name, value in row.items() if name not in _OURS}
    try:
        verdict = await judge_stored(request.judges.environments[agent], request.task(row), row["response"])
    except NoVerdict as error:
        failed = {FAILURE: error.failure_class, TERMINAL: error.terminal, JUDGE_ERROR: str(error), "error": str(error)}
        return {**kept, "reward": None, **failed}
    except Exception as error:  # noqa: BLE001 - one row's trouble stays its own
        why = f"{type(error).__name__}: {error}"
        return {**kept, "reward": None, FAILURE: "environment_error", TERMINAL: False, "error": why}
    return {**kept, **verdict.fields, "reward": verdict.reward}


class AgentChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Which agent a stored row belongs to: its own, else the one that is meant for rows without one."""

    known: Sequence[str]
    """The agents of the config."""
    chosen: str | None = None
    """For rows that name no agent, or one that the config does not have."""

    def of(self, row: Mapping[str, Any], place: str) -> str:
        """The agent's name; raises with the row's place where there is none."""
        own = _reference(row).get("name")
        if own in self.known:
            return str(own)
        only = self.known[0] if len(self.known) == 1 and own is None else None
        name = self.chosen or only
        if name is not None:
            return name
        problem = f"belongs to the agent {own}, which the config does not have" if own else "names no agent"
        raise RequestError(
            f"{place}: the row {problem}",
            hint=f"--agent NAME judges such rows; the config has: {', '.join(sorted(self.known)) or 'no agents'}",
        )


def _reference(row: Mapping[str, Any]) -> dict[str, Any]:
    given = row.get("agent_ref")
    return given if isinstance(given, dict) else {}


def stored(path: Path, agents: AgentChoice, *, number: bool = True) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows with a response that can be judged again, each with its place, agent and key; raises where a line cannot be read.

    With `number`, rows without a key get one by their order in the file; without it they are passed over.
    """
    lines = list(_lines(path))
    taken = {row[TASK] for _, row in lines if isinstance(row.get(TASK), int)}
    free = (index for index in range(len(lines) + len(taken)) if index not in taken)
    repeats: Counter[int] = Counter()
    for place, row in lines:
        response = row.get("response")
        if not isinstance(response, dict) or not isinstance(response.get("output"), list):
            continue
        keyed = isinstance(row.get(TASK), int) and isinstance(row.get(REPEAT), int)
        if not keyed and not number:
            continue
        task = row[TASK] if isinstance(row.get(TASK), int) else next(free)
        repeat = row[REPEAT] if keyed else repeats[task]
        repeats[task] += 1
        name = agents.of(row, place)
        agent = {"type": AGENTS, **_reference(row), "name": name}
        yield place, {**row, "agent_ref": agent, TASK: task, REPEAT: repeat}


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every row with its file and line; raises for a line that is not a row."""
    if not path.is_file():
        raise RequestError(f"no such file: {path}", hint="check the path")
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise RequestError(
                f"{path}:{number}: not JSON: {error}",
                hint="remove the line; after a killed run, `gym eval run` with --resume cuts it off and makes it again",
            ) from None
        if not isinstance(row, dict):
            raise RequestError(f"{path}:{number}: not an object", hint="each line is a rollout, a JSON object")
        yield f"{path}:{number}", row


def from_manifest(path: Path, words: Sequence[str] = ()) -> tuple[Instance, ...]:
    """The servers of the config that a manifest keeps, with some values changed; raises where there is none."""
    config = (about.read_manifest(path) or {}).get("config")
    if not isinstance(config, dict):
        raise RequestError(
            f"no manifest with a config beside the rollouts: {path}", hint="--resources-server or --benchmark names one"
        )
    _known(config, words)
    tree, problems = overridden(config, words)
    refuse(problems)
    tree, problems = interpolated(tree)
    refuse(problems)
    return instances(tree)


def _known(config: Mapping[str, Any], words: Sequence[str]) -> None:
    """Raise for a word about a block that the run's config has not: nothing would come of it."""
    named = [(word, parts_of(word.lstrip("+~").partition("=")[0])) for word in words]
    lost = [word for word, keys in named if keys and keys[0] not in config]
    if lost:
        servers = ", ".join(sorted(one.name for one in instances(config) if one.group == RESOURCES))
        raise RequestError(
            f"the config of the run has nothing that {', '.join(lost)} could change",
            hint=f"its resources servers: {servers or 'none'}",
        )


class Judges(msgspec.Struct, frozen=True, kw_only=True):
    """Environments by agent, and the models that some of them ask."""

    environments: Mapping[str, Environment]
    models: Mapping[str, Model]
    parts: tuple[Instance, ...]
    """The agents, their resources servers, and the judges that these ask."""
    code: Code

    async def close(self) -> None:
        """Let go of what the models hold."""
        for model in self.models.values():
            await model.close()

    def recorded(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """The manifest of a run, with these as what judges it."""
        resources = [one for one in self.parts if one.group == RESOURCES]
        config = copy.deepcopy(dict(known.get("config") or {}))
        for one in self.parts:
            block = about.safe_config({one.name: {one.group: {one.type: dict(one.config)}}})
            if one.group != AGENTS or one.name not in config:
                config |= block
            elif isinstance(there := config[one.name].get(AGENTS, {}).get(one.type), dict):
                there["resources_server"] = one.config.get("resources_server")
        new = {
            **known,
            "verifier": about.verifier_names(resources),
            "verifier_settings": about.verifier_settings(resources),
            "verifier_code": recorded(self.code),
            "judge": about.about_judge(self.parts, resources),
            "config": config,
        }
        return {**new, "config_sha256": about.fingerprint(new)}


def judges_of(
    parts: Sequence[Instance], roots: Sequence[Path], agents: Sequence[str], *, with_models: bool = False
) -> Judges:
    """The environment of each agent; raises for an agent that the config does not know.

    Models are made only where that is asked for: a config that a manifest keeps has no keys for them.
    """
    by_name = {one.name: one for one in parts}
    resources = {name: _resources(name, by_name) for name in agents}
    asked = {
        name for one in resources.values() for _, group, name in references(one.config, one.key) if group == MODELS
    }
    if asked and not with_models:
        raise RequestError(
            "the verifier asks a judge, and none is given",
            hint="name the config and the judge: --benchmark NAME --judge-model NAME --judge-url URL",
        )
    models = {name: make_model(by_name[name], roots) for name in sorted(asked)}
    made = {name: load_environment(one, roots, models) for name, one in resources.items()}
    refuse_unready(made.values())
    used = {**{name: by_name[name] for name in (*agents, *sorted(asked))}, **{r.name: r for r in resources.values()}}
    code = code_of(list(resources.values()), roots)
    return Judges(environments=made, models=models, parts=tuple(used.values()), code=code)


def _resources(agent: str, by_name: Mapping[str, Instance]) -> Instance:
    named = by_name[agent].config.get("resources_server") if agent in by_name else None
    found = by_name.get(str(named.get("name"))) if isinstance(named, Mapping) else None
    if found is None or found.group != RESOURCES:
        raise RequestError(
            f"the config has no resources server for the agent {agent}",
            hint=f"it has: {', '.join(sorted(by_name)) or 'nothing'}",
        )
    return found
