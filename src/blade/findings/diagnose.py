"""Everything said about why the rollouts of a run failed, and the findings among it: ranked by what fixing them would give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from blade.attribution.causes import causes, overruled
from blade.attribution.groups import FailureGroup, groups
from blade.attribution.modes import partition
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
from blade.findings.beyond_differences import by_giving_up, by_guess, by_habit, by_shut_out, by_user, unexplained
from blade.findings.calls import argument, extra, left_out, refused_by_schema
from blade.findings.deep_dives import deep_dives
from blade.findings.examples import examples, shown_by
from blade.findings.habits import alarms
from blade.findings.interventions import interventions
from blade.findings.machinery import limit, machinery, no_answer, no_verdict
from blade.findings.verdicts import answer, check, declined, not_said, words
from blade.model.analysis import TaskResult
from blade.model.diagnosis import Diagnosis, Doubt, Elsewhere, Finding, Label, Mode, Partition, RuleStatistics
from blade.model.finding import Evidence
from blade.model.run import Run
from blade.rules.engine import doubts
from blade.rules.scan import as_rule
from blade.stats.association import benjamini_hochberg
from blade.stats.headroom import headroom
from blade.stats.rollout_index import Ref, RolloutIndex, index_rollouts
from blade.stats.support import SymptomCounts, tested

AGENT = "agent"
MOST = 8
OVERLAP = 0.5
"""A finding most of whose failures another one already names is left out."""
ELSEWHERE = ("answer:none", "answer:equal", "answer:other form", "answer:not extracted")
"""Groups that are a mode or a doubt about the verifier, and no finding of their own."""
MOST_QUOTED = 2


def diagnose(
    run: Run,
    elsewhere: Elsewhere | None = None,
    labels: Mapping[str, Label] | None = None,
    custom: Sequence[CustomLabel] = (),
) -> Diagnosis:
    """Modes, contrasts, findings, doubts, causes and deep dives; the artifacts are read once more.

    `elsewhere` is what other runs of the benchmark say; `labels` a person's verdicts;
    `custom` the rules of its package, whose hits stand in the run's table.
    """
    elsewhere = elsewhere or Elsewhere()
    rollouts = index_rollouts(run)
    parts = partition(rollouts)
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
    by_label = [(one, detect) for one in custom for detect in checked if detect.code == one.name]
    named = findings(context, by_label, raised)
    decided = overruled(causes(rollouts, parts, raised, checked, elsewhere.passed), labels or {})
    remedies, together = interventions(context, named, raised, checked, decided)
    found = Diagnosis(
        partition=_with_evidence(context),
        findings=tuple(finding for finding, _ in named),
        interventions=remedies,
        together=together,
        contrasts=tuple(contrasts.values()),
        habits=habits.habits(done, q[len(seen) :]),
        rule_statistics=checked,
        causes=decided,
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
        return tuple(_with_files(one, reading) for one in value)
    if isinstance(value, Struct):
        return replace(value, **{name: _with_files(getattr(value, name), reading) for name in value.__struct_fields__})
    return value


def _with_evidence(context: RunContext) -> Partition:
    parts, reading = context.partition, context.reading
    table = parts.table.filter(pl.Series(context.was_read[context.rollouts.failed]))
    table = table.sort("near", descending=True, maintain_order=True).select("mode", "task_id", "repeat")
    places: dict[str, list[Ref]] = {}
    for mode, task, repeat in table.iter_rows():
        places.setdefault(mode, []).append((task, repeat))
    modes = (replace(mode, evidence=_evidence(mode, places.get(mode.id, []), reading)) for mode in parts.modes)
    return replace(parts, modes=tuple(modes))


def _evidence(mode: Mode, places: Sequence[Ref], reading: RereadRollouts) -> Evidence | None:
    """A quote of one rollout of the mode: near misses, which come first in `places`, and tasks that sometimes pass first."""
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
    """The findings of a run with their rollouts, best to mend first; they say different things.

    What `doubts` put down to the benchmark beyond question is not put down to the agent as well.
    """
    rollouts = context.rollouts
    agents = map(_without_withheld(context), groups(context.partition, rollouts))
    shut_out, habit = by_shut_out(context), by_habit(context)
    kept_out = shut_out[0].alone if shut_out is not None else none(rollouts)
    mine = [
        group for group in map(_without_rollouts([*_unsound(doubts), *kept_out], rollouts), agents) if group.failing
    ]
    drafted = [(group, DRAFTS[group.family](group, context)) for group in mine]
    told = rollouts.marked(kept_out.rows, habit[0].failing.rows if habit is not None else kept_out.rows)
    habits = (
        *(by_user(context), by_guess(context, doubts, mine), by_giving_up(context, mine), shut_out, habit),
        unexplained(context, told),
    )
    drafted += [one for one in habits if one is not None]
    drafted += [by_label(label, seen, context) for label, seen in custom if label.fix is not None and seen.fired_failed]
    ranked = sorted(
        ((_finding(group, draft, context), group) for group, draft in drafted), key=lambda one: _rank(one[0])
    )
    chosen: list[tuple[Finding, FailureGroup]] = []
    named = rollouts.marked()
    for one, group in ranked:
        hit = rollouts.those(group.failing.rows)
        says_more = group.family == "label" or int((~named[hit]).sum()) > OVERLAP * len(group.failing)
        if one.id not in ELSEWHERE and says_more and len(chosen) < MOST:
            chosen.append((one, group))
            named[hit] = True
    return chosen


def _unsound(doubts: Sequence[Doubt]) -> list[Ref]:
    return [place for doubt in doubts if doubt.strong and not doubt.preview for place in doubt.places]


def _without_rollouts(places: Sequence[Ref], rollouts: RolloutIndex) -> Callable[[FailureGroup], FailureGroup]:
    if not places:
        return lambda group: group
    named = rollouts.marked(rollouts.at(places))
    return lambda group: replace(group, failing=group.failing.less(named), alone=group.alone.less(named))


def _without_withheld(context: RunContext) -> Callable[[FailureGroup], FailureGroup]:
    """What the simulated user kept back is not the agent's to do: such rollouts are not counted as left out."""
    less = _without_rollouts(
        [(one.walk.rollout.key.task_id, one.walk.repeat) for one in context.withheld], context.rollouts
    )
    return lambda group: less(group) if group.family == "left-out" else group


