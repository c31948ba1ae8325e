"""What `blade health` knows of a benchmark: whether it deserves the trust, and which tasks do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from blade.model.finding import Evidence

SUSPECT = 0.5
"""From this suspicion on a task is called suspect."""


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One signal against a task."""

    code: str
    message: str
    weight: float
    run: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """One task: how suspect it is, what speaks against it and what for it."""

    task_id: str
    suspicion: float
    reasons: tuple[Reason, ...]
    speaks_for: tuple[str, ...]
    passed: int
    judged: int


@dataclass(frozen=True, kw_only=True)
class Question:
    """One of the six questions, with its answer: yes, no, or cannot be known."""

    name: str
    question: str
    answer: str
    because: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What it takes to see an effect: repeats on these tasks, or tasks at these repeats; None where none is enough."""

    effect: float
    repeats: int | None
    tasks: int


@dataclass(frozen=True, kw_only=True)
class Health:
    """A benchmark by its runs."""

    benchmark: str | None
    runs: tuple[str, ...]
    models: int
    tasks: int
    questions: tuple[Question, ...]
    saturation: float | None
    """Share of tasks that every judged rollout of every run passes."""
    never: float | None
    """Share of tasks that no rollout of any run passes."""
    floor: float | None
    floor_how: str
    discrimination: float | None
    reliability: float | None
    noise: float | None
    """Standard error of a score when the same tasks are run again."""
    mde: float | None
    plans: tuple[Plan, ...]
    suspects: tuple[Suspect, ...]
    """Every task, most suspect first."""
    settled: tuple[str, ...]
    """Tasks whose repeats all agree, three or more of them."""
    worth_running: tuple[str, ...]
    """Tasks whose repeats disagree, or that were not judged."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a number is missing."""

    def __repr__(self) -> str:
        noise = f"standard error {self.noise:.3f}" if self.noise is not None else "noise not known"
        return f"Health({self.benchmark!r}, {len(self.runs)} runs, {self.tasks} tasks, {noise})"
