"""Which rollouts a run makes: tasks numbered, limited, cut into shards, repeated, with prompts, sampling and skills."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.catalog.skills import SkillsPrompt
from blade_gym.config.servers import AGENTS
from blade_gym.environment import Task
from blade_gym.run.artifacts import REPEAT, TASK
from blade_gym.run.dataset import RowsToRun, SourceLine, lines

DEFAULT = "_default"
MOST_LISTED = 10
Repeats = int | Mapping[str, int] | None
"""For all agents, by agent with `_default`, or as the data set says."""


class PlanOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asks of the plan."""

    agent: str | None = None
    """For rows that name no agent."""
    agents: Sequence[str] | None = None
    """Those that there are; a row for another is refused. None where nobody knows."""
    limit: int | None = None
    """Tasks, not rollouts."""
    repeats: Repeats = None
    sampling: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """Laid over each row's `responses_create_params`."""
    add_seed: bool = False
    skills: SkillsPrompt | None = None
    shard: Shard | None = None


class PlannedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task of the whole run, whichever shard it is in."""

    index: int
    agent: str
    place: str
    """File and line."""
    rollouts: int
    row: Mapping[str, Any]
    """As the data set has it."""
    params: Mapping[str, Any]
    """What is asked, before seeds."""


class RolloutPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The materialized inputs, a row a rollout."""

    rows: tuple[dict[str, Any], ...]
    whole: tuple[PlannedTask, ...]
    """The tasks of all shards: what makes shards one run must not depend on which of them asks."""
    add_seed: bool
    skills: SkillsPrompt | None
    tasks: int
    lines: int
    """Rows of the data sets before limit and shard."""
    repeats: Mapping[str, int | None]
    """By agent; None where its data sets differ."""
    notices: tuple[str, ...] = ()

    @property
    def agents(self) -> list[str]:
        """Agents that the whole run asks, in order of name."""
        return sorted({task.agent for task in self.whole})

    @property
    def tasks_by_agent(self) -> dict[str, list[Task]]:
        """The rows of the whole run with what is asked, by agent."""
        found: dict[str, list[Task]] = {}
        for task in self.whole:
            row = {**task.row, "responses_create_params": dict(task.params)}
            found.setdefault(task.agent, []).append(Task(row=row, place=task.place))
        return found


class _Task(msgspec.Struct, kw_only=True):
    line: SourceLine
    index: int
    agent: str
    copies: int = 1
    """Lines that say the same: more rollouts of the one task."""


def make_plan(sources: Sequence[RowsToRun], options: PlanOptions) -> RolloutPlan:
    """The plan; raises with the place for a row that cannot be run."""
    if options.limit is not None and options.limit < 1:
        raise RequestError(f"--limit counts tasks, from 1; not {options.limit}", hint="leave it out for all tasks")
    read = [line for source in sources for line in lines(source)]
    if not read:
        raise RequestError(
            "the data sets have no rows: " + ", ".join(source.shown for source in sources),
            hint="each line is a JSON object with responses_create_params",
        )
    tasks = _tasks(read, options)
    kept = tasks[: options.limit]
    given = _repeats(options.repeats, {task.agent for task in kept})
    whole = tuple(_planned(task, given.get(task.agent), options) for task in kept)
    mine = [task for position, task in enumerate(whole) if options.shard is None or options.shard.takes(position)]
    rows = tuple(row for task in mine for row in _rollouts(task, options))
    copies = sum(task.copies - 1 for task in tasks)
    notices = (
        [f"lines that repeat another word for word, which are more rollouts of one task: {copies}"] if copies else []
    )
    notices += _unused(options, {task.agent for task in kept})
    return RolloutPlan(
        rows=rows,
        whole=whole,
        add_seed=options.add_seed,
        skills=options.skills,
        tasks=len(mine),
        lines=len(read),
        repeats=given or _own(kept),
        notices=tuple(notices),
    )


