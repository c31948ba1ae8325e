"""What is known of each rollout that did not pass, of its task and of its run: the evidence that modes decide on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from msgspec import Struct, structs

from blade.attribution.differences_that_count import ACTIONS, ROW, Differences
from blade.model.diagnosis import Doubt
from blade.model.finding import Difference, Sign
from blade.model.run import Run
from blade.modes.evidence import ENOUGH, FEWEST_ALIKE, USUAL, RolloutEvidence, RunCounts, TaskDoubt, TaskFacts
from blade.stats.counts import JUDGED, PASSED
from blade.stats.rollout_index import SINGLE, Flags, Integers, RolloutIndex

ENOUGH_PASSES = 10
"""Passes that show how an answer is to be written: fewer may have it in common by chance."""
MOST_ANSWERS = 200
"""Answers that tell what kind of thing is handed in."""
AT_A_TIME = 4096
"""Rollouts whose evidence is held at once: as objects it takes ten times as much memory as in the table."""
At = tuple[str, str]
"""Kind and subject of a sign."""


class Tally(Struct, frozen=True, kw_only=True):
    """How many passing and other rollouts of a task have each sign."""

    passes: Mapping[At, int] = {}
    failures: Mapping[At, int] = {}


class OtherRun(Struct, frozen=True, kw_only=True):
    """What another run says of tasks of this one, by the ids of this one."""

    name: str
    passed: frozenset[str]
    tallies: Mapping[str, Tally]
    checks: Mapping[str, int] = {}
    """By task: the most checks that were made in a rollout."""
    rollouts: int = 0
    with_output: int = 0


class CollectedEvidence(Struct, frozen=True, kw_only=True):
    """The evidence of a rollout, its row in the table, and the first step at which an action differs."""

    row: int
    evidence: RolloutEvidence
    step: int | None


def as_other_run(run: Run, names: Mapping[str, str]) -> OtherRun:
    """A run as seen from another one; `names` gives the other's id of each of its tasks."""
    mine = run.rollouts.select("task_id", "outcome").filter(PASSED)["task_id"].unique().to_list()
    return OtherRun(
        name=run.name,
        passed=frozenset(names[task] for task in mine if task in names),
        tallies={names[task]: tally for task, tally in tallies(run).items() if task in names},
        rollouts=run.rollouts.filter(THERE).height,
        with_output=run.rollouts.filter(THERE & SPOKE).height,
        checks={names[task]: asked[0] for task, asked in _checks_made(run).items() if task in names},
    )


def _checks_made(run: Run) -> dict[str, list[int]]:
    """By task: how many checks were made in each of its rollouts, the most first."""
    rows = run.rollouts.select("task_id", "checks_asked").drop_nulls()
    counted = rows.group_by("task_id").agg(pl.col("checks_asked").sort(descending=True))
    return dict(counted.iter_rows())


def _signs(run: Run) -> pl.DataFrame:
    """One row a sign of a rollout, each kind and subject once a rollout."""
    rows = run.rollouts.select("task_id", "outcome", "signs").with_row_index(ROW)
    long = rows.filter(pl.col("signs").list.len() > 0).explode("signs").unnest("signs")
    return long.select(ROW, "task_id", "kind", "subject", passed=PASSED).unique(maintain_order=True)


def tallies(run: Run) -> dict[str, Tally]:
    """For each task with a sign: how many of its rollouts have it."""
    counted = _signs(run).group_by("task_id", "kind", "subject", "passed", maintain_order=True).len()
    found: dict[str, tuple[dict[At, int], dict[At, int]]] = {}
    for task, kind, subject, passed, times in counted.iter_rows():
        found.setdefault(task, ({}, {}))[0 if passed else 1][kind, subject] = times
    return {task: Tally(passes=passes, failures=failures) for task, (passes, failures) in found.items()}


THERE = pl.col("outcome") != "missing"
SPOKE = ((pl.col("calls") > 0) | (pl.col("agent_chars") > 0)).fill_null(value=False)


