"""Behind `blade analyze`: paths to runs, runs to measures, measures to an analysis.

What diagnoses is imported where it is used: who asks for metrics only does not wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import structs

from blade.findings.exclusions import check_exclusions, excluded, suspects_of
from blade.ingest.artifacts import find, stem_of
from blade.ingest.labels import labels_for
from blade.ingest.load import Wishes, load_runs, renamed
from blade.ingest.names import Called, unique_names
from blade.ingest.reread import reread
from blade.ingest.saved import load_saved
from blade.ingest.workers import rare_sweeps
from blade.model.analysis import Analysis, RunAnalysis, TaskResult
from blade.model.diagnosis import Between, Diagnosis, Elsewhere, Label
from blade.model.errors import RequestError
from blade.model.finding import Look
from blade.model.rollout import PASS_TOLERANCE, Outcome
from blade.model.rule_trial import Trial
from blade.model.run import Run
from blade.model.tools import NOTHING_TAUGHT, Tools, taught
from blade.stats import scores
from blade.stats.counts import Counts, count
from blade.stats.run_metrics import measure
from blade.stats.task_matching import may_be_comparable, same_tasks

if TYPE_CHECKING:
    from blade.custom_rules import Book

MOST_PAIRS = 6
"""Pairs of runs whose tasks are set against each other."""

Pairs = Sequence[tuple[str, str]]
Same = Mapping[tuple[str, str], Pairs]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a user may ask of an analysis."""

    format: str | None = None
    pass_threshold: float | None = None
    expect_tasks: int | None = None
    expect_repeats: int | None = None
    group: str | None = None
    exclude: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()
    """Verdicts of people, which overrule the rules."""
    book: Book | None = None
    """What the benchmark's package teaches."""
    metrics_only: bool = False
    workers: int | None = None
    pool: Executor | None = None
    """Workers that were started already; they end with the first reading."""
    progress: Callable[[int, int], None] = lambda done, total: None


@rare_sweeps()
def load(inputs: Sequence[str], options: Options) -> tuple[Run, ...]:
    """Every run that the inputs stand for, in order of name; a folder of an earlier analysis gives its runs."""
    book = options.book
    saved, fresh = _loaded(inputs, options, None if options.metrics_only else _looking(book))
    runs = (*saved, *(replace(run, taught_by=package_name(book)) for run in fresh))
    if options.metrics_only:
        return runs
    from blade.evidence.keys_beside import with_keys_beside

    with taught(_tools(book)):
        return tuple(map(with_keys_beside, runs))


def _as_taught(options: Options) -> Options:
    """The options with what the package says where the user said nothing."""
    book = options.book
    if book is None:
        return options
    threshold = book.pass_threshold if options.pass_threshold is None else options.pass_threshold
    return replace(options, pass_threshold=threshold, group=options.group or book.group)


def _looking(book: Book | None) -> Look:
    """What looks at every rollout: BLADE's rules, and those that a package teaches."""
    from blade.rules.scan import look

    if book is None:
        return look
    from blade.rules.custom import Looking

    return Looking(rules=tuple((one.name, one.rule) for one in book.labels), stages=book.funnel, first=look)


def package_name(book: Book | None) -> str | None:
    return book.named if book is not None else None


def _tools(book: Book | None) -> Tools:
    return book.tools if book is not None else NOTHING_TAUGHT


def _loaded(inputs: Sequence[str], options: Options, look: Look | None) -> tuple[list[Run], list[Run]]:
    """Runs of earlier analyses, and runs that were read now, in which `look` looked at every rollout."""
    if options.pass_threshold is not None and not math.isfinite(options.pass_threshold):
        raise RequestError(
            f"{options.pass_threshold} is no threshold", hint="give a number, for example --pass-threshold 0.5"
        )
    found, as_taught = find(inputs, options.format), _as_taught(options)
    saved = [_with_threshold(load_saved(folder, name), as_taught.pass_threshold) for name, folder in found.analyses]
    other = [run for run in saved if options.book is not None and run.taught_by != package_name(options.book)]
    if other:
        hint = "give the rollouts themselves"
        raise RequestError("an earlier analysis cannot be read under another package", hint=hint)
    if saved and _needs_rows(options):
        hint = "give the rollouts themselves, or analyze the folder without those options"
        raise RequestError("an earlier analysis cannot be read with other expectations, groups or formats", hint=hint)
    fresh = load_runs(found, _wishes(as_taught, look)) if found.bundles else []
    return [replace(run, read=reread) for run in saved], [replace(run, read=reread) for run in fresh]