def _tasks(read: Sequence[SourceLine], options: PlanOptions) -> list[_Task]:
    """A task for each different line, numbered: as its row says, or by the lowest number that nobody has."""
    stamped = {line.row[TASK] for line in read if _is_index(line.row.get(TASK))}
    free = (number for number in range(len(read) + len(stamped)) if number not in stamped)
    tasks: dict[tuple[str, bytes], _Task] = {}
    nameless = []
    other_agents: dict[tuple[str, str], list[int]] = {}
    for line in read:
        agent = _agent(line, options)
        if agent is None:
            nameless.append(line.place)
            continue
        if options.agents is not None and agent not in options.agents:
            other_agents.setdefault((line.source.shown, agent), []).append(line.number)
            continue
        known = tasks.get((agent, line.text))
        if known is not None:
            known.copies += 1
            continue
        index = line.row[TASK] if _is_index(line.row.get(TASK)) else next(free)
        tasks[agent, line.text] = _Task(line=line, index=index, agent=agent)
    if nameless:
        raise RequestError(f"No agent specified for rows [{_first(nameless)}]", hint="give --agent NAME")
    if other_agents:
        raise RequestError(
            f"rows are for agents that are not there: {_other_agents(other_agents)}",
            hint=f"there are: {', '.join(sorted(options.agents or ())) or 'none'}; set agent_ref.name of these rows to one "
            "of them, or remove agent_ref and give --agent NAME",
        )
    _no_twins(tasks.values())
    return list(tasks.values())


def _first(places: Sequence[str]) -> str:
    more = "" if len(places) <= MOST_LISTED else f" and {len(places) - MOST_LISTED} more"
    return ", ".join(places[:MOST_LISTED]) + more


def _other_agents(rows: Mapping[tuple[str, str], Sequence[int]]) -> str:
    """Each file once, with its lines."""
    return "; ".join(
        f"{shown} has {'line' if len(numbers) == 1 else 'lines'} {_first([str(one) for one in numbers])} for {agent}"
        for (shown, agent), numbers in rows.items()
    )


def _no_twins(tasks: Any) -> None:
    twins = sorted(index for index, count in Counter(task.index for task in tasks).items() if count > 1)
    if twins:
        raise RequestError(f"different rows have the same {TASK}: {twins[:MOST_LISTED]}", hint="stamp each task once")


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _agent(line: SourceLine, options: PlanOptions) -> str | None:
    """The row's own agent first, then the data set's, then the command line's."""
    reference = line.row.get("agent_ref")
    if not isinstance(reference, Mapping | None):
        raise RequestError(f"{line.place}: agent_ref is an object with the name of an agent, not {reference!r}")
    own = reference.get("name") if reference else None
    return str(own) if own else line.source.agent or options.agent


def _own(tasks: Sequence[_Task]) -> dict[str, int | None]:
    """What the data sets say, by agent."""
    found: dict[str, set[int]] = {}
    for task in tasks:
        found.setdefault(task.agent, set()).add(task.line.source.repeats)
    return {name: counts.pop() if len(counts) == 1 else None for name, counts in sorted(found.items())}


def _repeats(wanted: Repeats, agents: Set[str]) -> dict[str, int]:
    """Repeats by agent, where the command line gives them; all agents that it does not count are named in one error."""
    if wanted is None:
        return {}
    given = {DEFAULT: wanted} if isinstance(wanted, int) else dict(wanted)
    bad = {name: count for name, count in given.items() if not _is_index(count) or count < 1}
    if bad:
        told = ", ".join(f"{count!r}" if name == DEFAULT else f"{count!r} for {name}" for name, count in bad.items())
        raise RequestError(f"--num-repeats is a whole number from 1, not {told}", hint="--num-repeats 4")
    missing = sorted(name for name in agents if name not in given and DEFAULT not in given)
    if missing:
        raise RequestError(f"--num-repeats does not say how often: {', '.join(missing)}", hint=f"add {DEFAULT}: N")
    return {name: given.get(name, given.get(DEFAULT, 1)) for name in sorted(agents)}


