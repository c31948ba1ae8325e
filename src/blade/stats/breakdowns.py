"""A run taken apart: stages that rollouts reach, slices of tasks, parts of the verdict, what was spent, what no skill would score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from blade.model.analysis import Funnel, FunnelStage, ScorePart, SliceValue, UsageSummary
from blade.model.measure import Measure
from blade.model.rollout import Outcome
from blade.model.run import Run
from blade.model.tools import changes_state
from blade.stats.counts import JUDGED, PASSED, PRESENT, TaskCounts
from blade.stats.scores import interval_of

PREFIX = "slice."
KEY_EXPECTS = ("nothing", "information", "one change", "several changes")
MOST = 8
"""More parts than these are a list of tests, which differ from task to task."""
SHARED = 0.9
"""The share of judged rollouts that must have a part before it is one of the whole run."""
QUANTITIES = ("input_tokens", "output_tokens", "seconds", "cost", "steps", "calls", "agent_chars")
LONGEST_KEY = 200
"""The table cuts keys there; what is cut cannot be compared, and is no constant answer."""
DO_NOTHING = "do_nothing"
CONSTANT = "constant_answer"


def funnel(run: Run, custom: Sequence[str] = (), stages: pl.Series | None = None) -> Funnel:
    """How many rollouts reached each stage, those of a package (`custom`) before the end; each counted among those that
    reached the one before. `stages` is the stage of each rollout, where rollouts were attributed.
    """
    rows = run.rollouts.select("outcome", "reached", "steps")
    own = (
        [(name.replace("_", " "), _at_least(stages, place)) for place, name in enumerate(STAGES)]
        if stages is not None
        else []
    )
    before, after = (own[1:4], own[4:]) if own else ([("started", PRESENT)], [("graded", JUDGED), ("passed", PASSED)])
    between = [(name, _reached(rows, name)) for name in custom]
    known = [(name, condition) for name, condition in (*before, *between, *after) if condition is not None]
    there = pl.repeat(True, rows.height, eager=True)
    reached = [("expected", rows.height)] if run.expected_from is not None else []
    for name, condition in known:
        flag = rows.select(condition.fill_null(False)).to_series() if isinstance(condition, pl.Expr) else condition
        there &= flag
        reached.append((name, int(there.sum())))
    counts = [count for _, count in reached]
    shares = [None, *(after / before if before else None for before, after in pairwise(counts))]
    left_out = tuple(f"{name} (no rollout has a trajectory)" for name, condition in between if condition is None)
    passes = int((rows["outcome"] == str(Outcome.PASSED)).sum())
    return Funnel(
        stages=tuple(FunnelStage(name=n, rollouts=c, share=s) for (n, c), s in zip(reached, shares, strict=True)),
        left_out=left_out,
        passed_otherwise=passes - counts[-1],
    )


STAGES = (
    "not_run",
    "environment_ready",
    "agent_started",
    "agent_acted",
    "agent_finished",
    "graded",
    "passed",
)
"""In order; those of an attribution."""


def _at_least(stages: pl.Series, place: int) -> pl.Series:
    """Which rollouts reached a stage."""
    return stages.is_in(STAGES[place:])


def _reached(rows: pl.DataFrame, name: str) -> pl.Expr | None:
    """Whether a rollout reached a stage of the package; None when no rollout can show it."""
    if rows["steps"].null_count() == rows.height:
        return None
    return pl.col("reached").list.contains(name).fill_null(False) | pl.col("steps").is_null()


def slices(run: Run, counts: TaskCounts, kind: str) -> dict[str, tuple[SliceValue, ...]]:
    """For each field, its values in order of name; `key_expects` comes first wherever keys are actions."""
    found = {}
    if run.tasks["key_expects"].is_in(["one change", "several changes"]).any():
        found["key_expects"] = _slices_of(run.tasks["key_expects"], counts, kind, KEY_EXPECTS)
    for name in run.tasks.columns:
        if name.startswith(PREFIX):
            column = run.tasks[name]
            order = tuple(sorted(column.drop_nulls().unique().to_list()))
            found[name.removeprefix(PREFIX)] = _slices_of(column, counts, kind, order)
    return found


def _slices_of(column: pl.Series, counts: TaskCounts, kind: str, order: tuple[str, ...]) -> tuple[SliceValue, ...]:
    rows = (_slice(value, (column == value).fill_null(False).to_numpy(), counts, kind) for value in order)
    return tuple(row for row in rows if row.tasks)


def _slice(
    value: str, mine: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], counts: TaskCounts, kind: str
) -> SliceValue:
    kept = mine & (counts.judged > 0)
    tops = counts.passed if kind == "pass_at_1" else counts.reward_sum
    scores = tops[kept] / counts.judged[kept]
    rollouts = int(counts.judged[kept].sum())
    return SliceValue(
        value=value,
        tasks=int(mine.sum()),
        rollouts=rollouts,
        passed=int(counts.passed[kept].sum()),
        pass_at_1=float(np.mean(scores)) if kept.any() else None,
        interval=interval_of(kind, scores, rollouts, counts.groups_of(kept)) if kept.sum() > 1 else None,
    )


def parts(run: Run) -> tuple[ScorePart, ...]:
    """Parts of the verdict, those that hold least often first; none where rollouts are not judged alike."""
    if run.checks.is_empty() or run.checks["name"].n_unique() > MOST:
        return ()
    rows = run.rollouts.select("task_id", "repeat", "outcome").filter(JUDGED)
    judged = rows.select("task_id", "repeat", passed_whole=PASSED)
    found = run.checks.join(judged, on=["task_id", "repeat"], how="inner").group_by("name")
    lacking = ~pl.col("passed") & pl.col("passed_whole")
    counted = found.agg(held=pl.col("passed").sum(), rollouts=pl.len(), passed_without=lacking.sum())
    whole = counted.filter(pl.col("rollouts") >= SHARED * judged.height)
    return tuple(
        ScorePart(**row) for row in whole.sort(pl.col("held") / pl.col("rollouts"), "name").iter_rows(named=True)
    )


def usage(run: Run) -> tuple[UsageSummary, ...]:
    """One entry for each quantity that some rollout records."""
    outcomes = run.rollouts["outcome"]
    passed, failed = outcomes == str(Outcome.PASSED), outcomes == str(Outcome.FAILED)
    recorded = (run.rollouts[name] for name in QUANTITIES)
    return tuple(_usage_summary(values, passed, failed) for values in recorded if _is_measured(values))


def _is_measured(values: pl.Series) -> bool:
    """A cost or a time that is zero everywhere was not measured."""
    return values.count() > 0 and (values.name not in ("cost", "seconds") or bool((values != 0).any()))


def _usage_summary(values: pl.Series, passed: pl.Series, failed: pl.Series) -> UsageSummary:
    """Of a quantity, given with which rollouts passed and which failed."""
    every = values.cast(pl.Float64)
    known, won, lost = every.drop_nulls(), every.filter(passed).drop_nulls(), every.filter(failed).drop_nulls()
    return UsageSummary(
        name=values.name,
        n=len(known),
        total=float(known.sum()),
        mean=_number(known.mean()) or 0.0,
        median=_number(known.median()) or 0.0,
        passed_n=len(won),
        passed_median=_number(won.median()),
        failed_n=len(lost),
        failed_median=_number(lost.median()),
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def baselines(run: Run) -> tuple[Measure, ...]:
    """Both baselines, each a share of the tasks whose key allows it."""
    return (_do_nothing(run), _constant_answer(run))


def _do_nothing(run: Run) -> Measure:
    wants = run.tasks["key_expects"].drop_nulls()
    if wants.is_empty():
        return Measure(name=DO_NOTHING, value=None, n=0, reason="no key is a list of actions")
    if not wants.is_in(["one change", "several changes"]).any():
        return Measure(
            name=DO_NOTHING, value=None, n=len(wants), reason="no key wants a change, so its look-ups are judged"
        )
    idle = _idle(run)
    if idle.is_empty():
        return Measure(name=DO_NOTHING, value=None, n=len(wants), reason="no rollout shows what doing nothing scores")
    passed = int(idle.select(PASSED.sum()).item())
    return Measure(
        name=DO_NOTHING,
        value=int((wants == "nothing").sum()) / len(wants) * passed / idle.height,
        n=len(wants),
        method=f"tasks whose key wants no change and no statement, of which {passed:,} of {idle.height:,} rollouts that changed nothing passed",
    )


def _idle(run: Run) -> pl.DataFrame:
    """Judged rollouts that changed nothing, of tasks whose key wants nothing; where a trajectory shows it."""
    wants_nothing = run.tasks.filter(pl.col("key_expects") == "nothing").select("task_id")
    rows = run.rollouts.filter(JUDGED & pl.col("steps").is_not_null()).join(wants_nothing, on="task_id", how="semi")
    changing = [place for place, tool in enumerate(run.tools) if changes_state(tool)]
    acted = pl.col("skeleton").list.eval(pl.element().is_in(changing)).list.any()
    return rows.filter(~acted.fill_null(False))


def _constant_answer(run: Run) -> Measure:
    keys: Counter[str] = Counter()
    for key, times in run.tasks["expected"].drop_nulls().value_counts().rows():
        if len(key) < LONGEST_KEY:
            keys[" ".join(key.split()).lower()] += times
    n = keys.total()
    if not n:
        return Measure(name=CONSTANT, value=None, n=0, reason="no key is an answer")
    if not run.rollouts["answer"].count():
        return Measure(name=CONSTANT, value=None, n=n, reason="no answer is extracted that a key is compared with")
    if n < 2:
        return Measure(name=CONSTANT, value=None, n=n, reason="only one task has a key")
    answer, times = min(keys.items(), key=lambda item: (-item[1], item[0]))
    if times == 1:
        return Measure(name=CONSTANT, value=None, n=n, reason=f"the {n} keys all differ")
    shown = answer if len(answer) <= 40 else answer[:37] + "..."
    given, passed = _given(run, answer)
    if given and not passed:
        why = f"always answering {shown!r} is the key of {times:,} tasks, and none of {given:,} rollouts that did passed there"
        return Measure(name=CONSTANT, value=None, n=n, reason=why)
    return Measure(name=CONSTANT, value=times / n, n=n, method=f"always answering {shown!r}")


def _given(run: Run, answer: str) -> tuple[int, int]:
    """How many judged rollouts gave an answer where it is the key, and how many of these passed."""
    keyed = run.tasks.select("task_id", key=_flat("expected")).filter(pl.col("key") == answer)
    rows = run.rollouts.filter(JUDGED & (_flat("answer") == answer)).join(keyed, on="task_id", how="semi")
    return rows.height, int(rows.select(PASSED.sum()).item())


def _flat(column: str) -> pl.Expr:
    """A text without case and repeated white space."""
    return pl.col(column).str.strip_chars().str.replace_all(r"\s+", " ").str.to_lowercase()
