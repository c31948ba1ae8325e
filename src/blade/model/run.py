"""A run, and the schema of its tables as data.

The tables are polars frames; `blade sql` exposes exactly these columns. Types are named here and made in ingest,
so that this package needs no table library. Locations are written TASK, TASK#REPEAT or TASK#REPEAT:STEP.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from blade.model.errors import ArtifactError, RequestError
from blade.model.reading import NO_READINGS, Readings
from blade.model.roles import NO_ROLES, Roles
from blade.model.rollout import Problem, Rollout

if TYPE_CHECKING:
    import polars as pl

    from blade.custom_rules import RuleBook

ROLLOUTS: dict[str, tuple[str, str]] = {
    "run": ("String", "name of the run"),
    "task_id": ("String", "the task; unique within the run"),
    "repeat": ("Int32", "index of the rollout within its task"),
    "attempt": ("Int32", "retry by the runner, where stamped"),
    "agent": ("String", "agent that made the rollout"),
    "model": ("String", "model that made the rollout"),
    "outcome": ("String", "passed, failed, errored, unscored"),
    "reward": ("Float64", "finite reward as recorded"),
    "error_class": ("String", "class of the error that is recorded"),
    "stop": ("String", "why the rollout ended, where recorded"),
    "answer": ("String", "extracted answer, at most 200 characters"),
    "answer_fp": ("UInt64", "fingerprint of the whole answer"),
    "output_fp": ("UInt64", "fingerprint of assistant texts, tool names and arguments; null when empty"),
    "steps": ("Int32", "steps of the trajectory"),
    "calls": ("Int32", "tool calls"),
    "tool_errors": ("Int32", "results that report an error"),
    "agent_chars": ("Int64", "characters that the agent wrote"),
    "input_tokens": ("Int64", "prompt tokens; all-zero usage is null"),
    "output_tokens": ("Int64", "completion tokens; all-zero usage is null"),
    "seconds": ("Float64", "duration, where recorded; else from the first stamp to the last"),
    "cost": ("Float64", "cost, where recorded"),
    "skeleton": ("List(UInt16)", "tools called, in order, as indexes into `tools`"),
    "fired": ("List(Struct)", "where rules fired: code, step, field, start, length; at most 3 a rule"),
    "cannot_check": ("List(String)", "rules that could not look"),
    "checks_met": ("Int32", "tests and criteria that hold"),
    "checks_asked": ("Int32", "tests and criteria in all"),
    "differs": ("List(Difference)", "how a judged rollout differs from what was due: kind, name, detail, step"),
    "attempted": ("Boolean", "whether the core action was attempted: a change, a patch or an answer"),
    "feedback": ("Boolean", "whether a tool or test result came after the core action; null where none can"),
    "reached": ("List(String)", "stages of the package's funnel that it reached"),
    "signs": ("List(Sign)", "facts that an attribution may rest on: kind, subject, quote, field, step"),
    "statuses": ("List(Status)", "short values that name how it ended: field, value"),
    "phases": (
        "List(Phase)",
        "parts of its time: name (setup, agent, grading, total, or the field's own), seconds, field",
    ),
    "artifact": ("String", "file of the row"),
    "member": ("String", "member of an archive or document"),
    "offset": ("Int64", "first byte of the row"),
    "length": ("Int64", "bytes of the row"),
    "line": ("Int64", "line of the row, from 1"),
}

TASKS: dict[str, tuple[str, str]] = {
    "run": ("String", "name of the run"),
    "task_id": ("String", "the task"),
    "index": ("Int64", "`_ng_task_index`, the join key of sidecars"),
    "id_kind": ("String", "what the task is known by: id, position, key+prompt, key, prompt, line"),
    "id_mark": ("String", "the id that the artifact gives, where there is one"),
    "key_fp": ("UInt64", "fingerprint of the task's own fields"),
    "prompt_fp": ("UInt64", "fingerprint of the prompt"),
    "expected": ("String", "expected answer, at most 200 characters"),
    "key_expects": ("String", "what a key of actions wants: nothing, information, one change, several changes"),
    "repeats_expected": ("Int32", "rollouts that the run should hold"),
    "key_artifact": ("String", "file that holds the key, where the rollouts' own rows do not"),
    "key_offset": ("Int64", "first byte of the row that holds the key"),
    "group": ("String", "the unit that intervals rest on, where `--group` names a field"),
}
"""Besides these, one `slice.<field>` column for each slice."""

CHECKS: dict[str, tuple[str, str]] = {
    "run": ("String", "name of the run"),
    "task_id": ("String", "the task"),
    "repeat": ("Int32", "the rollout"),
    "name": ("String", "test or criterion"),
    "passed": ("Boolean", "its verdict"),
}


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a run: what it is, and how many rows it gave."""

    path: str
    """As shown to people: relative to the folder that holds all files of the run."""
    role: str
    """rollouts, inputs, failures, aggregate, profile, agent-metrics, config, manifest, inspect."""
    format: str
    rows: int = 0
    bytes: int = 0
    note: str = ""


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """A number that a sidecar states about a run, or about one task when `index` is given."""

    name: str
    value: float
    source: str
    index: int | None = None