def _unused(options: PlanOptions, agents: set[str]) -> list[str]:
    wanted = options.repeats
    names = sorted(set(wanted) - agents - {DEFAULT}) if isinstance(wanted, Mapping) else []
    told = [f"--num-repeats names agents that no row is for: {', '.join(names)}"] if names else []
    if options.agent is not None and options.agent not in agents:
        told.append(f"--agent {options.agent} is asked nothing: the rows are for {', '.join(sorted(agents))}")
    return told


def _planned(task: _Task, repeats: int | None, options: PlanOptions) -> PlannedTask:
    rollouts = task.copies * (repeats or task.line.source.repeats)
    params = _params(task.line, options)
    return PlannedTask(
        index=task.index,
        agent=task.agent,
        place=task.line.place,
        rollouts=rollouts,
        row=task.line.row,
        params=params,
    )


def _rollouts(task: PlannedTask, options: PlanOptions) -> Iterator[dict[str, Any]]:
    kept = {name: value for name, value in task.row.items() if name not in (TASK, REPEAT, "agent_ref")}
    skills = {"skills_ref": dict(options.skills.ref)} if options.skills else {}
    for repeat in range(task.rollouts):
        yield {
            **kept,
            "responses_create_params": _seeded(task.params, repeat) if options.add_seed else dict(task.params),
            "agent_ref": {"type": AGENTS, "name": task.agent},
            **skills,
            TASK: task.index,
            REPEAT: repeat,
        }


def _params(line: SourceLine, options: PlanOptions) -> dict[str, Any]:
    given = line.row.get("responses_create_params")
    prompt = line.source.prompt
    if given is None and prompt is None:
        raise RequestError(
            f"{line.place}: no responses_create_params",
            hint="give --prompt-config FILE, or rows with responses_create_params.input",
        )
    if not isinstance(given, dict | None):
        raise RequestError(
            f"{line.place}: responses_create_params is not an object",
            hint='it holds the request to the model, such as {"input": [{"role": "user", "content": "..."}]}',
        )
    params = dict(given or {})
    if prompt is not None:
        if params.get("input"):
            raise RequestError(
                f"{line.place}: the row has responses_create_params.input and a prompt config is given: "
                "they are mutually exclusive",
                hint="leave out --prompt-config",
            )
        params["input"] = prompt.fill(line.row, line.place)
    if not isinstance(params.get("input"), str | list):
        raise RequestError(
            f"{line.place}: responses_create_params.input is a text or a list of messages, not {params.get('input')!r}",
            hint="this field holds the prompt sent to the model",
        )
    params |= options.sampling
    if options.skills:
        own = params.get("instructions")
        params["instructions"] = f"{own}\n\n{options.skills.text}" if own else options.skills.text
    return params


def _seeded(params: Mapping[str, Any], repeat: int) -> dict[str, Any]:
    metadata = dict(params.get("metadata") or {})
    text = metadata.get("extra_body")
    try:
        extra = json.loads(text) if isinstance(text, str) else {}
    except ValueError:
        extra = {}
    metadata["extra_body"] = json.dumps({**extra, "seed": repeat} if isinstance(extra, dict) else {"seed": repeat})
    return {**params, "metadata": metadata}


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """The `number`-th of `of` shards, from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def others(self) -> list[Shard]:
        """The other shards of the same cut."""
        return [Shard(number=one, of=self.of) for one in range(1, self.of + 1) if one != self.number]

    def takes(self, position: int) -> bool:
        """Whether the task at a position of the whole plan is of this shard."""
        return position % self.of == self.number - 1


def parse_shard(text: str) -> Shard:
    """`2/4` as a value; raises for anything else."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
    shard = Shard(number=int(found[1]), of=int(found[2])) if found else None
    if shard is None or not 1 <= shard.number <= shard.of:
        raise RequestError(f"--shard is i/n with i from 1 to n, not {text!r}", hint="--shard 1/4")
    return shard
