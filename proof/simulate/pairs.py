"""Pairs of runs: two of one model between which nothing changed, and two between which one mechanism came or went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from blade.comparison.values import Comparison, ComparisonVerdict
from blade.model.finding import Cause
from proof.simulate.calibration import Share
from proof.simulate.catalogue import plants, worlds
from proof.simulate.generate import Made, Rolled, Wanted, assembled
from proof.simulate.leaderboard import Staffed
from proof.simulate.mechanism import Mechanism, World
from proof.simulate.plan import Part, Played

MODEL = "plover-9b"
CHANCES = (0.05, 0.3, 0.6, 0.9, 0.97)
"""To pass, of a task; the same in both runs."""
SHARE = 0.3
"""Of tasks that a change is about."""
NONE_YET = Share(hits=0, n=0)
HITS = 0.85
"""Share of their rollouts that are hit."""
ROUNDING = 1e-9
"""Ledgers must sum to the change; beyond what adding floats loses."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A baseline and a candidate, each a world with one run."""

    baseline: Made
    candidate: Made
    mechanism: Mechanism | None
    """What came or went; None where nothing did."""
    came: bool
    change: float
    """Of the score that is to be expected, as a fraction."""


def pairs(wanted: Wanted, of_each: int) -> tuple[Pair, ...]:
    """For each wanted world so many pairs without a change, and as many with one."""
    return tuple(
        _pair(world, wanted, f"{wanted.seed}/{world.name}/pair/{number}", number % 2 == 1)
        for world in worlds(wanted.world)
        for number in range(2 * of_each)
    )


def _pair(world: World, wanted: Wanted, salt: str, changes: bool) -> Pair:
    rng = Random(salt)
    one = rng.choice(_changes(world)) if changes else None
    came = rng.random() < 0.5
    tasks = [(world.task(index, rng), rng.choice(CHANCES), rng.random() < SHARE) for index in range(wanted.tasks)]
    lost = sum(chance * HITS for _, chance, about in tasks if about) / len(tasks) if one is not None else 0.0
    runs = []
    for side in ("baseline", "candidate"):
        planted = one if came == (side == "candidate") else None
        rolled: Rolled = []
        for task, chance, about in tasks:
            part = Part(task=task, mechanism=planted if about else None, level="sometimes")
            play = Random(f"{salt}/{side}/{task.task_id}")
            rolled.append((part, [_played(world, part, chance, n, play) for n in range(wanted.repeats)]))
        runs.append(assembled(Staffed(name=world.name, world=world, models=(MODEL,)), {MODEL: rolled}, wanted))
    return Pair(
        baseline=runs[0],
        candidate=runs[1],
        mechanism=one,
        came=came,
        change=0.0 if one is None else -lost if came else lost,
    )


def _changes(world: World) -> list[Mechanism]:
    """What can come between two runs of one model: machinery, limits and habits, in rollouts that it fails."""
    return [
        one
        for one in plants(world, ())
        if one.play and one.mode and one.kind == "fault" and one.cause in (Cause.INFRA, Cause.BEHAVIOR)
    ]


def _played(world: World, part: Part, chance: float, repeat: int, rng: Random) -> Played:
    if part.mechanism is not None and part.mechanism.play is not None and rng.random() < HITS:
        return Played(repeat=repeat, draft=part.mechanism.play(part.task, rng), hit=True)
    passes = rng.random() < chance
    draft = world.solve(part.task, rng) if passes else world.slip(part.task, rng, rng.randrange(12))
    return Played(repeat=repeat, draft=draft, hit=False)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What comparing says of pairs whose change is known."""

    called_without_change: Share = NONE_YET
    """Pairs in which nothing changed and which are called improved or regressed."""
    called_rightly: Share = NONE_YET
    """Pairs with a change that are called so, in the right direction."""
    called_against: Share = NONE_YET
    """The same, in the wrong direction."""
    inside: Share = NONE_YET
    """Intervals that hold the change that was to be expected, of all pairs."""
    sums: Share = NONE_YET
    """Ledgers whose terms sum to the change."""
    named: Share = NONE_YET
    """Pairs with a change whose largest term in the ledger is the planted mode."""
    terms: Mapping[str, int] = field(default_factory=dict)
    """By `planted mode -> largest term`: how often."""

    def plus(self, other: Compared) -> Compared:
        """Both together."""
        return Compared(
            called_without_change=self.called_without_change.plus(other.called_without_change),
            called_rightly=self.called_rightly.plus(other.called_rightly),
            called_against=self.called_against.plus(other.called_against),
            inside=self.inside.plus(other.inside),
            sums=self.sums.plus(other.sums),
            named=self.named.plus(other.named),
            terms=dict(sorted((Counter(self.terms) + Counter(other.terms)).items())),
        )


def compared(found: Iterable[tuple[Pair, Comparison]]) -> Compared:
    """All pairs with their comparisons."""
    every = list(found)
    null = [(pair, said) for pair, said in every if pair.mechanism is None]
    changed = [(pair, said) for pair, said in every if pair.mechanism is not None]
    limits = [(pair.change, said.expected.ci) for pair, said in every if said.expected.ci is not None]
    return Compared(
        called_without_change=_share(said.expected.verdict in DIFFERENT for _, said in null),
        called_rightly=_share(said.expected.verdict is _verdict(pair.change) for pair, said in changed),
        called_against=_share(said.expected.verdict is _verdict(-pair.change) for pair, said in changed),
        inside=_share(low <= change <= high for change, (low, high) in limits),
        sums=_share(_sums(said) for _, said in every),
        named=_share(_largest(said) in _modes(pair) for pair, said in changed),
        terms=dict(sorted(Counter(f"{_modes(pair)[0]} -> {_largest(said)}" for pair, said in changed).items())),
    )


DIFFERENT = (ComparisonVerdict.IMPROVED, ComparisonVerdict.REGRESSED)


def _verdict(change: float) -> ComparisonVerdict:
    return ComparisonVerdict.REGRESSED if change < 0 else ComparisonVerdict.IMPROVED


def _modes(pair: Pair) -> tuple[str, ...]:
    one = pair.mechanism
    return (str(one.mode), *one.modes_too) if one is not None else ("nothing",)


def _largest(said: Comparison) -> str:
    return max(said.ledger, key=lambda term: abs(term.points)).term if said.ledger else "no ledger"


def _sums(said: Comparison) -> bool:
    before, after = said.own
    if before is None or after is None:
        return False
    return abs(sum(term.points for term in said.ledger) - (after - before)) < ROUNDING


def _share(hits: Iterable[bool]) -> Share:
    seen: Sequence[bool] = list(hits)
    return Share(hits=sum(seen), n=len(seen))
