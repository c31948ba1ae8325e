"""What `blade compare` knows of two runs: whether the score changed, and where the change came from to the last digit.

Values that `comparison.json` holds have the names and the order of its fields, so that they encode themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct, field

from blade.model.run import Run

Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Ids of the tasks that both runs have, in the baseline and in the candidate."""
Limits: TypeAlias = tuple[float, float]
"""Lower and upper limit of an interval."""


class ComparisonVerdict(StrEnum):
    """Whether two runs differ; see docs/report.md."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not-comparable"


class ScoreChange(Struct, frozen=True, kw_only=True):
    """A score in two runs on the tasks that they share, and how sure the difference is."""

    baseline: float | None
    candidate: float | None
    delta: float | None
    verdict: ComparisonVerdict
    ci: Limits | None
    """95 %."""
    ci90: Limits | None
    """90 %, the interval that equivalence and the gate are decided by."""
    p_value: float | None
    method: str
    mde: float | None
    equivalence_bound: float | None
    n: int
    """Tasks."""
    reason: str | None = None
    """Why there are no limits."""
    because: str
    """Why the verdict is what it is."""
    identical: bool = False
    """Every task has the same outputs and rewards in both runs."""


class TaskPairing(Struct, frozen=True, kw_only=True):
    """Which tasks are the same in both runs, and how that is known."""

    shared: int
    only_baseline: tuple[str, ...]
    only_candidate: tuple[str, ...]
    joined_by: Mapping[str, int]
    key_changed: tuple[str, ...]
    unproven: int
    id_conflict: tuple[str, ...]


class SliceChange(Struct, frozen=True, kw_only=True):
    """The change in one slice of the joined tasks."""

    field: str
    value: str
    tasks: int
    baseline: float
    candidate: float
    p_value: float | None
    q_value: float | None


class LedgerTerm(Struct, frozen=True, kw_only=True):
    """One step from the baseline's score to the candidate's."""

    term: str
    points: float
    ci: Limits | None
    rollouts: int
    """Cells of the class in both runs; for what is not a class, cells of the tasks that it moves."""
    tasks: int
    """Tasks that it moves."""
    score_after: float
    """The score once this step is taken, on each run's own tasks for `task_set`, else on joined ones with that term."""
    what: str
    """In a sentence, with counts."""
    evidence: tuple[str, ...] = ()
    """Locations of rollouts that show it."""
    slices: tuple[SliceChange, ...] = ()


class HeldFixed(Struct, frozen=True, kw_only=True):
    """Whether one thing was the same in both runs."""

    state: str
    """same, changed, or not recorded."""
    baseline: str | None = None
    candidate: str | None = None
    note: str = ""
    diff: tuple[str, ...] = ()


class Transition(Struct, frozen=True, kw_only=True):
    """How many tasks went from one bucket to another, or stayed in it."""

    before: str = field(name="from")
    after: str = field(name="to")
    tasks: int


class Flip(Struct, frozen=True, kw_only=True):
    """A task that changed its bucket."""

    task_id: str
    """In the baseline."""
    candidate_id: str
    before: str = field(name="from")
    after: str = field(name="to")
    baseline_passed: str
    """`3 of 4`."""
    candidate_passed: str
    locations: tuple[str, ...]
    """A rollout of each run that shows it, baseline first."""
    parting: str = ""
    """Where the failing rollout leaves the way of the passing one."""


class Shift(Struct, frozen=True, kw_only=True):
    """A mode or a rule that is more common in one run than in the other."""

    kind: str
    """mode or rule."""
    id: str
    name: str
    baseline: int
    candidate: int
    baseline_of: int
    candidate_of: int
    """Rollouts that were checked."""
    is_new: bool = field(name="new")
    """No rollout of the baseline has it."""
    is_gone: bool = field(name="gone")
    """No rollout of the candidate has it."""
    q_value: float | None
    matters: str
    """How it goes with failing, in words."""


class Spent(Struct, frozen=True, kw_only=True):
    """Mean tokens, time or cost per rollout, in both runs."""

    baseline: float | None
    candidate: float | None


class Comparison(Struct, frozen=True, kw_only=True):
    """Two runs of one benchmark, set against each other."""

    baseline: Run
    candidate: Run
    headline: str
    pairing: TaskPairing
    own: tuple[float | None, float | None]
    """The all-expected score of each run on its own tasks."""
    expected: ScoreChange
    """All expected rollouts: the verdict is about this."""
    judged: ScoreChange
    """Judged rollouts only."""
    ledger: tuple[LedgerTerm, ...]
    held_fixed: Mapping[str, HeldFixed]
    """By aspect."""
    transitions: tuple[Transition, ...]
    """Tasks by bucket before and after."""
    flips: tuple[Flip, ...]
    slices: tuple[SliceChange, ...]
    shifts: tuple[Shift, ...]
    spent: Mapping[str, Spent]
    traps: tuple[str, ...]
    """What would mislead a reader who only saw the two scores."""
    margin: float

    def __repr__(self) -> str:
        change = f"{self.delta * 100:+.1f} points" if self.delta is not None else "no score"
        return f"Comparison({self.baseline.name!r} -> {self.candidate.name!r}: {self.verdict}, {change})"

    @property
    def verdict(self) -> ComparisonVerdict:
        """Of all expected rollouts."""
        return self.expected.verdict

    @property
    def delta(self) -> float | None:
        """The change on each run's own tasks; the ledger sums to it."""
        before, after = self.own
        return after - before if before is not None and after is not None else None
