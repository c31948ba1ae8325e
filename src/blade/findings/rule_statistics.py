"""What every rule over rollouts saw in a run, and how strongly it is tied to failing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import polars as pl

from blade.evidence.context import Refs, RereadRollouts, RunContext, none
from blade.findings.examples import in_row
from blade.model.diagnosis import RuleStatistics, Support
from blade.model.finding import Evidence, Hit
from blade.rules.catalog import rollout_rules
from blade.rules.declaration import Rule
from blade.rules.hits import find
from blade.stats.association import within_tasks
from blade.stats.counts import fired
from blade.stats.rollout_index import Flags, RolloutIndex
from blade.stats.support import SymptomCounts, Tested, support

MOST_EVIDENCE = 3
READS_VERDICT = "it reads the verdict or the key, so its lift would test itself"


def observed(tested: Tested, custom: Sequence[Rule] = ()) -> list[tuple[Rule, SymptomCounts]]:
    """Every rule, of the catalog and `custom`, with its association over the judged rollouts that it looked at."""
    rollouts = tested.rollouts
    unseen = _unseen(rollouts, tested.which)
    everywhere = (int(tested.which.sum()), int(rollouts.failed[tested.which].sum()))
    return [
        (rule, _observed(_seen(rule.code, tested, unseen), rollouts.marked(rollouts.fired[rule.code])))
        if rule.code in rollouts.fired
        else (rule, _quiet(everywhere, unseen.get(rule.code, (0, 0))))
        for rule in (*rollout_rules(), *custom)
    ]


def _observed(seen: Tested, fired: Flags) -> SymptomCounts:
    return seen.observe(fired, seen.strata(fired))


def _seen(code: str, tested: Tested, unseen: Mapping[str, object]) -> Tested:
    """The rollouts at which a rule could look."""
    if code not in unseen:
        return tested
    return tested.among(tested.rollouts.run.rollouts.select(~_cannot(code)).to_series().to_numpy())


def _unseen(rollouts: RolloutIndex, which: Flags) -> dict[str, tuple[int, int]]:
    """By rule: at how many of some rollouts it could not look, and how many of these failed."""
    rows = rollouts.run.rollouts.select("cannot_check", failed=pl.Series(rollouts.failed), which=pl.Series(which))
    alike = rows.drop_nulls("cannot_check").filter("which").group_by("cannot_check")
    found: dict[str, tuple[int, int]] = {}
    for codes, times, lost in alike.agg(pl.len(), pl.col("failed").sum()).iter_rows():
        for code in dict.fromkeys(codes):
            before = found.get(code, (0, 0))
            found[code] = before[0] + times, before[1] + lost
    return found


def _quiet(judged: tuple[int, int], unseen: tuple[int, int]) -> SymptomCounts:
    """A rule that fired nowhere: there is nothing to test. Of rollouts that were judged, and of those that it could not see: all, and failed ones."""
    rollouts, failed = judged[0] - unseen[0], judged[1] - unseen[1]
    nothing = within_tasks([], [], [])
    return SymptomCounts(
        support=Support.UNCLEAR,
        association=nothing,
        fired_failed=0,
        fired_passed=0,
        failed=failed,
        passed=rollouts - failed,
    )


def _cannot(code: str) -> pl.Expr:
    return pl.col("cannot_check").list.contains(code).fill_null(False)


def rule_statistics(
    context: RunContext, seen: Sequence[tuple[Rule, SymptomCounts]], q: Sequence[float | None]
) -> tuple[RuleStatistics, ...]:
    """Every rule with its support and counts, by code; `q` is each one's value in the whole family."""
    rollouts = context.rollouts
    there = rollouts.run.rollouts["artifact"].is_not_null().to_numpy()
    unseen, rows, nowhere = _unseen(rollouts, there), int(there.sum()), none(rollouts)
    hits = {code: Refs(of=rollouts, rows=mine).only(there) for code, mine in rollouts.fired.items()}
    shown = rollouts.run.rollouts.select("task_id", "repeat", "outcome", "fired").filter(pl.Series(context.was_read))
    shown = shown.drop_nulls("fired").sort(pl.col("outcome") == "passed", maintain_order=True)
    return tuple(
        _rule_statistics(
            rule,
            detect,
            value,
            (rows, unseen.get(rule.code, (0, 0))[0]),
            hits.get(rule.code, nowhere),
            _evidence(rule.code, shown, context.reading) if rule.code in hits else [],
        )
        for (rule, detect), value in zip(seen, q, strict=True)
    )


def _rule_statistics(
    rule: Rule, seen: SymptomCounts, q: float | None, rows: tuple[int, int], hit: Refs, evidence: Sequence[Evidence]
) -> RuleStatistics:
    """`rows` are how many there are, and at how many the rule could not look; `hit` are those in which it fired."""
    skipped = rows[1]
    found = seen.association
    custom = rule.family == "package"
    # A team may call a label enough for failing; rollouts that carry it and pass say otherwise.
    disproved = custom and seen.fired_passed > 0
    return RuleStatistics(
        code=rule.code,
        name=rule.name,
        message=rule.message,
        suggests=rule.cause,
        kind=rule.kind,
        status=rule.status,
        support=Support.DIRECT if rule.kind == "direct" and not disproved else support(seen, q),
        fired=len(hit),
        checked=rows[0] - skipped,
        skipped=skipped,
        tasks=len(hit.tasks),
        fired_failed=seen.fired_failed,
        fired_passed=seen.fired_passed,
        failed=seen.failed,
        passed=seen.passed,
        risk_difference=found.risk_difference if rule.blind else None,
        odds_ratio=found.odds_ratio if rule.blind else None,
        p_value=found.p_value if rule.blind else None,
        q_value=q,
        informative=found.informative,
        reason=None if rule.blind and found.p_value is not None else found.reason if rule.blind else READS_VERDICT,
        evidence=tuple(evidence),
        custom=custom,
    )


def _evidence(code: str, shown: pl.DataFrame, reading: RereadRollouts) -> list[Evidence]:
    """Quotes of the first of the rollouts in which a rule fired."""
    found: list[Evidence] = []
    for task, repeat, hits in shown.filter(fired([code])).select("task_id", "repeat", "fired").iter_rows():
        if len(found) >= MOST_EVIDENCE:
            break
        walk = reading.walks[task, repeat]
        one = next(one for one in hits if one["code"] == code)
        if not one["length"]:
            continue
        quoted = in_row(walk.rollout, find(walk.rollout, msgspec.convert(one, Hit)))
        found += [quoted] if quoted is not None else []
    return found
