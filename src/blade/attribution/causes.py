"""One cause a task, or an honest null: the first step that applies decides, and says on what it rests.

F are the rollouts of a task that did not pass. Machinery, data and the benchmark itself are settled before the model is
blamed; that an answer is wrong is what is to be explained, and explains nothing by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
import polars as pl
from msgspec import Struct

from blade.model.diagnosis import Doubt, Label, Partition, RuleStatistics, Support, TaskCause
from blade.model.finding import Cause, Differs
from blade.model.run import Run
from blade.stats.rollout_index import Flags, Integers, RolloutIndex

INFRA_MODES = {
    "machinery": "the machinery failed",
    "no-verdict": "the verifier left no account",
    "undecided": "the judge came to no verdict",
    "verifier-failed": "the verifier failed itself",
    "no-output": "the agent never spoke",
}
"""Modes that are the harness's doing, whatever the model."""
BEHAVIOR_MODES = {
    "cut-tokens": "cut by the token limit",
    "cut-steps": "cut by the limit of steps",
    "cut-time": "cut by the time limit",
    "cut-program": "its program is too slow for the tests",
    "cut-memory": "cut by the memory limit",
    "declined": "the agent declined or abstained",
    "only-thought": "it thought, and then said nothing",
    "no-answer": "no answer was handed in",
    "several-answers": "more than one answer was given",
    "schema": "a call broke the schema of its tool",
}
"""Modes that are the agent's own, and no question of knowing."""
COMPARABLE = (
    "answer-",
    "check:",
    "one-check",
    "several-checks",
    "all-checks",
    "said:",
    "not-said",
    "wrong-",
    "unwanted-",
    "judged-",
    "call-",
)
COMPARED_CALLS = ("no-change", "part-way", "more-than-due", "several-differences")
"""Modes in which a verdict was reached on something that was handed in."""
VERIFIER_CRASHED = "TSK013"
"""The verifier's own code raised: a fault of the benchmark, and not of what it runs on."""
_OF_ACTIONS = [
    str(kind) for kind in (Differs.UNWANTED, Differs.NOT_MADE, Differs.MISSING, Differs.EXTRA, Differs.ARGUMENT)
]
RESTS_ON = (Support.DIRECT, Support.SHOWN, Support.CONSISTENT)


class NameCounts(Struct, frozen=True):
    """How often each of some names occurs."""

    pairs: tuple[tuple[str, int], ...] = ()

    def __getitem__(self, name: str) -> int:
        return next((times for one, times in self.pairs if one == name), 0)

    def items(self) -> tuple[tuple[str, int], ...]:
        """Names with their numbers."""
        return self.pairs

    def total(self) -> int:
        """All of them together."""
        return sum(times for _, times in self.pairs)


class TaskFacts(Struct, frozen=True, kw_only=True):
    """What is known of one task."""

    outcomes: NameCounts
    modes: NameCounts
    """Of its failed rollouts."""
    parties: NameCounts
    """Whose doing they are."""
    doubts: tuple[Doubt, ...]
    explaining: tuple[Doubt, ...]
    """Weak ones that stand in at least half of F, and in no rollout of the run that passes."""
    fired_failed: NameCounts
    """By code of a rule that a cause may rest on: failed rollouts in which it fired."""
    fired_passed: NameCounts
    answers: int
    """Different answers of its failed rollouts, where none passes."""
    passed_elsewhere: bool
    checked: bool
    """Whether the rules could check its rollouts."""

    @property
    def doubted(self) -> tuple[Doubt, ...]:
        """Doubts about the benchmark."""
        return tuple(doubt for doubt in self.doubts if doubt.about != "agent")

    @property
    def failures(self) -> int:
        """Rollouts that did not pass."""
        return self.outcomes.total() - self.outcomes["passed"]


Step = Callable[[TaskFacts, Mapping[str, RuleStatistics]], TaskCause | None]


def causes(
    rollouts: RolloutIndex,
    parts: Partition,
    doubts: tuple[Doubt, ...],
    seen: tuple[RuleStatistics, ...],
    passed_elsewhere: frozenset[str],
) -> dict[str, TaskCause]:
    """The cause of every task with a rollout that did not pass, in the order of the table."""
    usable = {one.code: one for one in seen if one.status == "stable" and one.support in RESTS_ON}
    tasks, facts = _facts(rollouts, parts, doubts, usable, passed_elsewhere)
    decided = [_decide(one, usable) for one in facts]
    return dict(zip(tasks["task_id"].to_list(), map(decided.__getitem__, tasks["number"].to_list()), strict=True))