def run_facts(run: Run, only_reads: bool, others: Sequence[OtherRun] = ()) -> RunCounts:
    """What the rollouts of a run have in common, and those of other runs of its tasks."""
    rows = run.rollouts.select("outcome", "steps", "calls", "agent_chars", "answer", "checks_met", "checks_asked")
    there = rows.filter(THERE)
    long = _signs(run)
    by_sign = long.group_by("kind", "subject").agg(all=pl.len(), passes=pl.col("passed").sum())
    by_kind = long.unique([ROW, "kind"]).group_by("kind").agg(all=pl.len(), passes=pl.col("passed").sum())
    return RunCounts(
        rollouts=there.height,
        with_output=there.filter(SPOKE).height,
        elsewhere=sum(one.rollouts for one in others),
        elsewhere_with_output=sum(one.with_output for one in others),
        with_trajectory=there["steps"].count(),
        sign_rollouts={(kind, subject): times for kind, subject, times, _ in by_sign.iter_rows()},
        sign_passes={(kind, subject): passes for kind, subject, _, passes in by_sign.iter_rows()},
        kind_rollouts={kind: times for kind, times, _ in by_kind.iter_rows()},
        kind_passes={kind: passes for kind, _, passes in by_kind.iter_rows()},
        most_replies=_most_replies(long),
        longest_talk=_longest_talk(long),
        passes=there.filter(PASSED).height,
        with_checks=rows["checks_asked"].count(),
        answers_are_patches=_are_patches(rows["answer"]),
        closing_label=_closing_label(long, there.filter(PASSED).height),
        answers_recorded=rows["answer"].count() * 2 >= rows.height,
        checks_counted=bool((rows["checks_met"] > 0).any()),
        only_reads=only_reads,
    )


def _are_patches(answers: pl.Series) -> bool:
    """Whether nearly all of what was handed in are patches."""
    there = answers.filter(answers.str.strip_chars() != "").head(MOST_ANSWERS).to_list()
    patches = sum(one.lstrip().startswith(("diff --git ", "--- ")) for one in there)
    return len(there) >= ENOUGH and patches >= USUAL * len(there)


def _closing_label(signs: pl.DataFrame, passes: int) -> str:
    """The label that nearly all passes have on their last line."""
    if passes < ENOUGH_PASSES:
        return ""
    counted = signs.filter((pl.col("kind") == "closing:label") & pl.col("passed")).group_by("subject").len()
    found = counted.filter(pl.col("len") >= USUAL * passes)["subject"].to_list()
    return str(found[0]) if found else ""


def _most_replies(signs: pl.DataFrame) -> str:
    """The highest number of replies after which talks break off: a limit where several share it and none passes."""
    found = signs.filter(pl.col("kind") == "stopped:after-replies")
    counts = found["subject"].cast(pl.Int64)
    if counts.is_empty():
        return ""
    most = int(counts.max() or 0)  # type: ignore[arg-type]
    at_most = found.filter(counts == most)
    return str(most) if at_most.height >= FEWEST_ALIKE and not at_most["passed"].any() else ""


def _longest_talk(signs: pl.DataFrame) -> str:
    """The number of messages at which talks break off, where no talk is longer and nearly all shorter ones are closed."""
    talks = signs.filter(pl.col("kind").is_in(["talk:unfinished", "talk:closed"]))
    if talks.is_empty():
        return ""
    lengths = talks["subject"].cast(pl.Int64)
    most, open_ = int(lengths.max() or 0), talks["kind"] == "talk:unfinished"  # type: ignore[arg-type]
    at_most = talks.filter(open_ & (lengths == most))
    usual = at_most.height >= max(FEWEST_ALIKE, USUAL * int(open_.sum()))
    return str(most) if usual and not talks.filter(open_)["passed"].any() else ""


def collect(
    rollouts: RolloutIndex,
    counting: Differences,
    only_reads: bool,
    others: Sequence[OtherRun] = (),
    doubts: Sequence[Doubt] = (),
    only: Flags | None = None,
) -> Iterator[list[CollectedEvidence]]:
    """The evidence of every rollout that did not pass, or of those `only`, in the order of the table, some at a time."""
    run = rollouts.run
    of_run = _OfRun(
        rollouts=rollouts,
        counting=counting,
        others=others,
        facts=run_facts(run, only_reads, others),
        doubted=_doubted(doubts),
        otherwise=judged_otherwise(rollouts),
        expecting=frozenset(run.tasks.drop_nulls("expected")["task_id"].to_list()),
    )
    lost = np.flatnonzero(~rollouts.passed if only is None else ~rollouts.passed & only)
    for start in range(0, len(lost), AT_A_TIME):
        yield list(_collected(lost[start : start + AT_A_TIME], of_run))


class _OfRun(Struct, frozen=True, kw_only=True):
    """What the evidence of all rollouts is made of."""

    rollouts: RolloutIndex
    counting: Differences
    others: Sequence[OtherRun]
    facts: RunCounts
    doubted: Mapping[str, Mapping[int | None, Sequence[TaskDoubt]]]
    otherwise: Flags
    expecting: frozenset[str]