def _rank(finding: Finding) -> tuple[bool, float, float, int, str]:
    """What can be mended before what is described, and then by what it would give."""
    room = finding.headroom
    low = room.interval.low if room.interval is not None else -inf
    return not finding.fix, -room.only_defect, -low, -finding.rollouts, finding.id


def _finding(group: FailureGroup, draft: FindingDraft, context: RunContext) -> Finding:
    where = draft.where or examples(group, context)
    rollouts = context.rollouts
    hit, only = rollouts.those(group.failing.rows, group.passing.rows), rollouts.those(group.alone.rows)
    return Finding(
        id=group.id,
        title=draft.title,
        what=draft.what,
        against=where[0][0] if where else "",
        where=tuple(text for text, _ in where[1:]),
        fix=draft.fix,
        brief=draft.brief,
        kind=draft.kind,
        support=draft.support,
        rollouts=len(group.failing),
        tasks=len(group.tasks),
        task_ids=group.tasks,
        locations=group.failing.named(MOST_REFS),
        evidence=tuple(one for _, found in where for one in found),
        headroom=headroom(rollouts, hit, only, estimable=draft.estimable),
    )


DRAFTS: dict[str, Callable[[FailureGroup, RunContext], FindingDraft]] = {
    "extra": extra,
    "left-out": left_out,
    "argument": argument,
    "not-said": not_said,
    "check": check,
    "words": words,
    "limit": limit,
    "machinery": machinery,
    "no-verdict": no_verdict,
    "no-answer": no_answer,
    "declined": declined,
    "schema": refused_by_schema,
    "answer": answer,
}
"""By the family of a group."""


def by_label(label: CustomLabel, seen: RuleStatistics, context: RunContext) -> tuple[FailureGroup, FindingDraft]:
    """The failures in which a label holds; `label` has a fix, and `seen` says how it goes with failing."""
    fix = label.fix or Fix(kind="prompt", action=label.message)
    rollouts = context.rollouts
    hit = rollouts.marked(rollouts.fired[label.name])
    failing, passing = marked(rollouts, hit & rollouts.failed), marked(rollouts, hit & rollouts.passed)
    group = FailureGroup(
        family="label",
        name=label.name,
        detail="",
        failing=failing,
        passing=passing,
        alone=failing if label.direct else none(rollouts),
    )
    return group, FindingDraft(
        title=label.message.rstrip("."),
        what=f"{failing.in_words} that fail, and {len(passing)} that pass{'' if len(passing) != 1 else 'es'}, "
        f"carry the package's label `{label.name}`.",
        fix=fix.action,
        brief=fix.action,
        kind=fix.kind,
        where=tuple(_label_quoted(one) for one in seen.evidence[:MOST_QUOTED]),
        support=seen.support,
    )


def _label_quoted(one: Evidence) -> QuotedSentence:
    where = f"{one.key}:{one.step}" if one.step is not None else f"{one.key}, {one.field}"
    return f'{where}: "{one.quote}".', (one,)
