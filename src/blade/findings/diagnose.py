"""Everything said about why the rollouts of a run failed, and the findings among it: ranked by what fixing them would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from blade.attribution.attribute import attributed, labels_of, refined
from blade.attribution.causes import by_persons, causes
from blade.attribution.collect import OtherRun
from blade.attribution.differences_that_count import counting_differences
from blade.attribution.failure_table import partition
from blade.attribution.overruled import causes_of_defined
from blade.custom_rules import CustomLabel, Fix
from blade.evidence.context import (
    MOST_REFS,
    FindingDraft,
    QuotedSentence,
    RereadRollouts,
    RunContext,
    marked,
    none,
    read,
)
from blade.evidence.contrast import contrast, unlike
from blade.evidence.simulated_user import withheld
from blade.findings import habits, rule_statistics
from blade.findings.beyond_differences import by_giving_up, by_guess, by_habit, by_mode, by_shut_out, of_unattributed
from blade.findings.deep_dives import deep_dives
from blade.findings.examples import examples, shown_by
from blade.findings.groups import FailureGroup, groups
from blade.findings.habits import alarms
from blade.findings.interventions import interventions
from blade.findings.of_modes import draft_of
from blade.findings.passes_to_doubt import passes_to_doubt
from blade.findings.responsibility import decided, responsibility
from blade.findings.table_quotes import evidence_of
from blade.model.analysis import TaskResult
from blade.model.attribution import UNATTRIBUTED, Attributions, Confidence
from blade.model.diagnosis import Diagnosis, Doubt, Elsewhere, Finding, Headroom, Label, Mode, Partition, RuleStatistics
from blade.model.finding import Evidence
from blade.model.run import Run
from blade.modes.catalog import all_modes, by_code
from blade.modes.measured import in_short
from blade.rules.engine import doubts
from blade.rules.scan import as_rule
from blade.stats.association import benjamini_hochberg
from blade.stats.headroom import headroom
from blade.stats.infrastructure import NOT_AGENTS
from blade.stats.rollout_index import Flags, index_rollouts
from blade.stats.support import SymptomCounts, tested

AGENT = "agent"
MOST = 8
OVERLAP = 0.5
"""A finding most of whose failures another one already names is left out."""
MOST_QUOTED = 2


def diagnose(
    run: Run,
    elsewhere: Elsewhere | None = None,
    labels: Mapping[str, Label] | None = None,
    custom: Sequence[CustomLabel] = (),
    drafted: Attributions | None = None,
    others: Sequence[OtherRun] = (),
) -> Diagnosis:
    """Modes, contrasts, findings, doubts, causes and deep dives; the artifacts are read once more.

    `elsewhere` is what other runs of the benchmark say; `labels` a person's verdicts;
    `custom` the rules of its package, whose hits stand in the run's table; `drafted` the attributions by the tables
    alone, where they were made before, with what `others`, other runs of its tasks, say of them.
    """
    elsewhere = elsewhere or Elsewhere()
    rollouts = index_rollouts(run)
    counted, by_label = counting_differences(rollouts), labels_of(custom)
    draft = drafted or attributed(rollouts, others, by_label, labels)
    names = {label.name: label.message for label in custom}
    parts = partition(rollouts, draft, counted, names)
    reading = read(rollouts, parts)
    failing = (*reading.sometimes, *reading.never)
    odd = {task: why for task in failing if (why := unlike(reading.of(task)))}
    contrasts = {task: contrast(task, reading.of(task)) for task in reading.sometimes if task not in odd}
    kept = [one for task in (*reading.sometimes, *reading.never) for one in withheld(reading.of(task))]
    context = RunContext(
        rollouts=rollouts,
        partition=parts,
        reading=reading,
        contrasts=contrasts,
        withheld=kept,
        elsewhere=elsewhere,
        unlike=odd,
    )
    judged = tested(rollouts)
    seen, done = rule_statistics.observed(judged, [as_rule(one) for one in custom]), habits.observed(judged)
    q = _family([detect.association.p_value if rule.blind else None for rule, detect in seen], [one for _, one in done])
    checked = rule_statistics.rule_statistics(context, seen, q[: len(seen)])
    raised = doubts(context)
    table = refined(draft, rollouts, counted, others, raised, by_label)
    parts = partition(rollouts, table, counted, names)
    context = replace(context, partition=parts, defects=_defects(parts))
    raised = decided(raised, table.table)
    by_label_seen = [(one, detect) for one in custom for detect in checked if detect.code == one.name]
    named = findings(context, by_label_seen, raised)
    own_causes = {**{label.name: label.cause for label in custom}, **causes_of_defined(draft.readings)}
    of_tasks = causes(rollouts, parts, own_causes, elsewhere.passed)
    if labels:
        of_rules = partition(rollouts, replace(table, table=table.rules_table, readings=()), counted, names)
        of_tasks = by_persons(of_tasks, labels, causes(rollouts, of_rules, own_causes, elsewhere.passed))
    remedies, together = interventions(context, named, raised, of_tasks)
    found = Diagnosis(
        responsibility=responsibility(table.table),
        partition=_with_evidence(context),
        findings=tuple(finding for finding, _ in named),
        interventions=remedies,
        together=together,
        contrasts=tuple(contrasts.values()),
        habits=habits.habits(done, q[len(seen) :]),
        rule_statistics=checked,
        passes_to_doubt=passes_to_doubt(context, raised),
        causes=of_tasks,
        doubts=tuple(one for one in raised if one.about != AGENT),
        across=tuple(one for one in raised if one.about == AGENT),
        deep_dives=deep_dives(context),
        alarms=alarms(reading),
        cut=reading.cut,
    )
    located: Diagnosis = _with_files(found, reading)
    return located


def _family(of_rules: Sequence[float | None], of_habits: Sequence[SymptomCounts]) -> list[float | None]:
    """q-values of everything that is tested in a report, rules first; None where nothing could be tested."""
    values = [*of_rules, *(detect.association.p_value for detect in of_habits)]
    tested = [place for place, value in enumerate(values) if value is not None]
    found = benjamini_hochberg([values[place] or 0.0 for place in tested]) if tested else ()
    q: list[float | None] = [None] * len(values)
    for place, value in zip(tested, found, strict=True):
        q[place] = float(value)
    return q


def _with_files(value: Any, reading: RereadRollouts) -> Any:
    """The value, in which every piece of evidence says in which file and line its rollout stands."""
    if isinstance(value, Evidence):
        walk = reading.walks.get((value.task_id, value.repeat))
        source = walk.rollout.source if walk is not None else None
        return replace(value, file=source.artifact, line=source.line) if source is not None else value
    if isinstance(value, tuple):
        if {*map(type, value)} <= {str}:
            return value  # the names of thousands of tasks
        return tuple(_with_files(one, reading) for one in value)
    if isinstance(value, Struct):
        return replace(value, **{name: _with_files(getattr(value, name), reading) for name in value.__struct_fields__})
    return value


def _with_evidence(context: RunContext) -> Partition:
    parts, reading = context.partition, context.reading
    quoted = parts.attributions.table.filter(pl.col("evidence").list.len() > 0)
    table = parts.table.filter(pl.Series(context.was_read[~context.rollouts.passed]))
    return replace(
        parts,
        modes=tuple(
            replace(mode, evidence=_quoted(mode, quoted) or _evidence(mode, table, reading)) for mode in parts.modes
        ),
    )


def _quoted(mode: Mode, quoted: pl.DataFrame) -> Evidence | None:
    """The first quote that decided for the mode."""
    mine = quoted.filter(pl.col("mode") == mode.id).select("run", "task_id", "repeat", "evidence").head(1)
    return next((evidence_of(run, task, repeat, found[0]) for run, task, repeat, found in mine.iter_rows()), None)


def _defects(parts: Partition) -> frozenset[str]:
    settled = pl.col("confidence").is_in(["proven", "likely"])
    codes = [mode.code for mode in all_modes() if mode.group == "benchmark"]
    return frozenset(parts.table.filter(pl.col("mode").is_in(codes) & settled)["task_id"].to_list())


def _evidence(mode: Mode, table: pl.DataFrame, reading: RereadRollouts) -> Evidence | None:
    """A quote of one rollout of the mode that was read again: tasks that sometimes pass first."""
    places = list(table.filter(pl.col("mode") == mode.id).select("task_id", "repeat").iter_rows())
    telling = [place for place in places if place[0] in reading.sometimes]
    return next(
        (found for walk in reading.at([*telling, *places]) if (found := shown_by(walk, mode.id)) is not None), None
    )


def with_diagnosis(tasks: Sequence[TaskResult], diagnosis: Diagnosis) -> tuple[TaskResult, ...]:
    """The tasks with the modes of their failures and their causes."""
    names = {mode.id: mode.name for mode in diagnosis.partition.modes}
    counted = diagnosis.partition.table.group_by("task_id", "mode").len()
    modes: dict[str, dict[str, int]] = {}
    for task, mode, times in sorted(counted.iter_rows()):
        modes.setdefault(task, {})[names[mode]] = times
    return tuple(
        replace(task, modes=modes.get(task.task_id, {}), cause=diagnosis.causes.get(task.task_id)) for task in tasks
    )


def findings(
    context: RunContext, custom: Sequence[tuple[CustomLabel, RuleStatistics]] = (), doubts: Sequence[Doubt] = ()
) -> list[tuple[Finding, FailureGroup]]:
    """The findings of a run with their rollouts, best to fix first; what two of them name is said."""
    rollouts = context.rollouts
    named_by_package = {label.name for label, _ in custom}
    mine = [group for group in groups(context.partition, rollouts) if group.mode not in named_by_package]
    habit = by_habit(context)
    known = rollouts.marked(habit[0].failing.rows if habit is not None else none(rollouts).rows)
    rest = of_unattributed(context, known)
    drafted = [(group, draft_of(group, context)) for group in (*mine, *([rest] if rest is not None else []))]
    beside = (by_guess(context, doubts, mine), by_giving_up(context, mine), by_shut_out(context), habit)
    drafted += [one for one in beside if one is not None]
    drafted += [by_label(label, seen, context) for label, seen in custom if label.fix is not None and seen.fired_failed]
    drafted = [(group, draft) for group, draft in drafted if len(group.failing)]
    ranked = sorted(((_finding(group, draft, context), group) for group, draft in drafted), key=lambda one: _rank(*one))
    chosen: list[tuple[Finding, FailureGroup]] = []
    named = rollouts.marked()
    for one, group in ranked:
        hit = rollouts.those(group.failing.rows)
        says_more = group.mode == "label" or int((~named[hit]).sum()) > OVERLAP * len(group.failing)
        if says_more and len(chosen) < MOST:
            chosen.append((_counted_again(one, group, chosen), group))
            named[hit] = True
    return chosen


def _counted_again(finding: Finding, group: FailureGroup, chosen: Sequence[tuple[Finding, FailureGroup]]) -> Finding:
    """The finding, saying how many of its rollouts earlier ones count too."""
    rollouts = group.failing.of
    shared = [
        (number, times)
        for number, (_, other) in enumerate(chosen, start=1)
        if (times := len(group.failing.only(rollouts.marked(other.failing.rows))))
    ]
    if not shared:
        return finding
    told = ", ".join(f"{times:,} in finding {number}" for number, times in shared)
    return replace(finding, what=f"{finding.what} Also counted: {told}.")


def _rank(finding: Finding, group: FailureGroup) -> tuple[bool, bool, bool, float, float, int, str]:
    """What is settled before what repeats the verdict, is suspected or only described; then by what fixing it would give."""
    room = finding.headroom
    low = room.interval.low if room.interval is not None else -inf
    suspected = group.confidence is Confidence.SUSPECTED
    return (
        group.mode == UNATTRIBUTED,
        suspected,
        group.repeats_the_verdict,
        -room.only_defect,
        -low,
        -finding.rollouts,
        finding.id,
    )


def _finding(group: FailureGroup, draft: FindingDraft, context: RunContext) -> Finding:
    where = draft.where or examples(group, context)
    rollouts = context.rollouts
    settled = group.confidence is not Confidence.SUSPECTED and not group.repeats_the_verdict
    alone = group.alone.rows if settled else none(rollouts).rows
    sure = group.sure if group.sure is not None else group.failing
    hit, only = rollouts.those(sure.rows, group.passing.rows), rollouts.those(alone)
    return Finding(
        id=group.id,
        title=draft.title,
        what=draft.what,
        against=where[0][0] if where else "",
        where=tuple(text for text, _ in where[1:]),
        fix=draft.fix,
        brief=draft.brief,
        kind=draft.kind,
        owner=draft.owner,
        support=draft.support,
        rollouts=len(group.failing),
        tasks=len(group.tasks),
        task_ids=group.tasks,
        locations=group.failing.named(MOST_REFS),
        evidence=tuple(one for _, found in where for one in found),
        confidence=str(group.confidence),
        measured=in_short(group.mode) if group.mode in by_code() else "",
        headroom=_worth(group, headroom(rollouts, hit, only, estimable=draft.estimable and settled), context),
    )


def _worth(group: FailureGroup, room: Headroom, context: RunContext) -> Headroom:
    """What fixing it gives; where no repeat of its tasks is without it, what rollouts that were validly graded achieve.

    Only for what is not the agent's: an agent that is fixed may well do better than the rest of its rollouts.
    """
    _rollouts, table = context.rollouts, context.partition.attributions.table[group.failing.rows]
    usual = context.usual_pass_rate
    if room.estimate is not None or not table.select(NOT_AGENTS).to_series().all() or usual is None:
        return room
    return replace(
        room, estimate=usual * room.ceiling, reason="at the pass rate of the rollouts that are the agent's own"
    )


def by_label(label: CustomLabel, seen: RuleStatistics, context: RunContext) -> tuple[FailureGroup, FindingDraft]:
    """The failures in which a label holds; `label` has a fix, and `seen` says how it goes with failing."""
    fix = label.fix or Fix(kind="prompt", action=label.message)
    rollouts = context.rollouts
    hit = rollouts.marked(rollouts.fired[label.name])
    read_so, read_otherwise = _as_read(context.partition.attributions, label.name)
    failing = marked(rollouts, (hit & ~read_otherwise | read_so) & rollouts.failed)
    passing = marked(rollouts, hit & rollouts.passed)
    mine = {*failing, *passing}
    shown = [one for one in seen.evidence if (one.task_id, one.repeat) in mine]
    group = FailureGroup(
        mode="label",
        subject=label.name,
        failing=failing,
        passing=passing,
        alone=failing if label.direct else none(rollouts),
    )
    return group, FindingDraft(
        title=label.message.rstrip("."),
        what=f"The package's label `{label.name}` holds in {failing.in_words} that fail and in {len(passing)} that "
        f"pass{'' if len(passing) != 1 else 'es'}.{by_mode(failing, context)}",
        fix=fix.action,
        brief=fix.action,
        kind=fix.kind,
        owner=fix.kind,
        where=tuple(_label_quoted(one) for one in shown[:MOST_QUOTED]),
        support=seen.support,
    )


def _as_read(attributions: Attributions, mode: str) -> tuple[Flags, Flags]:
    """Rollouts that readers put down to a mode, and those that they put down to another."""
    read = pl.DataFrame({"at": [one.location for one in attributions.readings]}, schema={"at": pl.String})["at"]
    at = pl.format("{}#{}", "task_id", "repeat").is_in(read.implode())
    same = (pl.col("mode") == mode).fill_null(value=False)
    found = attributions.table.select(so=at & same, otherwise=at & ~same)
    return found["so"].to_numpy(), found["otherwise"].to_numpy()


def _label_quoted(one: Evidence) -> QuotedSentence:
    where = f"{one.key}:{one.step}" if one.step is not None else f"{one.key}, {one.field}"
    quote = f"`{one.quote}`" if one.field == "arguments" and "`" not in one.quote else f'"{one.quote}"'
    return f"{where}: {quote}.", (one,)