def _collected(some: Integers, of_run: _OfRun) -> Iterator[CollectedEvidence]:
    """The evidence of some rollouts, by their rows."""
    mine = of_run.rollouts.run.rollouts.select(_CELLS)[some]
    counting = of_run.counting.between(int(some[0]), int(some[-1]))
    differs, steps = _differs(counting), _first_steps(counting)
    tasks = _TaskFactsOf(of_run.rollouts, mine["task_id"].unique(), of_run.others)
    for row, signs, cells in zip(some.tolist(), _signs_of(mine["signs"]), mine.drop("signs").rows(), strict=True):
        task, repeat, fired, *plain = cells
        evidence = RolloutEvidence(
            **dict(zip(_PLAIN, plain, strict=True)),
            signs=signs,
            differs=tuple(differs.get(row, ())),
            fired=tuple(dict.fromkeys(hit["code"] for hit in fired or ())),
            doubts=tuple(of_task.get(repeat, of_task.get(None, ()))) if (of_task := of_run.doubted.get(task)) else (),
            expects_answer=task in of_run.expecting,
            judged_otherwise=bool(of_run.otherwise[row]),
            task=tasks.of(task, plain[-1]),
            run=of_run.facts,
        )
        yield CollectedEvidence(row=row, evidence=evidence, step=steps.get(row))


def _signs_of(column: pl.Series) -> Iterator[tuple[Sign, ...]]:
    """The signs of each rollout, made column by column: as rows, each would be a dictionary first."""
    lengths = column.list.len().fill_null(0).to_list()
    fields = column.filter(column.list.len() > 0).explode().struct.unnest()
    made = map(_sign, *(fields[name].to_list() for name in Sign.__struct_fields__))
    return (tuple(islice(made, length)) for length in lengths)


def _sign(kind: str, subject: str, quote: str, field: str, step: int | None) -> Sign:
    return Sign(kind=kind, subject=subject, quote=quote, field=field, step=step)


_PLAIN = (
    "outcome",
    "stop",
    "error_class",
    "steps",
    "calls",
    "agent_chars",
    "answer",
    "reward",
    "checks_met",
    "checks_asked",
)
_CELLS = ("task_id", "repeat", "signs", "fired", *_PLAIN)


def _differs(counting: Differences) -> dict[int, list[Difference]]:
    found: dict[int, list[Difference]] = {}
    rows = counting.rows.filter(~pl.col("passed")).select(ROW, "what", "step")
    there = rows["what"].unique()
    kinds = dict(zip(there.to_list(), counting.kinds[there].rows(), strict=True))
    made: dict[tuple[int, int | None], Difference] = {}
    for row, what, step in rows.iter_rows():
        one = made.get((what, step))
        if one is None:
            kind, name, detail = kinds[what]
            one = made[what, step] = Difference(kind=kind, name=name, detail=detail, step=step)
        found.setdefault(row, []).append(one)
    return found


def _first_steps(counting: Differences) -> dict[int, int]:
    acts = counting.only(pl.col("kind").is_in(list(map(str, ACTIONS)))).rows.drop_nulls("step")
    return dict(acts.group_by(ROW).agg(pl.col("step").min()).iter_rows())


def _doubted(doubts: Sequence[Doubt]) -> dict[str, dict[int | None, list[TaskDoubt]]]:
    """By task and repeat, the doubts that concern it; None stands for repeats that no doubt names."""
    found: dict[str, dict[int | None, list[TaskDoubt]]] = {}
    stable = [doubt for doubt in doubts if not doubt.preview and doubt.about != "agent"]
    for doubt in stable:
        for task, repeat in doubt.places:
            found.setdefault(task, {}).setdefault(repeat, [])
    for doubt in stable:
        for task in doubt.tasks:
            named: set[int | None] = {repeat for of, repeat in doubt.places if of == task}
            repeats: set[int | None] = {None, *found.get(task, {})}
            for each in sorted(repeats, key=lambda one: -1 if one is None else one):
                if not named or each in named:
                    entry = TaskDoubt(
                        code=doubt.code, message=doubt.message, strong=doubt.strong, named=not named or each in named
                    )
                    found.setdefault(task, {}).setdefault(each, []).append(entry)
    return found


