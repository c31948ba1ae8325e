"""One cause a task, from the attributions of its rollouts that did not pass: the majority decides, the mixture is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from blade.attribution.failure_table import in_words
from blade.model.attribution import UNATTRIBUTED, Confidence
from blade.model.diagnosis import Label, Partition, TaskCause
from blade.model.finding import Cause
from blade.model.reading import BY_LABEL
from blade.modes.catalog import by_code
from blade.stats.counts import JUDGED, PASSED
from blade.stats.rollout_index import RolloutIndex

A_RESULT = "result"
"""Stands for the modes that only say what was wrong: whether the agent could do better, its other rollouts tell."""
SLIPS = ("action-extra", "partial-actions", "several-action-errors", "wrong-order")
"""What one rollout does and a passing one does not is a slip; in several it is how the agent goes about the task."""
NAMES_A_VALUE = ("wrong-argument", "wrong-object")
MADE_UP = "made-up-id"
"""A sign that the wrong value stands nowhere in what the agent had seen: that is a habit, and no slip."""
_SURE = (Confidence.PROVEN, Confidence.LIKELY, Confidence.SUSPECTED)
NONE_SHARED = "nothing in these files decides it"
FEWEST_WRONG = 2
"""Different wrong answers, or ways to be wrong, that speak of not knowing rather than of one misreading that all repeats share."""


def causes(
    rollouts: RolloutIndex,
    parts: Partition,
    labels: Mapping[str, Cause],
    passed_elsewhere: frozenset[str],
) -> dict[str, TaskCause]:
    """The cause of every task with a rollout that did not pass, in the order of the table.

    `labels` are the causes of the modes that a package defines.
    """
    rows = rollouts.run.rollouts.select("task_id", "outcome", "answer_fp")
    wrong = pl.col("answer_fp").filter(pl.col("outcome") == "failed").drop_nulls().n_unique()
    facts = rows.group_by("task_id").agg(PASSED.sum(), judged=JUDGED.sum(), answers=wrong)
    alike = _wrong_in_one_way(rollouts)
    known = {
        task: (passes, judged, 1 if task in alike else answers) for task, passes, judged, answers in facts.iter_rows()
    }
    # Grouped here: a table a task would cost more than all the rest.
    of_task: dict[str, list[_Attributed]] = {}
    for task, *cells in parts.table.select("task_id", *_Attributed._fields).iter_rows():
        of_task.setdefault(task, []).append(_Attributed(*cells))
    return {
        task: _cause(mine, *known[task], passed_elsewhere=task in passed_elsewhere, labels=labels)
        for task, mine in of_task.items()
    }


def _wrong_in_one_way(rollouts: RolloutIndex) -> frozenset[str]:
    """Tasks of which all failures show one and the same value in each failing test, whatever else they hand in."""
    rows = rollouts.run.rollouts.filter(pl.col("outcome") == "failed").select("task_id", "signs")
    of_values = pl.element().struct.field("kind") == "test:values"
    named = pl.col("signs").list.eval(pl.element().filter(of_values).struct.field("subject")).list.first()
    values = (
        rows.select("task_id", values=named)
        .group_by("task_id")
        .agg(n=pl.len(), shown=pl.col("values").count(), ways=pl.col("values").n_unique())
    )
    alike = values.filter((pl.col("n") > 1) & (pl.col("shown") == pl.col("n")) & (pl.col("ways") == 1))
    return frozenset(alike["task_id"].to_list())


class _Attributed(NamedTuple):
    """What an attribution says for the cause of its task."""

    mode: str
    subject: str
    party: str
    confidence: str | None
    by: str | None
    also: Sequence[str]


def _cause(
    rows: Sequence[_Attributed],
    passes: int,
    judged: int,
    answers: int,
    *,
    passed_elsewhere: bool,
    labels: Mapping[str, Cause],
) -> TaskCause:
    """By the cause that most rollouts have; where that is only a wrong result, by what the other rollouts show."""
    modes = _counted([row.mode for row in rows])
    mixture = _mixture(modes)
    stands_for = [
        A_RESULT if passes and row.mode in SLIPS and modes[row.mode] == 1 else _stands_for(row, labels) for row in rows
    ]
    counts = _counted(stands_for)
    # Between a habit and a slip the weaker claim wins a tie.
    most = min(counts, key=lambda one: (-counts[one], one == UNATTRIBUTED, one != A_RESULT, one))
    if most == UNATTRIBUTED or counts[most] * 2 < len(rows):
        why = NONE_SHARED if most == UNATTRIBUTED else f"no mode has half of the failures: {mixture}"
        return TaskCause(cause=None, confidence=None, because=why, decided_by="")
    mine = [row for row, cause in zip(rows, stands_for, strict=True) if cause == most]
    mine.sort(key=lambda row: (-modes[row.mode], row.mode))
    if most == A_RESULT:
        ways = len({(row.mode, row.subject) for row in rows})
        return _of_result(mixture, passes, judged, max(answers, ways), passed_elsewhere, _by(mine))
    confidence = _least_sure([row.confidence for row in mine if row.confidence is not None])
    cause = Cause(most) if most in tuple(Cause) else None
    return TaskCause(cause=cause, confidence=confidence, because=mixture, decided_by=_by(mine))


def _counted(words: Sequence[str]) -> dict[str, int]:
    """As `Counter`, which takes ten times as long for the few rollouts of a task."""
    return {word: words.count(word) for word in dict.fromkeys(words)}


def _stands_for(row: _Attributed, labels: Mapping[str, Cause]) -> str:
    """The cause that a mode stands for, `A_RESULT` where other rollouts tell, or the mode itself where it stands for none.
    A suspicion that charges nobody settles nothing.
    """
    if row.party == "unknown" and row.confidence == Confidence.SUSPECTED:
        return UNATTRIBUTED
    declared = by_code().get(row.mode)
    cause = labels.get(row.mode) or (declared.cause if declared else None)
    if cause is not None or declared is None or declared.party == "unknown":
        return str(cause or row.mode)
    made_up = row.mode in NAMES_A_VALUE and MADE_UP in row.also
    return str(Cause.BEHAVIOR) if made_up else A_RESULT


def _of_result(
    mixture: str, passes: int, judged: int, answers: int, passed_elsewhere: bool, decided_by: str
) -> TaskCause:
    """A wrong result: unreliable where some repeat passes; knowledge only on positive evidence; else no cause."""
    if passes:
        because, cause = f"passes {passes} of {judged}; {mixture}", Cause.UNRELIABLE
    elif passed_elsewhere:
        because, cause = f"another run passes it; {mixture}", Cause.KNOWLEDGE
    elif answers >= FEWEST_WRONG:
        because, cause = f"wrong in {answers} different ways; {mixture}", Cause.KNOWLEDGE
    else:
        return TaskCause(cause=None, confidence=None, because=mixture, decided_by=decided_by)
    return TaskCause(cause=cause, confidence=str(Confidence.LIKELY), because=because, decided_by=decided_by)


def _by(rows: Sequence[_Attributed]) -> str:
    return in_words([(by, 1) for by in dict.fromkeys(row.by for row in rows) if by][:1])


def _mixture(modes: Mapping[str, int]) -> str:
    """`3 ran out of time, 1 grader did not run`."""
    ranked = sorted(modes, key=lambda code: (-modes[code], code))
    return ", ".join(f"{modes[code]} {_row(code)}" for code in ranked)


def _row(code: str) -> str:
    declared = by_code().get(code)
    return f"{declared.row[0].lower()}{declared.row[1:]}" if declared else code


def _least_sure(confidences: Sequence[str]) -> str | None:
    """The confidence of a verdict on several rollouts is that of its weakest one."""
    return max(confidences, key=lambda one: _SURE.index(Confidence(one)), default=None)


def by_persons(
    found: Mapping[str, TaskCause], labels: Mapping[str, Label], by_rules: Mapping[str, TaskCause]
) -> dict[str, TaskCause]:
    """The causes with a person's verdicts in place of what the rules say."""
    return {**found, **{task: _by_person(labels[task], by_rules[task]) for task in labels if task in found}}


def _by_person(label: Label, rules: TaskCause) -> TaskCause:
    return TaskCause(
        cause=label.cause,
        confidence=str(Confidence.PROVEN),
        because=label.note or "a person's verdict",
        decided_by=BY_LABEL,
        rules_said=rules.cause,
    )
