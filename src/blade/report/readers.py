"""What readers add to a report: whose attributions count, how far readers and rules agree, what a sample says of the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blade.model.analysis import RunAnalysis
from blade.model.measure import Measure
from blade.model.reading import Agreement, ReaderStatistics, ReadSample
from blade.report.numbers import limits, plural, share
from blade.report.text import safe, safe_inside, table

MOST_UNUSED = 6
MOST_DISAGREEMENTS = 12
_OF = {"mode": "mode", "party": "responsible", "passes": "of passes"}


def readers_line(one: RunAnalysis) -> list[str]:
    """Page one: how many rollouts readers attributed, and how many they put down to something else than the rules did."""
    found = one.readers
    if found is None:
        return []
    whose = ", ".join(f"{safe_inside(name)} {times:,}" for name, times in found.by.items())
    line = f"**Readers.** {plural(found.rollouts, 'rollout')} attributed by readers ({whose})" if found.used else ""
    line += f"; {found.overruled:,} of them otherwise than by the rules." if found.used else "**Readers.**"
    line += f" {plural(len(found.unused), 'attribution')} could not be used." if found.unused else ""
    if found.sample is not None:
        names = {mode.id: mode.name for mode in one.diagnosis.partition.modes} if one.diagnosis else {}
        line += f" {_estimates(found.sample, names)}"
    return [line]


def _estimates(sample: ReadSample, names: Mapping[str, str]) -> str:
    """The modes of the sample with their limits, in a sentence."""
    modes = [one for one in sample.shares if one.kind == "mode"][:3]
    if not modes or sample.failures == sample.failures_in_all:
        return ""
    named = "; ".join(f"{safe_inside(names.get(one.name, one.name))} {_percent(one.share)}" for one in modes)
    return f"By the {sample.failures:,} of {sample.failures_in_all:,} failures that were drawn and read: {named}."


def _percent(measure: Measure) -> str:
    if measure.interval is None:
        return share(measure.value)
    return f"{share(measure.value)} ({share(measure.interval.low)} to {share(measure.interval.high)})"


def readers_section(one: RunAnalysis) -> list[str]:
    """Agreement, disagreements, the sample, and what could not be used."""
    found = one.readers
    if found is None:
        return []
    lines = ["Readers (people, agents and models who read rollouts; of several on one rollout the last counts):", ""]
    lines += agreement_lines(found.agreements) + _sample(found)
    unused = [f"- Not used: {safe(why)}" for why in found.unused[:MOST_UNUSED]]
    more = len(found.unused) - MOST_UNUSED
    return [*lines, *unused, *([f"- and {more:,} more in findings.json."] if more > 0 else []), ""]


def agreement_lines(agreements: Sequence[Agreement]) -> list[str]:
    """A row for each two that looked at the same rollouts, then where they disagree."""
    if not agreements:
        return ["No two looked at the same rollouts, and none of the rollouts that were read failed.", ""]
    rows = [
        [
            f"{safe(one.first)} and {safe(one.second)}",
            f"{one.rollouts:,}",
            _agreed(one.mode),
            _kappa(one.kappa),
            _agreed(one.party),
            _kappa(one.party_kappa),
        ]
        for one in agreements
    ]
    head = ["who", "rollouts of both", "same mode", "kappa", "same responsible", "kappa"]
    return [*table(head, rows, "findings.json", 24), *(line for one in agreements for line in _disagreements(one))]


def _agreed(measure: Measure) -> str:
    return "-" if measure.value is None else f"{round(measure.value * measure.n):,} ({share(measure.value)})"


def _kappa(measure: Measure) -> str:
    if measure.value is None:
        return f"none: {measure.reason}"
    rough = ", rough" if measure.interval is not None and measure.interval.rough else ""
    return f"{measure.value:.2f}" + (f" ({limits(measure.interval)}{rough})" if measure.interval is not None else "")


def _disagreements(one: Agreement) -> list[str]:
    if not one.disagreements:
        return []
    rows = [
        [safe(each.location), _side(each.first, each.first_party), _side(each.second, each.second_party)]
        for each in one.disagreements
    ]
    head = ["rollout", safe(one.first), safe(one.second)]
    return [
        f"Where {safe_inside(one.first)} and {safe_inside(one.second)} disagree:",
        "",
        *table(head, rows, "findings.json", MOST_DISAGREEMENTS),
    ]


def _side(mode: str, party: str) -> str:
    return f"{safe(mode)} ({safe_inside(party)})"


def _sample(found: ReaderStatistics) -> list[str]:
    sample = found.sample
    if sample is None:
        return []
    rows = [
        [_OF[one.kind], safe(one.name), f"{one.hits:,} of {one.share.n:,}", _percent(one.share)]
        for one in sample.shares
    ]
    head = ["share", "name", "in what was read", "estimate (95 %)"]
    return [f"{_drawn(sample)}:", "", *table(head, rows, "findings.json", 24)]


def _drawn(sample: ReadSample) -> str:
    unread = sample.failures_drawn + sample.passes_drawn - sample.failures - sample.passes
    left = f"; {unread:,} that were drawn are not read" if unread else ""
    return (
        f"Estimated from a random sample: {sample.failures:,} of {plural(sample.failures_in_all, 'failure')} and "
        f"{sample.passes:,} of {sample.passes_in_all:,} {'pass' if sample.passes_in_all == 1 else 'passes'} were read{left}"
    )
