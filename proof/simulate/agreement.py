"""How right the attributions of a run are: rollout by rollout, against what was planted there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import reduce

from proof.simulate.modes import UNATTRIBUTED, group_of, is_machinery, same_party
from proof.simulate.tally import Tally, summed
from proof.simulate.truth import RolloutTruth, RunTruth, Truth

PROVEN = "proven"
CERTAIN_ENOUGH = ("proven", "likely")
"""Confidences with which a rollout may be taken out of a score; `suspected` accuses nobody."""
NOTHING = "nothing"
"""Said of a failure of which the table has no row."""
NO_TALLY = Tally()
DOUBTED = "pass-to-doubt"
"""Stands beside a pass that the analysis lists among those to doubt."""
MACHINES = ("harness", "environment", "verifier")


@dataclass(frozen=True, kw_only=True)
class Said:
    """One row of the table `attributions`."""

    mode: str | None
    party: str
    confidence: str | None
    also: tuple[str, ...] = ()
    valid: bool | None = None
    """Whether it was validly graded; None where the table does not say."""

    @property
    def infrastructure(self) -> bool:
        """Whether the rollout counts as one that no agent is to blame for, and that was not judged."""
        machine = is_machinery(self.mode or "") if self.valid is None else self.valid is False
        return self.mode is not None and machine and self.party in MACHINES and self.confidence in CERTAIN_ENOUGH


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Some runs, or several worlds together."""

    rollouts: int = 0
    """Failures that were planted or slipped, missing rows included."""
    group: int = 0
    mode: int = 0
    party: int = 0
    unattributed: int = 0
    """Failures that are called unattributed, or of which nothing is said."""
    by_mode: Mapping[str, Tally] = field(default_factory=dict)
    by_group: Mapping[str, Tally] = field(default_factory=dict)
    by_mechanism: Mapping[str, Tally] = field(default_factory=dict)
    """By world and name; units are rollouts that are hit and fail."""
    confused: Mapping[str, int] = field(default_factory=dict)
    """By `true -> said`: how often."""
    clean: int = 0
    """Tasks in which nothing but the model fails."""
    accused: tuple[str, ...] = ()
    """Those of them in which a failure is called somebody else's, proven or likely."""
    proven: int = 0
    proven_wrong: tuple[str, ...] = ()
    infra: Tally = NO_TALLY
    """Rollouts that no agent is to blame for and that were not judged, as one set."""
    passes: int = 0
    passes_with_a_mode: tuple[str, ...] = ()
    doubtful: Tally = NO_TALLY
    """Passes to doubt: planted, flagged, and flagged elsewhere."""
    missing_tables: tuple[str, ...] = ()
    """Runs without a table of attributions."""


def joined(agreements: Iterable[Agreement]) -> Agreement:
    """Several as one."""
    every = list(agreements)
    confused: Counter[str] = Counter()
    for one in every:
        confused.update(one.confused)
    return Agreement(
        rollouts=sum(one.rollouts for one in every),
        group=sum(one.group for one in every),
        mode=sum(one.mode for one in every),
        party=sum(one.party for one in every),
        unattributed=sum(one.unattributed for one in every),
        by_mode=summed(one.by_mode for one in every),
        by_group=summed(one.by_group for one in every),
        by_mechanism=summed(one.by_mechanism for one in every),
        confused=dict(sorted(confused.items())),
        clean=sum(one.clean for one in every),
        accused=tuple(line for one in every for line in one.accused),
        proven=sum(one.proven for one in every),
        proven_wrong=tuple(line for one in every for line in one.proven_wrong),
        infra=reduce(Tally.plus, (one.infra for one in every), NO_TALLY),
        passes=sum(one.passes for one in every),
        passes_with_a_mode=tuple(line for one in every for line in one.passes_with_a_mode),
        doubtful=reduce(Tally.plus, (one.doubtful for one in every), NO_TALLY),
        missing_tables=tuple(line for one in every for line in one.missing_tables),
    )


Table = Mapping[tuple[int, int], Said]
"""By task's index and repeat."""


def agreement(truth: Truth, tables: Mapping[str, Table | None]) -> Agreement:
    """The tables of a world's runs, by run, against its truth; None for a run that has none."""
    return joined(
        Agreement(missing_tables=(f"{truth.world} {truth.seed} {name}",))
        if tables.get(name) is None
        else _Compared(truth, name, run, tables[name] or {}).agreement()
        for name, run in truth.runs.items()
    )


