"""What `blade health` knows of a benchmark: whether it deserves the trust, and which tasks do not.

`Health` has the fields of health.json in their order, so that it encodes itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from blade.model.analysis import SCHEMA_VERSION

SUSPECT = 0.5
"""From this suspicion on a task is called suspect."""


class Quoted(Struct, frozen=True, kw_only=True):
    """Words of a rollout, and where they stand."""

    location: str
    """`TASK#REPEAT:STEP`; without a step where the words are of the row itself."""
    task_id: str
    repeat: int
    step: int | None
    field: str
    quote: str


class Reason(Struct, frozen=True, kw_only=True):
    """One signal against a task."""

    code: str
    message: str
    run: str
    evidence: tuple[Quoted, ...] = ()


class Suspect(Struct, frozen=True, kw_only=True):
    """One task: how suspect it is, what speaks against it and what for it."""

    task_id: str
    suspicion: float
    passed: int
    judged: int
    reasons: tuple[Reason, ...]
    speaks_for: tuple[str, ...]


class Question(Struct, frozen=True, kw_only=True):
    """One of the six questions, with its answer: yes, no, or cannot be known."""

    name: str
    question: str
    answer: str
    because: str


class BenchmarkNumbers(Struct, frozen=True, kw_only=True):
    """A benchmark in numbers; what is not known is None, and `Health.reasons` says why."""

    name: str | None
    tasks: int
    runs: tuple[str, ...]
    saturation: float | None
    """Share of tasks that every judged rollout of every run passes."""
    never_passed: float | None
    """Share of tasks that no rollout of any run passes."""
    floor: float | None
    floor_how: str
    discrimination: float | None
    """Mean correlation of a task's scores with the runs' scores on the other tasks."""
    reliability: float | None
    noise: float | None
    """Standard error of a score when the same tasks are run again."""
    mde: float | None
    """The effect that two runs of this size show with 80 % power."""
    repeats_needed: Mapping[str, int | None]
    """By effect: repeats on these tasks that show it; None where no number is enough."""
    tasks_needed: Mapping[str, int]
    """By effect: tasks that show it at these repeats."""


class Health(Struct, frozen=True, kw_only=True):
    """A benchmark by its runs: the content of health.json."""

    schema_version: str = SCHEMA_VERSION
    questions: tuple[Question, ...]
    benchmark: BenchmarkNumbers
    settled: tuple[str, ...]
    """Tasks whose repeats all agree, three or more of them."""
    worth_running: tuple[str, ...]
    """Tasks whose repeats disagree, or that were not judged."""
    tasks: tuple[Suspect, ...]
    """Every task, most suspect first."""
    left_off: int = 0
    """Tasks that are not listed, where the document was shortened."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a number is missing."""

    def __repr__(self) -> str:
        return f"Health({self.benchmark.name or 'a benchmark'!r}: {self.suspects} of {len(self.tasks)} tasks suspect)"

    @property
    def suspects(self) -> int:
        """How many tasks are suspect."""
        return sum(task.suspicion >= SUSPECT for task in self.tasks)
