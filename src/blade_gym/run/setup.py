"""Where a run plays: the parts of a config in this process, or servers that run already. Both look the same from here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.config.dataset import Dataset
from blade_gym.config.load import Resolved
from blade_gym.config.problem import suggestion
from blade_gym.config.roots import find, place
from blade_gym.config.servers import MODELS, POLICY, RESOURCES, Instance, instances
from blade_gym.environment import Row, Task, refuse_foreign
from blade_gym.run.collate import collated
from blade_gym.run.collect import Endpoints, in_process, over_network
from blade_gym.run.dataset import RowsToRun, lines, read_prompt
from blade_gym.run.options import RunOptions
from blade_gym.run.prepare import ensure
from blade_gym.serve.head import RunningServers
from blade_gym.serve.verifier_code import Code, code_of, joined

if TYPE_CHECKING:
    from blade_gym.serve.fleet import Fleet

Close = Callable[[], Awaitable[None]]


class RunSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What a run needs to know of where it plays."""

    config: Mapping[str, Any]
    """Secrets in clear, unless it came from a head server."""
    parts: tuple[Instance, ...]
    sources: tuple[RowsToRun, ...]
    benchmark: str | None
    split: str | None
    datasets: tuple[Dataset, ...] = ()
    """What the sources were in the config; none where the rows are given otherwise."""
    connect: Callable[[Mapping[str, Sequence[Task]]], tuple[Endpoints, Close, str | None]]
    """From agents, each with its rows, to endpoints, how to let go of them, and what the model calls itself."""
    agents: tuple[str, ...]
    """The agents that can be asked, by instance."""
    judging: Callable[[Sequence[Instance]], Code]
    """The code of some resources servers, as far as it is known."""
    admit: Callable[[Mapping[str, Sequence[Task]]], None] = lambda rows: None
    """Raises for rows, by agent, that belong to another data set. Servers that run elsewhere refuse such rows one by one."""

    @property
    def model(self) -> Instance | None:
        """The model that is evaluated."""
        return next((one for one in self.parts if one.group == MODELS and one.name == POLICY), None)

    def of(self, name: str) -> Instance | None:
        """The instance of that name."""
        return next((one for one in self.parts if one.name == name), None)

    def resources(self, agent: str) -> Instance | None:
        """The resources server that an agent works in."""
        found = self.of(agent)
        named = found.config.get("resources_server") if found else None
        name = named.get("name") if isinstance(named, Mapping) else None
        return next((one for one in self.parts if one.group == RESOURCES and one.name == name), None)


def local_setup(
    resolved: Resolved, options: RunOptions, benchmark: str | None, notify: Callable[[str], None] = lambda line: None
) -> RunSetup:
    """The config's own parts, in this process; data sets that are missing are prepared, and `notify` hears of it."""
    sources, datasets, split = _sources(resolved, options, benchmark, notify)
    named = next((one.name for one in resolved.datasets if one.type == "benchmark"), None)

    @cache
    def assembled(agents: frozenset[str]) -> Fleet:
        from blade_gym.serve.fleet import assemble

        return assemble(resolved, sorted(agents))

    def admit(rows: Mapping[str, Sequence[Task]]) -> None:
        for name, tasks in rows.items():
            refuse_foreign(assembled(frozenset(rows)).agents[name].environment, tasks)

    def connect(agents: Mapping[str, Sequence[Task]]) -> tuple[Endpoints, Close, str | None]:
        from blade_gym.run.golden import refuse_broken

        fleet = assembled(frozenset(agents))
        for line in refuse_broken(fleet, agents):
            notify(line)
        apps = fleet.apps()
        endpoints = in_process({name: apps[name] for name in agents})
        model = fleet.models.get(POLICY)

        async def close() -> None:
            await endpoints.close()
            await fleet.close()

        return endpoints, close, model.name if model else None

    return RunSetup(
        config=resolved.config,
        parts=resolved.instances,
        sources=sources,
        benchmark=benchmark or (named if split == "benchmark" else None),
        split=split,
        datasets=datasets,
        connect=connect,
        agents=tuple(one.name for one in resolved.agents),
        judging=lambda servers: code_of(servers, resolved.roots),
        admit=admit,
    )