class _Compared:
    """One run beside its table."""

    def __init__(self, truth: Truth, name: str, run: RunTruth, table: Table) -> None:
        self.world, self.run = truth.world, run
        self.where = f"{truth.world} {truth.seed} {name}"
        self.pairs = [(one, table.get((run.tasks[one.task].index, one.repeat))) for one in run.rollouts]
        self.failures = [(one, _or_nothing(said)) for one, said in self.pairs if one.mode is not None]
        self.passed = [(one, _or_nothing(said)) for one, said in self.pairs if one.mode is None]

    def agreement(self) -> Agreement:
        clean = {task for task, one in self.run.tasks.items() if one.clean}
        proven = [(one, said) for one, said in self.failures if said.confidence == PROVEN]
        return Agreement(
            rollouts=len(self.failures),
            group=sum(_right_group(one, said) for one, said in self.failures),
            mode=sum(_right_mode(one, said) for one, said in self.failures),
            party=sum(_right_party(one, said) for one, said in self.failures),
            unattributed=sum(said.mode in (UNATTRIBUTED, NOTHING) for _, said in self.failures),
            by_mode=summed(_tallies(one.mode, said.mode, _right_mode(one, said)) for one, said in self.failures),
            by_group=summed(
                _tallies(one.group, group_of(said.mode or "", said.party), _right_group(one, said))
                for one, said in self.failures
            ),
            by_mechanism=summed(
                {self._mechanism(one): Tally(planted=1, right=_right_mode(one, said))}
                for one, said in self.failures
                if one.hit
            ),
            confused=Counter(f"{one.mode} -> {said.mode}" for one, said in self.failures if not _right_mode(one, said)),
            clean=len(clean),
            accused=tuple(self._accusations(clean)),
            proven=len(proven),
            proven_wrong=tuple(self._line(one, said) for one, said in proven if not _right_mode(one, said)),
            infra=_sets(
                {(one.task, one.repeat) for one, _ in self.failures if one.group == "machinery"},
                {(one.task, one.repeat) for one, said in self.failures if said.infrastructure},
                {(one.task, one.repeat) for one, _ in self.failures if _may_be_machinery(one)},
            ),
            passes=len(self.passed),
            passes_with_a_mode=tuple(
                self._line(one, said) for one, said in self.passed if said.mode not in (None, NOTHING)
            ),
            doubtful=_sets(
                {(one.task, one.repeat) for one, _ in self.passed if one.doubtful},
                {(one.task, one.repeat) for one, said in self.passed if DOUBTED in said.also},
            ),
        )

    def _mechanism(self, one: RolloutTruth) -> str:
        return f"{self.world}: {self.run.tasks[one.task].mechanism or 'nothing planted'}"

    def _accusations(self, clean: set[str]) -> Iterable[str]:
        """One line for each clean task, the first failure that is called another's."""
        seen: set[str] = set()
        for one, said in self.failures:
            blames = group_of(said.mode or "", said.party) in ("benchmark", "machinery")
            if one.task in clean - seen and blames and said.confidence in CERTAIN_ENOUGH:
                seen.add(one.task)
                yield self._line(one, said)

    def _line(self, one: RolloutTruth, said: Said) -> str:
        true = one.mode or "a pass"
        return f"{self.where} {one.task}#{one.repeat} ({self._mechanism(one)}): {true}, said {said.mode} ({said.confidence})"


def _or_nothing(said: Said | None) -> Said:
    return said or Said(mode=NOTHING, party="unknown", confidence=None)


def _right_mode(one: RolloutTruth, said: Said) -> bool:
    return said.mode in (one.mode, *one.modes_too) or (not one.settled and said.mode == UNATTRIBUTED)


def _right_group(one: RolloutTruth, said: Said) -> bool:
    groups = {one.group, *(group_of(mode, "") for mode in one.modes_too), *(() if one.settled else ("unknown",))}
    return said.mode != NOTHING and group_of(said.mode or "", said.party) in groups


def _right_party(one: RolloutTruth, said: Said) -> bool:
    return same_party(one.party or "", said.party) or (not one.settled and said.party == "unknown")


def _may_be_machinery(one: RolloutTruth) -> bool:
    return any(is_machinery(mode) for mode in one.modes_too)


def _tallies(true: str | None, said: str | None, right: bool) -> dict[str, Tally]:
    """Right counts for what is true, also where it was said in another word; wrong counts for what was said."""
    found = {str(true): Tally(planted=1, right=int(right))}
    if not right and said not in (None, NOTHING):
        found[str(said)] = found.get(str(said), Tally()).plus(Tally(wrong=1))
    return found


def _sets(true: Set[tuple[str, int]], said: Set[tuple[str, int]], allowed: Set[tuple[str, int]] = frozenset()) -> Tally:
    """Right is what is in both sets; what is merely allowed is not wrong."""
    return Tally(planted=len(true), right=len(true & said), wrong=len(said - true - allowed))