class PublishedNumber(msgspec.Struct, frozen=True, kw_only=True):
    """A number that somebody published for the run's model on its benchmark."""

    metric: str
    """`pass@1`, `pass@4`, `mean_reward` and the like."""
    value: float
    """As published: a share, or percent where it is above 1."""
    source: str
    model: str = ""


class RecordedNumber(msgspec.Struct, frozen=True, kw_only=True):
    """A number that a sidecar states, beside the same number made from the rows."""

    name: str
    source: str
    recorded: float
    recomputed: float | None
    """Over the rollouts with a verdict."""
    all_expected: float | None = None
    """Over all expected rollouts, where it differs: without a verdict they count as failures, as many harnesses have it."""
    reason: str | None = None
    """Why it could not be made again."""

    @property
    def agrees(self) -> bool | None:
        """Whether one of the readings gives it, to about nine digits; None when it could not be made again."""
        return None if self.recomputed is None else self.reading is not None

    @property
    def reading(self) -> Literal["judged", "all expected"] | None:
        """Which rollouts the recorded number is over; None where no reading gives it."""
        if _is_close(self.recorded, self.recomputed):
            return "judged"
        return "all expected" if _is_close(self.recorded, self.all_expected) else None


def _is_close(one: float, other: float | None) -> bool:
    return other is not None and abs(one - other) <= 1e-9 * max(1.0, abs(one), abs(other))


class SchemaField(msgspec.Struct, frozen=True, kw_only=True):
    """One field of the artifact: how often it was seen, and what it was taken as."""

    path: str
    seen: int
    rows: int
    taken_as: str
    """Empty when nobody reads it."""


