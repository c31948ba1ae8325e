"""Everything said about why the rollouts of a run failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from blade.attribution.causes import causes, overruled
from blade.attribution.modes import partition
from blade.custom_rules import CustomLabel
from blade.evidence.context import Context
from blade.evidence.contrast import contrast, unlike
from blade.evidence.reading import Reading, read
from blade.evidence.withheld import withheld
from blade.findings import habits, rule_statistics
from blade.findings.alarms import alarms
from blade.findings.deep_dives import deep_dives
from blade.findings.exhibits import shown_by
from blade.findings.interventions import interventions
from blade.findings.ranked import findings
from blade.model.analysis import TaskResult
from blade.model.diagnosis import Diagnosis, Elsewhere, Label, Mode, Partition
from blade.model.finding import Evidence
from blade.model.run import Run
from blade.rules.custom import as_rule
from blade.rules.run import doubts
from blade.stats.association import benjamini_hochberg
from blade.stats.rollout_index import index_rollouts
from blade.stats.support import SymptomCounts, tested

AGENT = "agent"


def diagnose(
    run: Run,
    elsewhere: Elsewhere | None = None,
    labels: Mapping[str, Label] | None = None,
    custom: Sequence[CustomLabel] = (),
) -> Diagnosis:
    """Modes, contrasts, findings, doubts, causes and deep dives; the artifacts are read once more.

    `elsewhere` is what other runs of the benchmark say; `labels` a person's verdicts;
    `taught` the rules of its package, whose hits stand in the run's table.
    """
    elsewhere = elsewhere or Elsewhere()
    rollouts = index_rollouts(run)
    parts = partition(rollouts)
    reading = read(rollouts, parts)
    failing = (*reading.sometimes, *reading.never)
    odd = {task: why for task in failing if (why := unlike(reading.of(task)))}
    contrasts = {task: contrast(task, reading.of(task)) for task in reading.sometimes if task not in odd}
    kept = [one for task in (*reading.sometimes, *reading.never) for one in withheld(reading.of(task))]
    context = Context(
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


def _with_files(value: Any, reading: Reading) -> Any:
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


def _with_evidence(context: Context) -> Partition:
    parts, reading = context.partition, context.reading
    table = parts.table.filter(pl.Series(context.was_read[context.rollouts.failed]))
    return replace(parts, modes=tuple(replace(mode, evidence=_evidence(mode, table, reading)) for mode in parts.modes))


def _evidence(mode: Mode, table: pl.DataFrame, reading: Reading) -> Evidence | None:
    """A quote of one rollout of the mode: near misses and tasks that sometimes pass first."""
    mine = table.filter(pl.col("mode") == mode.id).sort("near", descending=True, maintain_order=True)
    places = list(mine.select("task_id", "repeat").iter_rows())
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
