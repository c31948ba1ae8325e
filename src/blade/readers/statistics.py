"""What readers add to a run: how far they agree with each other and with the rules, and what a sample says of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import polars as pl
from msgspec.structs import replace

from blade.model.attribution import Attributions
from blade.model.measure import Measure
from blade.model.reading import (
    SOUND,
    Agreement,
    Disagreement,
    Drawn,
    ReaderAttribution,
    ReaderStatistics,
    Readings,
    ReadSample,
    SampledShare,
)
from blade.stats.agreement import agreement_rate, kappa
from blade.stats.intervals import ReadStratum, stratified_share

RULES = "rules"
"""How the rules are named beside the readers."""

Place = tuple[str, int]
Rating = tuple[str, str]
"""Mode and party."""
Stratum = tuple[str, bool, int]
"""Its name, whether it holds passes, and its size."""


def reader_statistics(readings: Readings, attributions: Attributions) -> ReaderStatistics | None:
    """None where no reader said anything that could be used, and nothing that could not."""
    if not readings.used and not readings.unused:
        return None
    by_rules = _by_rules(attributions)
    counting = {(one.task_id, one.repeat): one for one in readings.used}
    drawn = {(one.task_id, one.repeat): one.sample for one in readings.used if one.sample is not None}
    sampled = [replace(counting[place], sample=sample) for place, sample in drawn.items()]
    changed = [place for place, one in counting.items() if by_rules.get(place, _rating(one)) != _rating(one)]
    return ReaderStatistics(
        used=len(readings.used),
        rollouts=len(counting),
        overruled=len(changed),
        by=dict(sorted(Counter(one.by for one in readings.used).items())),
        unused=readings.unused,
        agreements=_agreements(readings.used, by_rules),
        sample=read_sample(sampled),
    )


def _rating(one: ReaderAttribution) -> Rating:
    return one.mode, one.party


def _by_rules(attributions: Attributions) -> dict[Place, Rating]:
    """What the rules say of every rollout that did not pass; of passes they say nothing that could be agreed with."""
    table = attributions.rules_table.filter(pl.col("outcome") != "passed")
    return {
        (task, repeat): (mode, party)
        for task, repeat, mode, party in table.select("task_id", "repeat", "mode", "party").iter_rows()
    }


def _agreements(readings: Sequence[ReaderAttribution], by_rules: Mapping[Place, Rating]) -> tuple[Agreement, ...]:
    """Every two readers, in order of name, then each reader and the rules; those that looked at the same rollouts."""
    by_reader: dict[str, dict[Place, Rating]] = {}
    for one in readings:
        by_reader.setdefault(one.by, {})[one.task_id, one.repeat] = _rating(one)
    names = sorted(by_reader)
    pairs = [(one, two, by_reader[one], by_reader[two]) for one, two in combinations(names, 2)]
    pairs += [(name, RULES, by_reader[name], dict(by_rules)) for name in names]
    return tuple(_agreement(one, two, mine, theirs) for one, two, mine, theirs in pairs if mine.keys() & theirs.keys())


def _agreement(first: str, second: str, mine: Mapping[Place, Rating], theirs: Mapping[Place, Rating]) -> Agreement:
    shared = sorted(mine.keys() & theirs.keys())
    modes = [(mine[place][0], theirs[place][0]) for place in shared]
    parties = [(mine[place][1], theirs[place][1]) for place in shared]
    tasks = [task for task, _ in shared]
    return Agreement(
        first=first,
        second=second,
        rollouts=len(shared),
        mode=agreement_rate(modes, tasks, "mode"),
        party=agreement_rate(parties, tasks, "party"),
        kappa=kappa(modes),
        party_kappa=kappa(parties, "party_kappa"),
        disagreements=tuple(
            _disagreement(place, mine[place], theirs[place]) for place in shared if mine[place] != theirs[place]
        ),
    )


def _disagreement(place: Place, mine: Rating, theirs: Rating) -> Disagreement:
    return Disagreement(
        location=f"{place[0]}#{place[1]}",
        first=mine[0],
        first_party=mine[1],
        second=theirs[0],
        second_party=theirs[1],
    )


def read_sample(readings: Sequence[ReaderAttribution]) -> ReadSample | None:
    """Shares of all failures, and of all passes, estimated from the readings of rollouts that `blade sample` drew."""
    strata = _strata(readings)
    if not strata:
        return None
    of_failures = {stratum: mine for stratum, mine in strata.items() if not stratum[1]}
    of_passes = {stratum: mine for stratum, mine in strata.items() if stratum[1]}
    shares = [
        *_shares("mode", of_failures, lambda one: one.mode),
        *_shares("party", of_failures, lambda one: one.party),
    ]
    shares += [*_shares("passes", of_passes, lambda one: "sound" if one.mode == SOUND else "in doubt")]
    return ReadSample(
        failures=sum(map(len, of_failures.values())),
        failures_drawn=_drawn(of_failures),
        failures_in_all=sum(size for *_, size in of_failures),
        passes=sum(map(len, of_passes.values())),
        passes_drawn=_drawn(of_passes),
        passes_in_all=sum(size for *_, size in of_passes),
        shares=tuple(shares),
    )


def _strata(readings: Sequence[ReaderAttribution]) -> dict[Stratum, list[tuple[ReaderAttribution, Drawn]]]:
    """The readings of each stratum of the draw that most of them are from; other draws cut the run in other ways."""
    drawn = [(one, one.sample) for one in readings if one.sample is not None]
    designs = Counter((sample.seed, sample.design) for _, sample in drawn)
    design = min(designs, key=lambda one: (-designs[one], one), default=None)
    found: dict[Stratum, list[tuple[ReaderAttribution, Drawn]]] = {}
    for one, sample in drawn:
        if (sample.seed, sample.design) == design:
            found.setdefault((sample.stratum, sample.passed, sample.size), []).append((one, sample))
    return dict(sorted(found.items()))


def _drawn(strata: Mapping[Stratum, Sequence[tuple[ReaderAttribution, Drawn]]]) -> int:
    return sum(max(sample.drawn for _, sample in mine) for mine in strata.values())


def _shares(
    of: str,
    strata: Mapping[Stratum, Sequence[tuple[ReaderAttribution, Drawn]]],
    value: Callable[[ReaderAttribution], str],
) -> list[SampledShare]:
    """The share of each value, largest first."""
    hits = Counter(value(one) for mine in strata.values() for one, _ in mine)
    found = []
    for name in sorted(hits):
        counted = [
            ReadStratum(size=size, read=len(mine), hits=sum(value(one) == name for one, _ in mine))
            for (_, _, size), mine in strata.items()
        ]
        share, interval = stratified_share(counted)
        measure = Measure(name=name, value=share, n=sum(one.read for one in counted), interval=interval)
        found.append(SampledShare(kind=of, name=name, hits=hits[name], share=measure))
    return sorted(found, key=lambda one: (-(one.share.value or 0.0), one.name))