def overruled(found: Mapping[str, TaskCause], labels: Mapping[str, Label]) -> dict[str, TaskCause]:
    """The causes with a person's verdicts in place of the rules'."""
    return {**found, **{task: _by_person(labels[task], found[task]) for task in labels if task in found}}


def _by_person(label: Label, rules: TaskCause) -> TaskCause:
    return TaskCause(
        cause=label.cause,
        confidence="sure",
        because=label.note or "a person's verdict",
        decided_by="person",
        rules_said=rules.cause,
    )


def _decide(facts: TaskFacts, rules: Mapping[str, RuleStatistics]) -> TaskCause:
    return next(found for step in STEPS if (found := step(facts, rules)) is not None)


def no_rows(facts: TaskFacts, rules: Mapping[str, RuleStatistics]) -> TaskCause | None:
    """1. Nothing is there."""
    if facts.outcomes["missing"] < facts.failures:
        return None
    return TaskCause(cause=None, confidence=None, because="no rows", decided_by="step 1: no rows")


def labelled(facts: TaskFacts, rules: Mapping[str, RuleStatistics]) -> TaskCause | None:
    """A label of the package that is enough for failing holds in at least half of F."""
    mine = [code for code, rule in rules.items() if rule.custom and rule.kind == "direct"]
    best = max(mine, key=lambda code: (facts.fired_failed[code], code), default=None)
    if best is None or not facts.fired_failed[best] or facts.fired_failed[best] * 2 < facts.failures:
        return None
    times = facts.fired_failed[best]
    return TaskCause(
        cause=rules[best].suggests,
        confidence="sure" if times == facts.failures else "likely",
        because=f"{times} of {facts.failures} rollouts that did not pass: {rules[best].message.rstrip('.')}",
        decided_by=f"the package's label {best}",
    )


def machinery(facts: TaskFacts, rules: Mapping[str, RuleStatistics]) -> TaskCause | None:
    """2. At least half of F errored, or failed by the machinery."""
    raised = any(doubt.code == VERIFIER_CRASHED for doubt in facts.doubts)
    modes = [mode for mode in INFRA_MODES if facts.modes[mode] and not (raised and mode == "verifier-failed")]
    broken = facts.outcomes["errored"] + sum(facts.modes[mode] for mode in modes)
    fired = _most_fired(facts, rules, Cause.INFRA)
    broken = max(broken, facts.outcomes["errored"] + (facts.fired_failed[fired] if fired else 0))
    if broken * 2 < facts.failures or not broken:
        return None
    why = [f"{facts.outcomes['errored']} errored"] if facts.outcomes["errored"] else []
    why += [INFRA_MODES[mode] for mode in modes] or ([rules[fired].message.rstrip(".")] if fired else [])
    return TaskCause(
        cause=Cause.INFRA,
        confidence="sure" if broken == facts.failures else "likely",
        because=f"{broken} of {facts.failures} rollouts that did not pass: {', '.join(why)}",
        decided_by=f"step 2: machinery{f' ({fired})' if fired else ''}",
    )


def benchmark(facts: TaskFacts, rules: Mapping[str, RuleStatistics]) -> TaskCause | None:
    """3. A strong rule about data or task fires, two weak ones of different kinds, a weak one that stands in the failures and
    in no pass, or the verifier blames user or tools.
    """
    blamed = facts.parties["user"] + facts.parties["tool"]
    if blamed and blamed * 2 >= facts.outcomes["failed"]:
        named = next(mode for mode, _ in facts.modes.items() if mode.startswith("said:"))
        return TaskCause(
            cause=Cause.TASK,
            confidence="likely",
            because=f"{blamed} of {facts.outcomes['failed']} failures: the verifier says {named.partition(': ')[2]}",
            decided_by="step 3: the verifier's words",
        )
    for cause, families in ((Cause.DATA, ("DAT",)), (Cause.TASK, ("TSK",))):
        mine = [doubt for doubt in facts.doubts if doubt.code.startswith(families)]
        strong = [doubt for doubt in mine if doubt.strong]
        codes = list(dict.fromkeys(doubt.code for doubt in mine))
        explaining = [doubt for doubt in facts.explaining if doubt.code.startswith(families)]
        if strong or len(codes) >= 2 or explaining:
            return TaskCause(
                cause=cause,
                confidence="sure" if strong else "likely" if len(codes) >= 2 else "weak",
                because=(strong or explaining or mine)[0].message,
                decided_by=f"step 3: {', '.join(codes)}",
            )
    return None


