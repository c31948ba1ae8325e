"""Behind `blade analyze`: paths to runs, runs to measures, measures to an analysis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
from msgspec import structs

from blade.core.analysis import Analysis, Metrics, RunAnalysis, Score, TaskResult, Variance
from blade.core.diagnosis import Diagnosis, Elsewhere, Label
from blade.core.errors import RequestError
from blade.core.finding import Cause, Look
from blade.core.measure import Measure
from blade.core.rollout import PASS_TOLERANCE, Outcome
from blade.core.run import Run
from blade.core.tools import NOTHING_TAUGHT, Tools, taught
from blade.core.trial import Trial
from blade.detectors import rules
from blade.diagnose.between import between
from blade.diagnose.catalogue import all_rules
from blade.diagnose.diagnose import diagnose
from blade.diagnose.elsewhere import elsewhere
from blade.diagnose.keyed import with_keys_beside
from blade.diagnose.look import look
from blade.diagnose.rules import run_rules
from blade.diagnose.taught import Looking, looked_again
from blade.diagnose.trial import TRIED, trial
from blade.ingest.artifacts import find, stem_of
from blade.ingest.labels import labels_for
from blade.ingest.load import Wishes, load_runs, renamed
from blade.ingest.names import Called, unique_names
from blade.ingest.reread import reread
from blade.ingest.saved import load_saved
from blade.ingest.workers import rare_sweeps
from blade.metrics import repeats, scores
from blade.metrics.baselines import baselines
from blade.metrics.buckets import bucket_names, buckets
from blade.metrics.counts import Counts, count, fired
from blade.metrics.funnel import funnel
from blade.metrics.headline import doubts, headline
from blade.metrics.recorded import recompute
from blade.metrics.same_task import same_tasks
from blade.metrics.slices import slices
from blade.metrics.usage import usage
from blade.metrics.variance import pass_variance, reward_variance
from blade.teach import Book, Taught, parse

MOST_PAIRS = 6
"""Pairs of runs whose tasks are set against each other."""
MOST_PLACES = 8
"""Places listed for a task in tasks.jsonl."""

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
    """Workers that were started already."""
    progress: Callable[[int, int], None] = lambda done, total: None


@rare_sweeps()
def load(inputs: Sequence[str], options: Options) -> tuple[Run, ...]:
    """Every run that the inputs stand for, in order of name; a folder of an earlier analysis gives its runs."""
    book = options.book
    looking = look if book is None else _looking(book)
    saved, fresh = _loaded(inputs, options, looking)
    runs = (*saved, *(replace(run, taught_by=package_name(book)) for run in fresh))
    if options.metrics_only:
        return runs
    with taught(_tools(book)):
        return tuple(map(with_keys_beside, runs))


def _as_taught(options: Options) -> Options:
    """The options with what the package says where the user said nothing."""
    book = options.book
    if book is None:
        return options
    threshold = book.pass_threshold if options.pass_threshold is None else options.pass_threshold
    return replace(options, pass_threshold=threshold, group=options.group or book.group)


def _looking(book: Book) -> Looking:
    return Looking(rules=tuple((one.name, one.rule) for one in book.labels), stages=book.funnel, first=look)


def package_name(book: Book | None) -> str | None:
    return book.named if book is not None else None


def _tools(book: Book | None) -> Tools:
    return book.tools if book is not None else NOTHING_TAUGHT


def _loaded(inputs: Sequence[str], options: Options, look: Look) -> tuple[list[Run], list[Run]]:
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
    rule = parse(text)
    looking = Looking(rules=((TRIED, rule),))
    saved, fresh = _loaded(inputs, options, looking)
    return tuple(trial(run, rule, text) for run in (*(looked_again(run, looking) for run in saved), *fresh))


def try_on(run: Run, text: str) -> Trial:
    """A rule tried on a run that is loaded: its rollouts are read again."""
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


def _wishes(options: Options, look: Look) -> Wishes:
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
        look=None if options.metrics_only else look,
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
    kept = [_excluded(run, options.exclude, labels) for run in runs]
    same = _same(kept)
    seen = elsewhere(kept, _set_side_by_side(kept, same)) if not options.metrics_only else {}
    stages = [name for name, _ in options.book.funnel] if options.book is not None else []
    measured = (measure(mine, whole, stages) for mine, whole in zip(kept, runs, strict=True))
    analyzed = tuple(_diagnosed(one, seen.get(one.run.name, Elsewhere()), options) for one in measured)
    return Analysis(
        runs=analyzed,
        notes=options.notes,
        shared=_shared(analyzed, same),
        between=() if options.metrics_only else tuple(between(*one) for one in _set_side_by_side(kept, same)),
        render=_page,
    )


def _page(analysis: Analysis) -> str:
    # What turns Markdown into a page takes a while to load, and most commands write none.
    from blade.report.html import page

    return page(analysis)


def _same(runs: Sequence[Run]) -> Same:
    """By the names of two runs that can be compared: the tasks that are the same in both."""
    found = {(one.name, two.name): same_tasks(one.tasks, two.tasks) for one, two in combinations(runs, 2)}
    return {names: same.pairs for names, same in found.items() if same.comparable}


def _set_side_by_side(runs: Sequence[Run], same: Same) -> list[tuple[Run, Run, Pairs]]:
    """Pairs of runs that have the same tasks, with the tasks; of the first pairs, up to a number."""
    pairs = list(combinations(runs, 2))[:MOST_PAIRS]
    return [(one, two, same[one.name, two.name]) for one, two in pairs if (one.name, two.name) in same]


def suspects_of(found: Diagnosis) -> list[str]:
    """Tasks whose failures are put down to the benchmark itself."""
    return [task for task, cause in found.causes.items() if cause.cause in (Cause.TASK, Cause.DATA)]


def _diagnosed(one: RunAnalysis, elsewhere: Elsewhere, options: Options) -> RunAnalysis:
    """The run with its diagnosis, or why it has none."""
    if options.metrics_only:
        return replace(one, why_not="trajectories were not read (--metrics-only)")
    taught_labels = options.book.labels if options.book is not None else ()
    found = diagnose(one.run, elsewhere, labels_for(one.run, options.labels), taught_labels)
    score = scores.suspects_excluded_score(one.run, one.metrics.headline, suspects_of(found))
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


def measure(run: Run, whole: Run, stages: Sequence[str] = ()) -> RunAnalysis:
    """Every number of one run; what its sidecars state is compared with the `whole`, before anything was left out.

    `stages` are those of a package's own funnel.
    """
    counts = count(run)
    kind, why = headline(run)
    in_bucket = buckets(run, counts, kind)
    return RunAnalysis(
        run=run,
        metrics=_metrics(run, counts, kind, why, in_bucket, stages),
        make_tasks=lambda: _tasks(run, counts, in_bucket),
        recorded=recompute(whole),
    )


def _metrics(run: Run, counts: Counts, kind: str, why: str, in_bucket: list[str], stages: Sequence[str]) -> Metrics:
    k = repeats.usual_repeats(counts)
    names = bucket_names(kind)
    by_bucket = {name: tuple(t for t, b in zip(counts.tasks, in_bucket, strict=True) if b == name) for name in names}
    return Metrics(
        headline=kind,
        headline_why=why,
        measures=_measures(run, counts, k),
        pass_at={n: repeats.pass_at(counts, n) for n in _steps_to(k)},
        pass_hat={n: repeats.pass_hat(counts, n) for n in _steps_to(k)},
        k=k,
        scores=_scores(run, counts, kind),
        baselines=baselines(run),
        counts=_counts(run, counts),
        buckets={name: len(tasks) for name, tasks in by_bucket.items()},
        bucket_tasks=by_bucket,
        incomplete_tasks=int(np.sum(counts.judged < counts.expected)),
        funnel=funnel(run, stages),
        slices=slices(run, counts, kind),
        usage=usage(run),
        variance=_variance(run, counts, kind),
        doubts=doubts(run),
    )


def _steps_to(k: int) -> list[int]:
    """Every k up to 8, then doublings, and the last."""
    wanted = [*range(1, 9), *(2**power for power in range(4, 12)), k]
    return sorted({n for n in wanted if n <= k})


def _scores(run: Run, counts: Counts, kind: str) -> tuple[Score, ...]:
    return (
        scores.as_recorded_score(counts, kind),
        scores.judged_score(counts, kind),
        scores.all_expected_score(run, counts, kind),
        scores.infra_excluded_score(run, counts, kind, _infra_codes()),
        scores.suspects_excluded_score(run, kind, None),
    )


def _measures(run: Run, counts: Counts, k: int) -> dict[str, Measure]:
    judged = scores.judged_score(counts, "pass_at_1")
    expected = scores.all_expected_score(run, counts, "pass_at_1")
    found = (
        scores.as_measure(judged, "pass_at_1"),
        scores.as_measure(expected, "pass_at_1_all_expected"),
        scores.rollout_pass_rate(counts),
        scores.mean_reward(counts),
        scores.coverage(run, counts),
        Measure(name="pass_at_k", value=None, n=0, reason=repeats.ONE_REPEAT)
        if k == 1
        else structs.replace(repeats.pass_at(counts, k), name="pass_at_k"),
        repeats.consistency(counts, k),
        repeats.retry_value(counts, k),
    )
    return {one.name: one for one in found}


def _counts(run: Run, counts: Counts) -> dict[str, int | None]:
    known = run.expected_from is not None
    return {
        "total_tasks": len(counts.tasks),
        "total_rollouts": int(counts.rows.sum()),
        "expected_rollouts": int(counts.expected.sum()) if known else None,
        "passed_rollouts": int(counts.passed.sum()),
        "failed_rollouts": int(counts.failed.sum()),
        "errored_rollouts": int(counts.errored.sum()),
        "unscored_rollouts": int(counts.unscored.sum()),
        "missing_rollouts": int(counts.missing.sum()) if known else None,
        "duplicate_rollouts": run.duplicates,
    }


def _variance(run: Run, counts: Counts, kind: str) -> Variance:
    if kind == "pass_at_1":
        return pass_variance(counts.judged, counts.passed)
    rows = run.rollouts.select("task_id", "outcome", "reward")
    judged = rows.filter(pl.col("outcome").is_in([str(Outcome.PASSED), str(Outcome.FAILED)]))
    return reward_variance(judged["task_id"].to_numpy(), judged["reward"].to_numpy())


def _tasks(run: Run, counts: Counts, in_bucket: list[str]) -> tuple[TaskResult, ...]:
    known = run.expected_from is not None
    columns = [name for name in run.tasks.columns if name.startswith("slice.")]
    sliced = run.tasks.select("key_expects", *columns).rename({name: name.removeprefix("slice.") for name in columns})
    table = _places(run)
    whole = ("rows", "judged", "passed", "failed", "errored", "unscored", "missing", "recorded")
    numbers = zip(*(getattr(counts, name).tolist() for name in whole), counts.recorded_sum.tolist(), strict=True)
    found = []
    for task, bucket, cells, (repeats_, codes), values in zip(
        counts.tasks, in_bucket, numbers, table.iter_rows(), sliced.iter_rows(), strict=True
    ):
        rows, judged, passed, failed, errored, unscored, missing, recorded, rewards = cells
        found.append(
            TaskResult(
                task_id=task,
                bucket=bucket,
                rollouts=rows,
                judged=judged,
                passed=passed,
                failed=failed,
                errored=errored,
                unscored=unscored,
                missing=missing if known else None,
                mean_reward=rewards / recorded if recorded else None,
                score=passed / judged if judged else None,
                places=tuple(f"{task}#{repeat}" for repeat in repeats_ or ()),
                findings=tuple(codes or ()),
                slices={name: value for name, value in zip(sliced.columns, values, strict=True) if value is not None},
            )
        )
    return tuple(found)


def _places(run: Run) -> pl.DataFrame:
    """For each task in order: repeats that did not pass, and codes of the rules that fired."""
    bad = run.rollouts.select("task_id", "repeat", "outcome").filter(
        pl.col("outcome").is_in(["failed", "errored", "unscored"])
    )
    repeats_ = bad.group_by("task_id", maintain_order=True).agg(pl.col("repeat").head(MOST_PLACES).alias("places"))
    fired = run.rollouts.select("task_id", "fired").drop_nulls("fired").explode("fired")
    codes = fired.group_by("task_id").agg(pl.col("fired").struct.field("code").unique().sort().alias("codes"))
    tasks = run.tasks.select("task_id")
    for part in (repeats_, codes):
        tasks = tasks.join(part, on="task_id", how="left", maintain_order="left")
    return tasks.drop("task_id")


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


def check_exclusions(runs: Sequence[Run], wishes: Sequence[str], labels: Sequence[str]) -> None:
    """A task, a rollout or a rule that does not exist is a slip of the pen, not a wish."""
    codes = [*(rule.code for rule in all_rules()), *labels]
    for wish in wishes:
        kind, _, value = wish.partition(":")
        if kind == "code" and value not in codes:
            raise RequestError(f"no rule has the code {value!r}", hint="known: " + ", ".join(codes))
        if kind in ("task", "rollout") and not any(run.rollouts.select(_matches(wish).any()).item() for run in runs):
            raise RequestError(f"no run has {kind} {value!r}", hint="write task:ID or rollout:ID#REPEAT")


def _excluded(run: Run, wishes: Sequence[str], labels: Sequence[Taught]) -> Run:
    """The run without what the user leaves out; expected rollouts that go are no longer expected."""
    rows, said = run.rollouts, []
    for wish in wishes:
        before = rows.height
        rows = rows.filter(
            ~(_matches(wish) if (tasks := _doubted(run, wish, labels)) is None else pl.col("task_id").is_in(tasks))
        )
        said.append(f"{wish} ({before - rows.height} rollouts)")
    if not said:
        return run
    kept = run.tasks.filter(pl.col("task_id").is_in(rows["task_id"].unique().implode()))
    return replace(run, rollouts=rows, tasks=kept, excluded=(*run.excluded, *said))


def _doubted(run: Run, wish: str, labels: Sequence[Taught]) -> list[str] | None:
    """The tasks that a wish leaves out by a diagnosis: suspects, or those that a rule over runs names; None for others."""
    if wish == "suspect":
        return suspects_of(diagnose(run, taught=labels))
    code = wish.removeprefix("code:")
    if not any(one.rule.code == code for one in run_rules()):
        return None
    found = diagnose(run)
    return [task for doubt in (*found.doubts, *found.across) if doubt.code == code for task in doubt.tasks]


def _matches(wish: str) -> pl.Expr:
    kind, _, value = wish.partition(":")
    if wish == "infra":
        return pl.col("outcome").is_in(["errored", "unscored"]) | fired(_infra_codes())
    if kind == "task" and value:
        return pl.col("task_id") == value
    if kind == "rollout" and "#" in value:
        task, _, repeat = value.rpartition("#")
        return (pl.col("task_id") == task) & (pl.col("repeat").cast(pl.String) == repeat)
    if kind == "code" and value:
        return fired([value])
    raise RequestError(f"cannot leave out {wish!r}", hint="use infra, suspect, task:ID, rollout:ID#REPEAT or code:CODE")


def _infra_codes() -> frozenset[str]:
    """Rules that are by themselves enough to call a rollout the machinery's failure."""
    stable = (rule for rule in rules() if rule.status == "stable")
    return frozenset(rule.code for rule in stable if rule.family == "infra" and rule.kind == "direct")


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