def try_rule(inputs: Sequence[str], text: str, options: Options) -> tuple[Trial, ...]:
    """A rule tried on every run of the inputs; RuleError when the text is none."""
    from blade.custom_rules import parse
    from blade.findings.rule_trial import TRIED, trial
    from blade.rules.custom import Looking, looked_again

    rule = parse(text)
    looking = Looking(rules=((TRIED, rule),))
    saved, fresh = _loaded(inputs, options, looking)
    return tuple(trial(run, rule, text) for run in (*(looked_again(run, looking) for run in saved), *fresh))


def try_on(run: Run, text: str) -> Trial:
    """A rule tried on a run that is loaded: its rollouts are read again."""
    from blade.custom_rules import parse
    from blade.findings.rule_trial import TRIED, trial
    from blade.rules.custom import Looking, looked_again

    rule = parse(text)
    return trial(looked_again(run, Looking(rules=((TRIED, rule),))), rule, text)


def _needs_rows(options: Options) -> bool:
    """Whether an option asks for something that only the rows can answer."""
    return any((options.expect_tasks, options.expect_repeats, options.group, options.format))


def _with_threshold(run: Run, threshold: float | None) -> Run:
    """A saved run under another threshold: what was judged is judged again by its reward."""
    if threshold is None or threshold == run.pass_threshold:
        return run
    judged = pl.col("outcome").is_in([str(Outcome.PASSED), str(Outcome.FAILED)])
    again = (
        pl.when(pl.col("reward") >= threshold - PASS_TOLERANCE)
        .then(pl.lit(str(Outcome.PASSED)))
        .otherwise(pl.lit(str(Outcome.FAILED)))
    )
    rows = run.rollouts.with_columns(pl.when(judged).then(again).otherwise(pl.col("outcome")).alias("outcome"))
    return replace(run, rollouts=rows, pass_threshold=threshold)


def _wishes(options: Options, look: Look | None) -> Wishes:
    return Wishes(
        format=options.format,
        threshold=1.0 if options.pass_threshold is None else options.pass_threshold,
        expect_tasks=options.expect_tasks,
        expect_repeats=options.expect_repeats,
        group=options.group,
        task_id=options.book.task_id if options.book is not None else None,
        slices=options.book.slices if options.book is not None else (),
        tools=_tools(options.book),
        trajectories=not options.metrics_only,
        workers=options.workers,
        pool=options.pool,
        look=look,
        progress=options.progress,
    )


@rare_sweeps()
def analyze(runs: Sequence[Run], options: Options) -> Analysis:
    """Measure each run; with several, also each pair on the tasks that both have."""
    with taught(_tools(options.book)):
        return _analyzed(runs, options)


def _analyzed(runs: Sequence[Run], options: Options) -> Analysis:
    labels = options.book.labels if options.book is not None else ()
    check_exclusions(runs, options.exclude, [one.name for one in labels])
    runs = told_apart(runs)
    kept = [excluded(run, options.exclude, labels) for run in runs]
    same = _same(kept)
    beside = _set_side_by_side(kept, same) if not options.metrics_only else []
    seen = _elsewhere(kept, beside)
    stages = [name for name, _ in options.book.funnel] if options.book is not None else []
    counted = ((mine, whole, count(mine)) for mine, whole in zip(kept, runs, strict=True))
    analyzed = tuple(
        _diagnosed(
            measure(mine, whole, stages, counts, _infra_codes(mine)), counts, seen.get(mine.name, Elsewhere()), options
        )
        for mine, whole, counts in counted
    )
    return Analysis(
        runs=analyzed,
        notes=options.notes,
        shared=_shared(analyzed, same),
        between=_between(beside),
        render=_page,
    )


def _infra_codes(run: Run) -> frozenset[str]:
    """Rules that see machinery at work; none where no rule fired, and the rules need not be loaded."""
    fired = run.rollouts["fired"]
    if fired.null_count() == len(fired):
        return frozenset()
    from blade.rules.catalog import infra_codes

    return infra_codes()


def _page(analysis: Analysis) -> str:
    # What turns Markdown into a page takes a while to load, and most commands write none.
    from blade.report.html import page

    return page(analysis)


def _same(runs: Sequence[Run]) -> Same:
    """By the names of two runs that can be compared: the tasks that are the same in both."""
    likely = [(one, two) for one, two in combinations(runs, 2) if may_be_comparable(one.tasks, two.tasks)]
    found = {(one.name, two.name): same_tasks(one.tasks, two.tasks) for one, two in likely}
    return {names: same.pairs for names, same in found.items() if same.comparable}