def behavior(facts: TaskFacts, rules: Mapping[str, RuleStatistics]) -> TaskCause | None:
    """4. At least half of the judged failures carry a finding of behavior or answer, and more often than the passes."""
    judged = facts.outcomes["failed"]
    by_mode = sum(facts.modes[mode] for mode in BEHAVIOR_MODES)
    if judged and by_mode * 2 >= judged:
        named = [BEHAVIOR_MODES[mode] for mode in BEHAVIOR_MODES if facts.modes[mode]]
        because = f"{by_mode} of {judged} failures: {', '.join(named)}"
        return TaskCause(cause=Cause.BEHAVIOR, confidence="sure", because=because, decided_by="step 4: modes")
    across = next((one for one in facts.doubts if one.code.startswith("BEH") and one.rollouts * 2 >= judged), None)
    if across is not None:
        decided = f"step 4: {across.code}"
        return TaskCause(cause=Cause.BEHAVIOR, confidence="weak", because=across.message, decided_by=decided)
    fired = _most_fired(facts, rules, Cause.BEHAVIOR)
    if fired is None or facts.fired_failed[fired] * 2 < judged:
        return None
    if (
        facts.outcomes["passed"]
        and facts.fired_passed[fired] / facts.outcomes["passed"] >= facts.fired_failed[fired] / judged
    ):
        return None
    rule = rules[fired]
    return TaskCause(
        cause=Cause.BEHAVIOR,
        confidence={Support.DIRECT: "sure", Support.SHOWN: "likely"}.get(rule.support, "weak"),
        because=f"{facts.fired_failed[fired]} of {judged} failures: {rule.message.rstrip('.')} ({rule.support})",
        decided_by=f"step 4: {fired}",
    )


def model(facts: TaskFacts, rules: Mapping[str, RuleStatistics]) -> TaskCause | None:
    """5 and 6. A verdict was reached, the rules looked and were quiet: knowledge where no repeat passes, else unreliable."""
    compared = sum(n for mode, n in facts.modes.items() if mode.startswith(COMPARABLE) or mode in COMPARED_CALLS)
    if not facts.checked or compared * 2 < facts.outcomes["failed"] or not compared or facts.doubted:
        return None
    if facts.outcomes["passed"]:
        because = f"passes {facts.outcomes['passed']} of {facts.outcomes['passed'] + facts.outcomes['failed']}, and no rule explains the rest"
        return TaskCause(
            cause=Cause.UNRELIABLE, confidence="likely", because=because, decided_by="step 6: sometimes passes"
        )
    if facts.passed_elsewhere:
        because, sure = "another run passes it, and no rule explains the failures here", "sure"
    elif facts.answers > 1:
        because, sure = f"{facts.answers} different wrong results, and no rule explains them", "likely"
    else:
        once = facts.outcomes["failed"] == 1
        because = "its one judged rollout failed" if once else "one wrong result every time"
        because, sure = f"{because}, and no rule explains it", "weak"
    return TaskCause(cause=Cause.KNOWLEDGE, confidence=sure, because=because, decided_by="step 5: never passes")


def unsettled(facts: TaskFacts, rules: Mapping[str, RuleStatistics]) -> TaskCause | None:
    """7. What was missing."""
    weak = [doubt.code for doubt in facts.doubted]
    if not facts.checked:
        because = "no trajectory that the rules could look at"
    elif weak:
        because = f"one weak doubt about the benchmark ({weak[0]}), which is not enough for a cause"
    else:
        because = "nothing says what the verifier compared"
    return TaskCause(cause=None, confidence=None, because=because, decided_by="step 7: not settled")


STEPS: tuple[Step, ...] = (no_rows, labelled, machinery, benchmark, behavior, model, unsettled)
"""In order; the first that decides is the cause."""