def remote_setup(running: RunningServers, options: RunOptions, roots: Sequence[Path]) -> RunSetup:
    """Servers of `gym env start`, by what their head says."""
    if options.input is None:
        raise RequestError("--input is missing", hint="with --no-serve the rows come from --input FILE")
    parts = instances(running.config)

    def connect(agents: Mapping[str, Sequence[Task]]) -> tuple[Endpoints, Close, str | None]:
        endpoints = over_network({name: running.agents[name] for name in agents})
        return endpoints, endpoints.close, None

    only = list(running.agents)
    _known(options.agent, only, "no server runs for the agent")
    agent = options.agent or (only[0] if len(only) == 1 else None)
    source = _given(options.input, options, roots, agent)
    return RunSetup(
        config=running.config,
        parts=parts,
        sources=(source,),
        benchmark=None,
        split=options.split,
        connect=connect,
        agents=tuple(running.agents),
        judging=lambda servers: joined([running.code_of(one.name) for one in servers]),
    )


def _sources(
    resolved: Resolved, options: RunOptions, benchmark: str | None, notify: Callable[[str], None]
) -> tuple[tuple[RowsToRun, ...], tuple[Dataset, ...], str | None]:
    agents = [one.name for one in resolved.agents]
    _known(options.agent, agents, "no agent is called")
    if options.input is not None:
        agent = options.agent or (agents[0] if len(agents) == 1 else None)
        source = _given(options.input, options, resolved.roots, agent)
        return (_prompted(source, resolved),), (), options.split
    split = options.split or ("benchmark" if benchmark else None)
    there = list(dict.fromkeys(one.type for one in resolved.datasets))
    if split is None:
        raise RequestError("--split is missing", hint=f"the config has: {', '.join(there) or 'no data sets'}")
    chosen = [one for one in resolved.datasets if one.type == split]
    mine = [one for one in chosen if one.agent == options.agent] or chosen
    if not mine:
        raise RequestError(f"the config has no {split} data set", hint=f"it has: {', '.join(there) or 'none'}")
    before = collated(options.output, split) if options.reuse else None
    if before is not None:
        return (_reused(before, options),), (), split
    return tuple(_of_dataset(resolved, options, one, notify) for one in mine), tuple(mine), split


def _known(agent: str | None, agents: Sequence[str], message: str) -> None:
    """Raise for an agent that is not there: its name would change nothing."""
    if agent is not None and agent not in agents:
        hint = suggestion(agent, agents) or f"there are: {', '.join(sorted(agents)) or 'none'}"
        raise RequestError(f"{message} {agent}", hint=hint)


def _reused(path: Path, options: RunOptions) -> RowsToRun:
    if options.repeats is not None:
        raise RequestError(
            f"the rows of {path} are repeated already",
            hint="leave out --num-repeats or reuse_existing_data_preparation",
        )
    return RowsToRun(path=path, shown=str(path))


def _of_dataset(resolved: Resolved, options: RunOptions, one: Dataset, notify: Callable[[str], None]) -> RowsToRun:
    path = ensure(resolved, one, notify)
    prompt = options.prompt_config or one.prompt_config
    return RowsToRun(
        path=path,
        shown=one.jsonl_fpath,
        agent=one.agent,
        repeats=one.num_repeats,
        prompt=read_prompt(prompt, resolved.roots) if prompt else None,
    )


def _given(name: str, options: RunOptions, roots: Sequence[Path], agent: str | None) -> RowsToRun:
    prompt = read_prompt(options.prompt_config, roots) if options.prompt_config else None
    return RowsToRun(path=find(name, roots) or Path(name), shown=name, agent=agent, prompt=prompt)


def _prompted(source: RowsToRun, resolved: Resolved) -> RowsToRun:
    """Rows without an input of their own get the prompt of the agent's data sets, where these agree on one."""
    if source.prompt is not None or any(_own_input(line.row) for line in lines(source)):
        return source
    mine = [one for one in resolved.datasets if one.prompt_config and source.agent in (None, one.agent)]
    given = source.path.resolve()
    same = [one for one in mine if _rows_of(one, resolved) == given]
    names = {one.prompt_config for one in same or mine}
    name = names.pop() if len(names) == 1 else None
    return msgspec.structs.replace(source, prompt=read_prompt(name, resolved.roots)) if name else source


def _rows_of(one: Dataset, resolved: Resolved) -> Path:
    return place(one.jsonl_fpath, resolved.roots, beside=one.prepare_script).resolve()


def _own_input(row: Row) -> bool:
    params = row.get("responses_create_params")
    return isinstance(params, Mapping) and bool(params.get("input"))