def _set_side_by_side(runs: Sequence[Run], same: Same) -> list[tuple[Run, Run, Pairs]]:
    """Pairs of runs that have the same tasks, with the tasks; of the first pairs, up to a number."""
    pairs = list(combinations(runs, 2))[:MOST_PAIRS]
    return [(one, two, same[one.name, two.name]) for one, two in pairs if (one.name, two.name) in same]


def _elsewhere(runs: Sequence[Run], beside: Sequence[tuple[Run, Run, Pairs]]) -> Mapping[str, Elsewhere]:
    if not beside:
        return {}
    from blade.evidence.other_runs import elsewhere

    return elsewhere(runs, beside)


def _between(beside: Sequence[tuple[Run, Run, Pairs]]) -> tuple[Between, ...]:
    if not beside:
        return ()
    from blade.findings.between import between

    return tuple(between(*one) for one in beside)


def _diagnosed(one: RunAnalysis, counts: Counts, elsewhere: Elsewhere, options: Options) -> RunAnalysis:
    """The run with its diagnosis, or why it has none."""
    if options.metrics_only:
        return replace(one, why_not="trajectories were not read (--metrics-only)")
    from blade.findings.diagnose import diagnose

    taught_labels = options.book.labels if options.book is not None else ()
    found = diagnose(one.run, elsewhere, labels_for(one.run, options.labels), taught_labels)
    score = scores.suspects_excluded_score(counts, one.metrics.headline, suspects_of(found))
    return replace(
        one,
        metrics=structs.replace(one.metrics, scores=(*one.metrics.scores[:-1], score)),
        diagnosis=found,
        make_tasks=lambda: _with_diagnosis(one.make_tasks(), found),
    )


def _with_diagnosis(tasks: Sequence[TaskResult], found: Diagnosis) -> tuple[TaskResult, ...]:
    """The tasks with the modes of their failures and their causes."""
    names = {mode.id: mode.name for mode in found.partition.modes}
    counted = found.partition.table.group_by("task_id", "mode").len()
    modes: dict[str, dict[str, int]] = {}
    for task, mode, times in sorted(counted.iter_rows()):
        modes.setdefault(task, {})[names[mode]] = times
    return tuple(
        structs.replace(task, modes=modes.get(task.task_id, {}), cause=found.causes.get(task.task_id)) for task in tasks
    )


def told_apart(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs under names that differ; those of several analyses may have the same."""
    names = unique_names([Called(wanted=run.name, tails=_tails(run)) for run in runs])
    return tuple(run if run.name == name else renamed(run, name) for run, name in zip(runs, names, strict=True))


def _tails(run: Run) -> tuple[str, ...]:
    """What tells a run from its namesakes: its agent, its folder, its file."""
    path = Path(next(iter(run.roots.values()), ""))
    return run.agent or "", path.parent.name, stem_of(path)


def _shared(analyzed: Sequence[RunAnalysis], same: Same) -> dict[tuple[str, str], tuple[int, float, float]]:
    """For each pair of runs whose tasks are the same: how many, and the mean task score of each on them."""
    found = {}
    for first, second in combinations(analyzed, 2):
        pairs = same.get((first.run.name, second.run.name))
        if pairs is None:
            continue
        by_reward = first.metrics.headline == second.metrics.headline == "mean_reward"
        left, right = (
            {task.task_id: task.mean_reward if by_reward else task.score for task in one.tasks}
            for one in (first, second)
        )
        both = [(a, b) for x, y in pairs if (a := left[x]) is not None and (b := right[y]) is not None]
        if both:
            means = np.mean(np.asarray(both), axis=0)
            found[first.run.name, second.run.name] = (len(both), float(means[0]), float(means[1]))
    return found


def ask(runs: Sequence[Run], query: str) -> pl.DataFrame:
    """The answer of an SQL query over the tables of the runs; raises when the query cannot be understood."""
    tables = {
        name: pl.concat([getattr(run, name) for run in runs], how="diagonal_relaxed")
        for name in ("rollouts", "tasks", "checks")
    }
    try:
        return pl.SQLContext(frames=tables, eager=True).execute(query)
    except (pl.exceptions.PolarsError, ValueError) as error:
        columns = "; ".join(f"{name}: {', '.join(table.columns)}" for name, table in tables.items())
        raise RequestError(
            f"the query cannot be answered: {str(error).splitlines()[0]}", hint=f"tables are {columns}"
        ) from None