class _TaskFactsOf:
    """The facts of some tasks, worked out when they are asked for."""

    def __init__(self, rollouts: RolloutIndex, tasks: pl.Series, others: Sequence[OtherRun]) -> None:
        mine = rollouts.run.rollouts.select("task_id", "outcome", "answer_fp", "signs", "checks_asked")
        run = structs.replace(rollouts.run, rollouts=mine.filter(pl.Series(rollouts.of_tasks(tasks.to_list()))))
        rows = run.rollouts.select("task_id", "outcome", "answer_fp")
        wrong = pl.col("answer_fp").filter(pl.col("outcome") == "failed").drop_nulls().n_unique()
        counted = rows.group_by("task_id").agg(PASSED.sum(), judged=JUDGED.sum(), answers=wrong)
        self._counts = {task: tuple(numbers) for task, *numbers in counted.iter_rows()}
        self._own, self._others, self._known = tallies(run), others, dict[tuple[str, int | None], TaskFacts]()
        self._checks = _checks_made(run)

    def of(self, task: str, asked: int | None) -> TaskFacts:
        """The facts of a task, as seen from a rollout in which so many checks were made."""
        if (task, asked) not in self._known:
            self._known[task, asked] = self._facts(task, asked)
        return self._known[task, asked]

    def _facts(self, task: str, asked: int | None) -> TaskFacts:
        passes, judged, answers = self._counts[task]
        mine = list(self._checks.get(task, ()))
        if asked in mine:
            mine.remove(asked)
        known = [one for one in (self._own.get(task), *(run.tallies.get(task) for run in self._others)) if one]
        return TaskFacts(
            passes=passes,
            judged=judged,
            answers=answers,
            checks_of_others=max(
                [*mine, *(run.checks[task] for run in self._others if task in run.checks)], default=None
            ),
            passed_elsewhere=any(task in run.passed for run in self._others),
            sign_passes=_summed([one.passes for one in known]),
            sign_failures=_summed([one.failures for one in known]),
            runs_with=_summed([dict.fromkeys({**one.passes, **one.failures}, 1) for one in known]),
        )


def _summed(counts: Sequence[Mapping[At, int]]) -> dict[At, int]:
    found: dict[At, int] = {}
    for one in counts:
        for at, times in one.items():
            found[at] = found.get(at, 0) + times
    return found


LONG_ANSWER = 20
"""Characters of an answer that two rollouts hardly give by chance, and that is more than a choice or a number."""


def judged_otherwise(rollouts: RolloutIndex) -> Flags:
    """Failures of one message, or a thought and a message, that another rollout of the task passes with.

    Where no trajectory is recorded, a long answer, such as a query or a patch, is all that was handed in.
    """
    table = rollouts.run.rollouts
    single = table.select(((pl.col("calls") == 0) & (pl.col("steps") <= SINGLE)).fill_null(value=False)).to_series()
    bare = table.select(
        pl.col("steps").is_null() & (pl.col("answer").str.len_chars() >= LONG_ANSWER).fill_null(value=False)
    ).to_series()
    alone = (rollouts.repeats_itself & single.to_numpy()) | bare.to_numpy()
    otherwise = rollouts.marked()
    if alone.any():
        shared = ("task_id", "output_fp", "answer_fp")
        rows = table.select(*shared, passed=pl.Series(rollouts.passed)).with_row_index(ROW)
        prompted = rollouts.run.tasks.drop_nulls("prompt_fp").height > 0
        one_prompt = rollouts.run.tasks.filter(pl.col("prompt_fp").is_not_null() | (not prompted)).select("task_id")
        same = rows.filter(pl.Series(alone)).join(one_prompt, on="task_id", how="semi")
        otherwise[same.filter(pl.col("passed").any().over(*shared))[ROW]] = True
    return otherwise & rollouts.failed


def known_cells(evidence: RolloutEvidence) -> tuple[Any, ...] | None:
    """What decides about a rollout without signs and doubts, so that equal ones are decided once; None for others."""
    if evidence.signs or evidence.doubts:
        return None
    told = tuple((one.kind, one.name, one.detail) for one in evidence.differs)
    plain = (
        evidence.outcome,
        evidence.stop,
        evidence.error_class,
        evidence.silent,
        bool(evidence.calls),
        bool(evidence.agent_chars),
        bool(evidence.answer),
        evidence.expects_answer,
    )
    checks = (evidence.checks_met, evidence.checks_asked)
    return plain, checks, told, evidence.fired, evidence.judged_otherwise, evidence.task.solved