class Run(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """All rollouts of one model and settings on one benchmark."""

    name: str
    benchmark: str | None = None
    model: str | None = None
    agent: str | None = None
    settings: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Sampling, limits and the like, where the artifacts record them."""
    rollouts: pl.DataFrame
    tasks: pl.DataFrame
    checks: pl.DataFrame
    tools: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    schema: tuple[SchemaField, ...] = ()
    roles: Roles = NO_ROLES
    """What the fields of the rows mean; of several files, the fields of the first."""
    pass_threshold: float = 1.0
    expected_from: str | None = None
    """Where the expected rollouts come from: inputs, manifest, inspect, user, inferred; None when they are not known."""
    expected_why_not: str = ""
    """Why the expected rollouts are not known."""
    stated: tuple[Stated, ...] = ()
    """What sidecars say about the run."""
    reported: tuple[PublishedNumber, ...] = ()
    """What was published for this model on this benchmark, where the run's manifest says so."""
    problem_count: int = 0
    """All problems, also those beyond the list."""
    duplicates: int = 0
    """Rows left out because an equal or better row has their rollout key."""
    excluded: tuple[str, ...] = ()
    """What the user asked to leave out."""
    surprises: tuple[str, ...] = ()
    """Where the rows do not fit what was expected; page one says so."""
    notes: tuple[str, ...] = ()
    """Things about identity and shape that a reader of the numbers must know."""
    roots: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Where each artifact is on this machine; written out only relative to the folder of an analysis."""
    field_map: tuple[tuple[str, str], ...] = ()
    """What the user said that fields of the rows are."""
    rule_book_name: str | None = None
    """File and hash of the package whose rules looked at the rollouts."""
    rule_book: RuleBook | None = None
    """The custom rules themselves, where the run was read with some."""
    readings: Readings = NO_READINGS
    """What readers say of its rollouts."""
    read: ReadRollouts | None = None
    """Reads rollouts again from the artifacts; None when they are out of reach."""

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {self.tasks.height} tasks, {self.rollouts.height} rollouts)"

    @property
    def table(self) -> pl.DataFrame:
        """The rollouts, one row each."""
        return self.rollouts

    def __getitem__(self, ref: object) -> Rollout:
        """The rollout of a task and repeat, with its steps; raises when there is none."""
        if not isinstance(ref, tuple) or len(ref) != 2:
            raise RequestError(f"{ref!r} names no rollout", hint="write run[TASK, REPEAT], for example run['39', 1]")
        task_id, repeat = ref
        return self.reread([(str(task_id), int(repeat))])[0]

    def reread(self, refs: Sequence[tuple[str, int]]) -> list[Rollout]:
        """The rollouts of some tasks and repeats, in that order; raises when the artifacts are out of reach or have changed."""
        if self.read is None:
            raise ArtifactError(
                f"the artifacts of run {self.name} cannot be read again", hint="analyze the rollouts file itself"
            )
        return self.read(self, refs)


ReadRollouts = Callable[[Run, Sequence[tuple[str, int]]], list[Rollout]]

_LOCATION = re.compile(r"^(?P<task>.+)#(?P<repeat>\d+)(?::(?P<step>\d+))?$")


def parse_location(run: Run, location: str) -> tuple[str, int, int | None]:
    """Task, repeat and step; a task alone stands for its only rollout."""
    known = set(run.tasks["task_id"])
    if location in known:
        repeats = run.rollouts.filter(run.rollouts["task_id"] == location)["repeat"].to_list()
        if len(repeats) == 1:
            return location, repeats[0], None
        raise RequestError(
            f"task {location} has {len(repeats)} rollouts",
            hint="say which: " + ", ".join(f"{location}#{r}" for r in repeats[:8]),
        )
    match = _LOCATION.match(location)
    if match is None:
        raise RequestError(
            f"{location!r} is no location", hint="write TASK#REPEAT or TASK#REPEAT:STEP, for example 39#1:6"
        )
    return match["task"], int(match["repeat"]), int(match["step"]) if match["step"] else None


def task_of(run: Run, location: str) -> str:
    """The task that a user names, by itself or by a location in it."""
    match = _LOCATION.match(location)
    return match["task"] if match is not None and location not in set(run.tasks["task_id"]) else location


def one_run(runs: Sequence[Run], path: str, name: str | None) -> Run:
    """The run that is meant; raises when there are several and none is named, or none has the name."""
    chosen = [run for run in runs if name in (None, run.name)]
    names = ", ".join(run.name for run in runs)
    if name is not None and not chosen:
        raise RequestError(f"no run is called {name!r}", hint=f"runs here: {names}")
    if len(chosen) != 1:
        raise RequestError(f"{path} holds {len(runs)} runs: {names}", hint="choose one with --run NAME")
    return chosen[0]


def step_range(text: str) -> range:
    """`4:12`, `4:` or `7` as steps, both ends included."""
    match = re.match(r"^(\d+)(?:(:)(\d*))?$", text)
    if match is None:
        raise RequestError(f"{text!r} is no range of steps", hint="write --steps 4:12")
    first = int(match[1])
    last = first if match[2] is None else int(match[3]) if match[3] else 1 << 30
    return range(first, last + 1)
