"""What to do, ranked by what it would give: remedies from findings, from doubts about the benchmark, and from rules.

A remedy most of whose rollouts stand in one ranked before it is left out, so that nothing is told twice; a doubt about
the benchmark stays beside a finding about the model, since one of the two is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from blade.evidence import quotes
from blade.evidence.context import MOST_REFS, Refs, RunContext, none
from blade.findings.groups import FailureGroup
from blade.model.attribution import UNATTRIBUTED, Confidence
from blade.model.diagnosis import READER, Doubt, Finding, Headroom, Intervention, TaskCause, Together
from blade.model.finding import Cause, Evidence
from blade.rules.catalog import all_rules, to_do
from blade.rules.declaration import Rule
from blade.stats.headroom import headroom
from blade.stats.infrastructure import NOT_AGENTS
from blade.stats.rollout_index import Flags, RolloutIndex

MOST = 12
OVERLAP = 0.5
MOST_EVIDENCE = 2
LONGEST_QUOTE = 80
KIND_OF_DOUBT = {
    "key": "data",
    "task": "data",
    "verifier": "verifier",
    "tool": "harness",
    "user": "harness",
    "limit": "harness",
    "agent": "prompt",
}
OWNER_OF_DOUBT = {
    "key": "task author",
    "task": "task author",
    "verifier": "test author",
    "tool": "tool author",
    "user": "user simulator",
    "limit": "harness",
    "agent": "prompt",
}


class _Remedy(Struct, frozen=True, kw_only=True):
    """Something to do, before it is ranked."""

    kind: str
    action: str
    source: str
    failing: Refs
    passing: Refs
    alone: Refs
    estimable: bool = True
    evidence: tuple[Evidence, ...] = ()
    doubts: bool = False
    """About the benchmark, not the model."""
    owner: str = ""
    confidence: str = ""
    decides: bool = True
    headroom: Headroom | None = None
    """What the finding that it comes from gains."""


def interventions(
    context: RunContext,
    findings: Sequence[tuple[Finding, FailureGroup]],
    doubts: Sequence[Doubt],
    causes: Mapping[str, TaskCause],
) -> tuple[tuple[Intervention, ...], Together]:
    """What to do, best first, and what all of it would give together, counted once."""
    catalogue = {rule.code: rule for rule in all_rules()}
    rollouts = context.rollouts
    remedies = [_of_finding(one, group) for one, group in findings if one.fix and one.owner != READER]
    settled = [one for one in doubts if not one.preview]
    for code in dict.fromkeys(one.code for one in settled):
        remedies.append(_of_doubts([one for one in settled if one.code == code], catalogue[code], context))
    ranked = sorted(
        ((_measured(one, rollouts, causes), one) for one in remedies if one.failing),
        key=lambda one: _rank(*one),
    )
    chosen = _told_once(ranked, rollouts)
    return tuple(one for one, _ in chosen), _together([remedy for _, remedy in chosen], rollouts)


def _of_finding(one: Finding, group: FailureGroup) -> _Remedy:
    return _Remedy(
        kind=one.kind,
        action=one.fix,
        source=one.id,
        failing=group.failing,
        passing=group.passing,
        alone=group.alone,
        estimable=one.headroom.reason != "read from the verdict",
        evidence=one.evidence,
        owner=one.owner,
        headroom=one.headroom,
        confidence=one.confidence,
        decides=not group.repeats_the_verdict and group.mode != UNATTRIBUTED and not one.fix.startswith("Read "),
    )


def _of_doubts(doubts: Sequence[Doubt], rule: Rule, context: RunContext) -> _Remedy:
    """One remedy for all that a rule doubts; its rollouts are those of the tasks that did not pass, or those it names.

    Only those gain by it alone whose attribution puts them down to somebody else than the agent.
    """
    rollouts = context.rollouts
    failing_otherwise = context.partition.attributions.table.select(NOT_AGENTS).to_series().to_numpy()
    evidence = tuple(piece for one in doubts for piece in one.evidence)
    whole = [task for one in doubts if not one.places for task in one.tasks]
    named = rollouts.at([place for one in doubts for place in one.places])
    lost = np.flatnonzero(rollouts.of_tasks(whole) & ~rollouts.passed)
    rows = pl.Series(np.concatenate([named, lost])).unique(maintain_order=True).to_numpy()
    return _Remedy(
        kind=KIND_OF_DOUBT[doubts[0].about],
        action=_action(rule, evidence),
        source=rule.code,
        failing=Refs(of=rollouts, rows=rows),
        passing=none(rollouts),
        alone=Refs(of=rollouts, rows=rows).only(failing_otherwise),
        estimable=False,
        evidence=evidence,
        doubts=doubts[0].about != "agent",
        owner=OWNER_OF_DOUBT[doubts[0].about],
        confidence=str(Confidence.LIKELY if any(one.decided for one in doubts) else Confidence.SUSPECTED),
    )


def _action(rule: Rule, evidence: Sequence[Evidence]) -> str:
    """What the rule's page says to do, with the words that it saw."""
    said = to_do(rule)
    shown = quotes.shown(" ".join(evidence[0].quote.split()), LONGEST_QUOTE) if evidence else ""
    return f"{said} (`{shown.replace('`', chr(39))}`)" if shown else said


