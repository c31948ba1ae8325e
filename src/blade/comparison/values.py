"""What `blade compare` knows of two runs: whether the score changed, and where the change came from to the last digit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from blade.model.finding import Evidence
from blade.model.measure import Interval
from blade.model.run import Run


class Verdict(StrEnum):
    """Whether two runs differ; see docs/report.md."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not-comparable"


@dataclass(frozen=True, kw_only=True)
class Change:
    """A score in two runs on the tasks that they share, and how sure the difference is."""

    baseline: float | None
    candidate: float | None
    delta: float | None
    interval: Interval | None
    interval90: Interval | None
    p_value: float | None
    method: str
    n: int
    """Tasks."""
    mde: float | None
    equivalence_bound: float | None
    verdict: Verdict
    because: str
    identical: bool = False
    """Every task has the same outputs and rewards in both runs."""
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Joined:
    """Which tasks are the same in both runs, and how that is known."""

    pairs: tuple[tuple[str, str], ...]
    only_baseline: tuple[str, ...]
    only_candidate: tuple[str, ...]
    joined_by: Mapping[str, int]
    key_changed: tuple[str, ...]
    unproven: int
    id_conflict: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Term:
    """One step from the baseline's score to the candidate's."""

    term: str
    points: float
    interval: Interval | None
    rollouts: int
    """Cells of the class in both runs; for what is not a class, cells of the tasks that it moves."""
    tasks: int
    """Tasks that it moves."""
    score_after: float
    """The score once this step is taken, on each run's own tasks for `task_set`, else on joined ones with that term."""
    what: str
    """In a sentence, with counts."""
    evidence: tuple[Evidence, ...] = ()
    places: tuple[str, ...] = ()
    slices: tuple[SliceChange, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SliceChange:
    """The change in one slice of the joined tasks."""

    field: str
    value: str
    tasks: int
    baseline: float
    candidate: float
    p_value: float | None
    q_value: float | None


@dataclass(frozen=True, kw_only=True)
class Held:
    """One thing that may or may not have been held fixed."""

    aspect: str
    state: str
    """same, changed, or not recorded."""
    baseline: str | None = None
    candidate: str | None = None
    note: str = ""
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Flip:
    """A task that changed its bucket."""

    task_id: str
    """In the baseline."""
    candidate_id: str
    before: str
    after: str
    baseline_passed: str
    """`3 of 4`."""
    candidate_passed: str
    places: tuple[str, ...]
    """A rollout of each run that shows it, baseline first."""
    parting: str = ""
    """Where the one that fails leaves the way of the one that passes."""


@dataclass(frozen=True, kw_only=True)
class Shift:
    """A mode or a rule that is commoner in one run than in the other."""

    kind: str
    """mode or rule."""
    id: str
    name: str
    baseline: int
    candidate: int
    baseline_of: int
    candidate_of: int
    """Rollouts that were looked at."""
    q_value: float | None
    matters: str
    """How it goes with failing, in words."""

    @property
    def is_new(self) -> bool:
        return self.baseline == 0 < self.candidate

    @property
    def is_gone(self) -> bool:
        return self.candidate == 0 < self.baseline


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Tokens, time or cost a rollout, in both runs."""

    name: str
    baseline: float | None
    candidate: float | None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two runs of one benchmark, set against each other."""

    baseline: Run
    candidate: Run
    headline: str
    joined: Joined
    own: tuple[float | None, float | None]
    """The all-expected score of each run on its own tasks."""
    expected: Change
    """All expected rollouts: the verdict is about this."""
    judged: Change
    """Judged rollouts only."""
    ledger: tuple[Term, ...]
    held: tuple[Held, ...]
    transitions: Mapping[tuple[str, str], int]
    """Tasks by bucket before and after."""
    flips: tuple[Flip, ...]
    slices: tuple[SliceChange, ...]
    shifts: tuple[Shift, ...]
    spent: tuple[Spent, ...]
    traps: tuple[str, ...] = ()
    """What would mislead a reader who only saw the two scores."""
    margin: float = 0.02
    notes: tuple[str, ...] = field(default_factory=tuple)

    def __repr__(self) -> str:
        change = f"{self.expected.delta:+.3f}" if self.expected.delta is not None else "no difference known"
        names = f"{self.baseline.name!r} -> {self.candidate.name!r}"
        return f"Comparison({names}: {self.verdict}, {change} over {self.expected.n} shared tasks)"

    @property
    def verdict(self) -> Verdict:
        return self.expected.verdict

    @property
    def delta(self) -> float | None:
        """The change on each run's own tasks; the ledger sums to it."""
        before, after = self.own
        return after - before if before is not None and after is not None else None