def _most_fired(facts: TaskFacts, rules: Mapping[str, RuleStatistics], cause: Cause) -> str | None:
    codes = [code for code, rule in rules.items() if rule.suggests is cause and facts.fired_failed[code]]
    return max(codes, key=lambda code: (facts.fired_failed[code], code), default=None)


def _facts(
    rollouts: RolloutIndex,
    parts: Partition,
    doubts: tuple[Doubt, ...],
    rules: Mapping[str, RuleStatistics],
    passed_elsewhere: frozenset[str],
) -> tuple[pl.DataFrame, list[TaskFacts]]:
    """Tasks with a rollout that did not pass, in the order of the table, each with the number of its facts; and these.

    Tasks of which the same is known have the same number, and are decided once.
    """
    outcomes = _counted(rollouts, np.arange(len(rollouts.task)), rollouts.run.rollouts["outcome"])
    modes = _counted(rollouts, np.flatnonzero(rollouts.failed), parts.table["mode"])
    failed, passed = (_fired(rollouts, rules, which) for which in (rollouts.failed, rollouts.passed))
    doubted, against = _doubted(rollouts, doubts)
    known = pl.DataFrame(
        {
            "outcomes": outcomes.number,
            "modes": modes.number,
            "failed": failed.number,
            "passed": passed.number,
            "answers": _different(rollouts),
            "doubts": doubted,
            "checked": rollouts.per_task(rollouts.run.rollouts["steps"].is_not_null().to_numpy()) > 0,
            "elsewhere": rollouts.tasks.is_in(sorted(passed_elsewhere)),
        }
    )
    lost = rollouts.per_task(~rollouts.passed) > 0
    in_order = rollouts.task[np.cumsum(rollouts.lengths) - rollouts.lengths]
    tasks = known.with_columns(task_id=rollouts.tasks)[in_order[lost[in_order]]]
    kinds = tasks.drop("task_id").unique(maintain_order=True)
    tasks = tasks.join(kinds.with_row_index("number"), on=kinds.columns, how="left", maintain_order="left")
    party = {mode.id: mode.party for mode in parts.modes}
    facts = []
    for row in kinds.iter_rows(named=True):
        mine, ways, spoiled = outcomes.kinds[row["outcomes"]], modes.kinds[row["modes"]], against[row["doubts"]]
        facts.append(
            TaskFacts(
                outcomes=mine,
                modes=ways,
                parties=_parties(ways, party),
                doubts=tuple(doubt for doubt, _ in spoiled),
                explaining=_explaining(mine, spoiled),
                fired_failed=failed.kinds[row["failed"]],
                fired_passed=passed.kinds[row["passed"]],
                answers=row["answers"],
                passed_elsewhere=row["elsewhere"],
                checked=row["checked"],
            )
        )
    return tasks.select("task_id", "number"), facts


class _Counted(NamedTuple):
    """By task, in the order of ids, the number of what it has; and what there is, nothing first."""

    number: Integers
    kinds: list[NameCounts]


_Spoiled = tuple[tuple[Doubt, int], ...]
"""Doubts, each with the number of rollouts of a task that it spoils."""


def _doubted(rollouts: RolloutIndex, doubts: Sequence[Doubt]) -> tuple[Integers, list[_Spoiled]]:
    """By task, in the order of ids, the number of the doubts that count against it; and these, none first."""
    passing = _passing(rollouts.run, {task for one in doubts if not one.strong for task, _ in one.places})
    counting = [one for one in doubts if _counts(one, passing)]
    found: dict[str, list[tuple[int, int]]] = {}
    for place, doubt in enumerate(counting):
        spoiled = Counter(task for task, _ in doubt.places)
        for task in doubt.tasks:
            found.setdefault(task, []).append((place, spoiled[task]))
    # A doubt may name every task: it is known by its place, not by what it holds.
    numbers: dict[tuple[tuple[int, int], ...], int] = {(): 0}
    mine = {task: numbers.setdefault(tuple(one), len(numbers)) for task, one in found.items()}
    tasks = rollouts.tasks.filter(rollouts.tasks.is_in(list(mine))).to_list()
    number = np.zeros(len(rollouts.tasks), np.int64)
    number[rollouts.tasks.is_in(list(mine)).to_numpy()] = [mine[task] for task in tasks]
    return number, [tuple((counting[place], times) for place, times in one) for one in numbers]