def _measured(one: _Remedy, rollouts: RolloutIndex, causes: Mapping[str, TaskCause]) -> Intervention:
    tasks = one.failing.tasks
    hit, only = rollouts.those(one.failing.rows, one.passing.rows), rollouts.those(one.alone.rows)
    return Intervention(
        kind=one.kind,
        action=one.action,
        source=one.source,
        causes=_causes_of(tasks, causes),
        task_ids=tasks,
        rollouts=len(one.failing),
        locations=one.failing.named(MOST_REFS),
        headroom=one.headroom or headroom(rollouts, hit, only, estimable=one.estimable),
        evidence=one.evidence[:MOST_EVIDENCE],
        owner=one.owner,
        confidence=one.confidence,
        decides=one.decides,
    )


def _causes_of(tasks: Sequence[str], causes: Mapping[str, TaskCause]) -> tuple[Cause, ...]:
    """Causes of the tasks, commonest first."""
    counts = Counter(cause for task in tasks if task in causes and (cause := causes[task].cause) is not None)
    return tuple(sorted(counts, key=lambda cause: (-counts[cause], cause)))


def _rank(one: Intervention, remedy: _Remedy) -> tuple[bool, bool, float, float, float, int, str]:
    """What can be acted on before what has to be read; then by what it gains alone."""
    room = one.headroom
    low = room.interval.low if room.interval is not None else -inf
    suspected = one.confidence == Confidence.SUSPECTED
    return suspected, not one.decides, -room.only_defect, -low, -room.ceiling, remedy.doubts, one.source


def _is_told(remedy: _Remedy, known: Flags, rollouts: RolloutIndex) -> bool:
    return int(known[rollouts.those(remedy.failing.rows)].sum()) >= OVERLAP * len(remedy.failing)


def _told_once(
    ranked: Sequence[tuple[Intervention, _Remedy]], rollouts: RolloutIndex
) -> list[tuple[Intervention, _Remedy]]:
    chosen: list[tuple[Intervention, _Remedy]] = []
    named = rollouts.marked()
    of_kind: dict[str, Flags] = {}
    for one, remedy in ranked:
        mine, alike = rollouts.those(remedy.failing.rows), of_kind.setdefault(remedy.kind, rollouts.marked())
        known = alike if remedy.doubts or remedy.source.startswith("label:") else named
        if _is_told(remedy, known, rollouts) or len(chosen) == MOST:
            continue
        adds = rollouts.gain_if_fixed(mine[~named[mine]])
        chosen.append((replace(one, adds=adds), remedy))
        named[mine] = alike[mine] = True
    return chosen


def _together(chosen: Sequence[_Remedy], rollouts: RolloutIndex) -> Together:
    """The union of what the remedies name."""
    hit = rollouts.those(*(places.rows for one in chosen for places in (one.failing, one.passing)))
    only = rollouts.those(*(one.alone.rows for one in chosen))
    failures = int(rollouts.failed[rollouts.those(*(one.failing.rows for one in chosen))].sum())
    return Together(
        headroom=headroom(rollouts, hit, only),
        failures=failures,
        remain=int(rollouts.failed.sum()) - failures,
    )
