"""Behind `blade analyze`: load -> rules -> statistics -> diagnosis.

What diagnoses is imported where it is used: whoever asks for metrics only does not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from blade.ingest.artifacts import Found, find
from blade.ingest.labels import labels_for
from blade.ingest.load import first_benchmark, load_found, told_apart
from blade.ingest.workers import rare_sweeps
from blade.model.analysis import Analysis, RunAnalysis
from blade.model.diagnosis import Elsewhere
from blade.model.errors import ArtifactError, BladeError, RequestError
from blade.model.options import Options
from blade.model.run import Run
from blade.model.tools import NO_CUSTOM_TOOLS, using_tools
from blade.stats.counts import count
from blade.stats.run_metrics import measure
from blade.stats.scores import agents_own_scores, suspects_excluded_score

if TYPE_CHECKING:
    from blade.attribution.runs_together import DraftAttributions
    from blade.custom_rules import RuleBook
    from blade.model.attribution import Attributions


@rare_sweeps()
def load(inputs: Sequence[str], options: Options) -> tuple[Run, ...]:
    """Every run that the inputs stand for, in order of name; a folder of an earlier analysis gives its runs.

    Rules look at each rollout while its row is read; a run keeps the rule book that it was read with, and what readers
    said of its rollouts.
    """
    runs = _load(inputs, options)
    if options.metrics_only:
        return runs
    from blade.readers.check import with_readings
    from blade.readers.store import files_for

    if options.attributions is not None:
        return with_readings(runs, [options.attributions])
    return with_readings(runs, files_for(inputs, runs, options.attributions_in))


def _load(inputs: Sequence[str], options: Options) -> tuple[Run, ...]:
    files, options, benchmark = *_found(inputs, options), None
    if options.rule_book is None and options.find_rule_book and not files.analyses:
        with suppress(BladeError):
            benchmark = first_benchmark(files, options.limits)
    if benchmark is None:
        return _read(files, options)
    from blade.custom_rules.find_rule_book import rule_book_of

    book = rule_book_of(benchmark, [bundle.path for bundle in files.bundles])
    runs = _read(files, replace(options, rule_book=book))
    if book is not None and any(run.benchmark != benchmark for run in runs):
        # The first row spoke for rows of another benchmark: nothing of its package may count for them.
        runs = _read(files, replace(options, pool=None))
    return runs


def _found(inputs: Sequence[str], options: Options) -> tuple[Found, Options]:
    """The files, and the options with the rule book of the package that they lie in, where only its map makes them rollouts."""
    try:
        return find(inputs, options.format, options.mapping, options.limits), options
    except ArtifactError:
        if options.rule_book is not None or not options.find_rule_book:
            raise
        from blade.custom_rules.find_rule_book import rule_book_above

        book = rule_book_above(Path(text.rpartition("=")[2]) for text in inputs)
        if book is None or not book.field_map:
            raise
        options = replace(options, rule_book=book)
        return find(inputs, options.format, options.mapping, options.limits), options


def _read(files: Found, options: Options) -> tuple[Run, ...]:
    """The runs in the files: every row is read once, and every rule looks at it then."""
    if options.metrics_only:
        return load_found(files, options, None)
    from blade.custom_rules.find_rule_book import rule_book_named
    from blade.evidence.context import with_keys_beside
    from blade.rules.scan import CustomDetection, detect

    book = options.rule_book
    if book is None:
        runs = load_found(files, options, detect)
    else:
        custom = tuple((label.name, label.rule) for label in book.labels)
        runs = load_found(files, options, CustomDetection(rules=custom, stages=book.funnel, first=detect))
    # A run of an earlier analysis names its rule book, which counts while it is the same.
    books = [run.rule_book or rule_book_named(run.rule_book_name, map(Path, run.roots.values())) for run in runs]
    with using_tools(options.tools):
        return tuple(with_keys_beside(replace(run, rule_book=book)) for run, book in zip(runs, books, strict=True))


@rare_sweeps()
def analyze(runs: Sequence[Run], options: Options) -> Analysis:
    """Measure and diagnose each run; with several, also each pair on the tasks that both have."""
    from blade.custom_rules.rule_book import NO_RULE_BOOK
    from blade.findings.across_runs import side_by_side
    from blade.findings.exclusions import check_exclusions, excluded

    books = [options.rule_book or run.rule_book or NO_RULE_BOOK for run in runs]
    check_exclusions(runs, options.exclude, [label.name for book in books for label in book.labels])
    whole = told_apart(runs)
    tools = {book.tools for book in books}
    with using_tools(tools.pop() if len(tools) == 1 else NO_CUSTOM_TOOLS):
        drafts = _drafts(whole, books, options)
        selected = [
            excluded(run, options.exclude, book.labels, drafts.get(run.name))
            for run, book in zip(whole, books, strict=True)
        ]
        others = side_by_side(selected, diagnose=not options.metrics_only)
        analyzed = tuple(
            _analyze_run(run, before, book, others.elsewhere.get(run.name, Elsewhere()), options, drafts.get(run.name))
            for run, before, book in zip(selected, whole, books, strict=True)
        )
        return Analysis(
            runs=analyzed,
            notes=options.notes,
            shared=others.shared_scores(analyzed),
            between=others.between(),
        )


def attributions_of(run: Run) -> Attributions:
    """The attributions of one run as its analysis has them, without what is measured besides."""
    book = run.rule_book
    found = analyze([run], Options(rule_book=book)).runs[0].diagnosis
    if found is None:
        raise RequestError("no rollout was attributed", hint="load the run with its trajectories")
    return found.partition.attributions


def _drafts(runs: Sequence[Run], books: Sequence[RuleBook], options: Options) -> dict[str, DraftAttributions]:
    """By run, its attributions with what the other runs say of its tasks; none where rows were not looked at."""
    if options.metrics_only:
        return {}
    from blade.attribution.runs_together import attribute_together

    return {draft.run: draft for draft in attribute_together(runs, books, options.labels)}


def _analyze_run(
    run: Run, before: Run, book: RuleBook, elsewhere: Elsewhere, options: Options, draft: DraftAttributions | None
) -> RunAnalysis:
    """The numbers of a run and its diagnosis, or why it has none; `before` is the run before exclusions."""
    counts = count(run)
    drafted = draft.of(run) if draft is not None else None
    table = drafted.table if drafted is not None else None
    measured = measure(run, before, [stage for stage, _ in book.funnel], counts, table)
    if options.metrics_only:
        return replace(measured, why_not="trajectories were not read (--metrics-only)")
    from blade.findings.diagnose import diagnose, with_diagnosis
    from blade.findings.exclusions import suspects_of
    from blade.readers.statistics import reader_statistics

    with using_tools(book.tools):
        labels = labels_for(run, options.labels)
        diagnosis = diagnose(run, elsewhere, labels, book.labels, drafted, draft.others if draft is not None else ())
    doubtful = [one.location for one in diagnosis.passes_to_doubt]
    table = diagnosis.partition.attributions.table
    aside = agents_own_scores(run, table, doubtful, measured.metrics.headline)
    score = suspects_excluded_score(counts, measured.metrics.headline, suspects_of(diagnosis))
    return replace(
        measured,
        metrics=replace(measured.metrics, scores=(*measured.metrics.scores[:-1], *aside, score)),
        diagnosis=diagnosis,
        readers=reader_statistics(run.readings, diagnosis.partition.attributions),
        make_tasks=lambda: with_diagnosis(measured.make_tasks(), diagnosis),
    )
