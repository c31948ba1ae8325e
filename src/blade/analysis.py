"""Behind `blade analyze`: load -> rules -> statistics -> diagnosis.

What diagnoses is imported where it is used: who asks for metrics only does not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from blade.ingest.artifacts import Found, find
from blade.ingest.first_row import first_benchmark
from blade.ingest.labels import labels_for
from blade.ingest.load import load_found, told_apart
from blade.ingest.workers import rare_sweeps
from blade.model.analysis import Analysis, RunAnalysis
from blade.model.diagnosis import Elsewhere
from blade.model.errors import BladeError
from blade.model.finding import Detect
from blade.model.options import Options
from blade.model.run import Run
from blade.model.tools import NO_CUSTOM_TOOLS, using_tools
from blade.stats import scores
from blade.stats.counts import count
from blade.stats.run_metrics import measure

if TYPE_CHECKING:
    from blade.custom_rules import RuleBook


@rare_sweeps()
def load(inputs: Sequence[str], options: Options) -> tuple[Run, ...]:
    """Every run that the inputs stand for, in order of name; a folder of an earlier analysis gives its runs.

    Rules look at each rollout while its row is read; a run keeps the rule book that it was read with.
    """
    found = find(inputs, options.format)
    guess = _first_benchmark(found) if options.rule_book is None and options.find_rule_book else None
    book = _rule_book_of(guess, found) if guess is not None else options.rule_book
    runs = _load(found, structs.replace(options, rule_book=book))
    if guess is not None and book is not None and any(run.benchmark != guess for run in runs):
        # The first row spoke for rows of another benchmark: nothing of its package may count for them.
        runs = _load(found, structs.replace(options, pool=None))
    return runs


def _first_benchmark(found: Found) -> str | None:
    """The benchmark that the first row tells; the package must be known before the rows are read."""
    with suppress(BladeError):
        return None if found.analyses else first_benchmark(found)
    return None


def _rule_book_of(benchmark: str, found: Found) -> RuleBook | None:
    # A reader of YAML takes a while to load, and most runs have no package.
    from blade.custom_rules.read_rule_book import rule_book_of

    return rule_book_of(benchmark, [bundle.path for bundle in found.bundles])


def _load(found: Found, options: Options) -> tuple[Run, ...]:
    if options.metrics_only:
        return load_found(found, options, None)
    from blade.evidence.keys_beside import with_keys_beside

    runs = map(_with_rule_book, load_found(found, options, _rules_of(options.rule_book)))
    with using_tools(options.tools):
        return tuple(map(with_keys_beside, runs))


def _with_rule_book(run: Run) -> Run:
    """A run of an earlier analysis with the rule book that it names, while that is the same."""
    if run.rule_book_name is None or run.rule_book is not None:
        return run
    from blade.custom_rules.read_rule_book import rule_book_named

    return replace(run, rule_book=rule_book_named(run.rule_book_name, map(Path, run.roots.values())))


def _rules_of(book: RuleBook | None) -> Detect:
    """What looks at every rollout: BLADE's rules, and those of the rule book."""
    from blade.rules.scan import detect

    if book is None:
        return detect
    from blade.rules.custom import CustomDetection

    return CustomDetection(
        rules=tuple((label.name, label.rule) for label in book.labels), stages=book.funnel, first=detect
    )


@rare_sweeps()
def analyze(runs: Sequence[Run], options: Options) -> Analysis:
    """Measure and diagnose each run; with several, also each pair on the tasks that both have."""
    from blade.findings import across_runs
    from blade.findings.exclusions import check_exclusions, excluded

    books = [options.rule_book or run.rule_book for run in runs]
    labels = [book.labels if book is not None else () for book in books]
    check_exclusions(runs, options.exclude, [label.name for each in labels for label in each])
    runs = told_apart(runs)
    with using_tools(
        books[0].tools if books and books[0] is not None and len(set(map(id, books))) == 1 else NO_CUSTOM_TOOLS
    ):
        kept = [excluded(run, options.exclude, each) for run, each in zip(runs, labels, strict=True)]
        same = across_runs.same_tasks_by_pair(kept)
        beside = across_runs.side_by_side(kept, same) if not options.metrics_only else []
        seen = across_runs.elsewhere_by_run(kept, beside)
        analyzed = tuple(
            _analyze_run(run, whole, book, seen.get(run.name, Elsewhere()), options)
            for run, whole, book in zip(kept, runs, books, strict=True)
        )
        between = across_runs.between_runs(beside)
    shared = across_runs.shared_scores(analyzed, same)
    return Analysis(runs=analyzed, notes=options.notes, shared=shared, between=between, render=_page, write=_write)


def _analyze_run(run: Run, whole: Run, book: RuleBook | None, elsewhere: Elsewhere, options: Options) -> RunAnalysis:
    """The numbers of a run and its diagnosis, or why it has none; `whole` is the run before exclusions."""
    counts = count(run)
    stages = [name for name, _ in book.funnel] if book is not None else []
    measured = measure(run, whole, stages, counts, _infra_codes(run))
    if options.metrics_only:
        return replace(measured, why_not="trajectories were not read (--metrics-only)")
    from blade.findings.diagnose import diagnose, with_diagnosis
    from blade.findings.exclusions import suspects_of

    with using_tools(book.tools if book is not None else NO_CUSTOM_TOOLS):
        labels = book.labels if book is not None else ()
        diagnosis = diagnose(run, elsewhere, labels_for(run, options.labels), labels)
    score = scores.suspects_excluded_score(counts, measured.metrics.headline, suspects_of(diagnosis))
    return replace(
        measured,
        metrics=structs.replace(measured.metrics, scores=(*measured.metrics.scores[:-1], score)),
        diagnosis=diagnosis,
        make_tasks=lambda: with_diagnosis(measured.make_tasks(), diagnosis),
    )


def _infra_codes(run: Run) -> frozenset[str]:
    """Rules that see machinery at work; none where no rule fired, and the rules need not be loaded."""
    fired = run.rollouts["fired"]
    if fired.null_count() == len(fired):
        return frozenset()
    from blade.rules.catalog import infra_codes

    return infra_codes()


def _write(analysis: Analysis, folder: Path) -> None:
    from blade.write import write

    write(analysis, folder)


def _page(analysis: Analysis) -> str:
    # What turns Markdown into a page takes a while to load, and most commands write none.
    from blade.report.html import page

    return page(analysis)