def _passing(run: Run, tasks: Set[str]) -> frozenset[tuple[str, int]]:
    """The rollouts of some tasks that pass."""
    if not tasks:
        return frozenset()
    rows = run.rollouts.select("task_id", "repeat", "outcome")
    mine = rows.filter((pl.col("outcome") == "passed") & pl.col("task_id").is_in(sorted(tasks)))
    return frozenset(mine.drop("outcome").iter_rows())


def _counts(doubt: Doubt, passing: Set[tuple[str, int]]) -> bool:
    """Whether a doubt counts: its rule is stable, and it is strong or stands in no rollout that passes."""
    return not doubt.preview and (doubt.strong or passing.isdisjoint(doubt.places))


def _explaining(outcomes: NameCounts, doubts: Sequence[tuple[Doubt, int]]) -> tuple[Doubt, ...]:
    """Weak doubts whose rollouts are at least half of a task's failures."""
    lost = outcomes.total() - outcomes["passed"]
    return tuple(doubt for doubt, rollouts in doubts if not doubt.strong and doubt.places and rollouts * 2 >= lost)


def _counted(rollouts: RolloutIndex, rows: Integers, values: pl.Series) -> _Counted:
    """How often each value occurs in some rollouts of a task, in the order of the values."""
    if values.is_empty():
        return _Counted(np.zeros(len(rollouts.tasks), np.int64), [NameCounts()])
    names = values.unique().sort()
    codes = values.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    pairs, times = np.unique(rollouts.task[rows] * len(names) + codes, return_counts=True)
    task, value = np.divmod(pairs, len(names))
    table = pl.DataFrame({"task": task.astype(np.uint32), "value": value, "times": times})
    # Polars groups numbers that it knows to be sorted six times as fast.
    per_task = table.set_sorted("task").group_by("task", maintain_order=True).agg("value", "times")
    alike = per_task.group_by("value", "times").agg("task")
    number = np.zeros(len(rollouts.tasks), np.int64)
    number[alike["task"].explode().to_numpy()] = np.repeat(np.arange(alike.height) + 1, alike["task"].list.len())
    listed = names.to_list()
    kinds = [
        NameCounts(tuple(zip(map(listed.__getitem__, which), often, strict=True)))
        for which, often in alike.select("value", "times").rows()
    ]
    return _Counted(number, [NameCounts(), *kinds])


def _parties(modes: NameCounts, party: Mapping[str, str]) -> NameCounts:
    found: dict[str, int] = {}
    for mode, times in modes.items():
        found[party[mode]] = found.get(party[mode], 0) + times
    return NameCounts(tuple(sorted(found.items())))


def _fired(rollouts: RolloutIndex, rules: Mapping[str, RuleStatistics], which: Flags) -> _Counted:
    """In how many of some rollouts of a task each usable rule fired."""
    hits = {code: rows[which[rows]] for code, rows in rollouts.fired.items() if code in rules}
    codes = pl.Series([code for code, rows in hits.items() for _ in range(len(rows))], dtype=pl.String)
    return _counted(rollouts, np.concatenate([np.zeros(0, np.int64), *hits.values()]), codes)


def _different(rollouts: RolloutIndex) -> Integers:
    """By task that no rollout passes, in the order of ids: different results of its failures; 0 for other tasks.

    Results are answers, else how rollouts differ from what was due, else outputs.
    """
    never = rollouts.per_task(rollouts.passed) == 0
    rows = rollouts.run.rollouts.select("answer_fp", "output_fp", "differs", task=pl.Series(rollouts.task))
    rows = rows.filter(pl.Series(rollouts.failed & never[rollouts.task]))
    acted = pl.col("differs").list.eval(pl.element().struct.field("kind").is_in(_OF_ACTIONS)).list.any()
    # Two talks never read alike: where calls are judged, the result is what was done.
    done = rows.select(pl.col("answer_fp").is_null() & acted.fill_null(value=False)).to_series()
    ways = rows.filter(done).select(
        "task",
        pl.col("differs")
        .list.eval(pl.format("{} {} {}", *(pl.element().struct.field(n) for n in ("kind", "name", "detail"))))
        .list.sort()
        .list.join("|"),
    )
    given = rows.filter(~done).select("task", pl.coalesce("answer_fp", "output_fp")).drop_nulls()
    kinds = (np.bincount(each.unique()["task"], minlength=len(never)) for each in (ways, given))
    return np.asarray(sum(kinds), np.int64)
