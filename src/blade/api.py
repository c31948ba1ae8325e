"""The public functions, for scripts and notebooks; the commands give the same results for the same files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from blade import analysis as pipeline
from blade.model.analysis import Analysis
from blade.model.diagnosis import Contrast, DeepDive
from blade.model.errors import RequestError
from blade.model.limits import DEFAULT_LIMITS, ReadLimits
from blade.model.options import Options
from blade.model.run import Run

if TYPE_CHECKING:
    from blade.benchmark_health.values import Health
    from blade.claims.values import Audit
    from blade.comparison.values import Comparison
    from blade.model.diagnosis import RuleTrial

Source = Run | str | os.PathLike[str]
"""A loaded run, or a path to one: a file, a folder, a glob, or an earlier analysis."""
_PathLike = str | os.PathLike[str]
AROUND = 2
"""Steps shown before and after the one that a location names."""


def load_run(
    path: _PathLike,
    *more: _PathLike,
    format: str | None = None,  # noqa: A002 - the name that the command line has
    pass_threshold: float | None = None,
    expect_tasks: int | None = None,
    expect_repeats: int | None = None,
    package: _PathLike | None = None,
    field_map: Mapping[str, str] | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Run:
    """The one run that the paths hold; raises `BladeError` when they hold none or several.

    `field_map` says what fields of the rows are: `{"task": "case_id", "reward": "grading.points"}`; `limits` what is too
    long or too large to be read.
    """
    from blade.ingest.mapping import read_map

    options = _options(
        package,
        format=format,
        pass_threshold=pass_threshold,
        expect_tasks=expect_tasks,
        expect_repeats=expect_repeats,
        field_map=read_map([f"{target}={path}" for target, path in (field_map or {}).items()]),
        limits=limits,
    )
    return _only(pipeline.load([os.fspath(each) for each in (path, *more)], options), os.fspath(path))


def analyze(
    *runs: Source,
    exclude: Sequence[str] = (),
    notes: Sequence[str] = (),
    labels: _PathLike | None = None,
    attributions: _PathLike | None = None,
    package: _PathLike | None = None,
    pass_threshold: float | None = None,
) -> Analysis:
    """Measure and diagnose runs; `labels` is a file of people's verdicts, `attributions` one of readers' attributions
    (else those beside the runs count), `package` a benchmark's package.

    Without `package`, the rule book of the package named like the run's benchmark is used, as on the command line.
    """
    from blade.ingest.labels import read_labels

    options = _options(
        package,
        exclude=tuple(exclude),
        notes=tuple(notes),
        labels=read_labels(Path(labels)) if labels is not None else (),
        pass_threshold=pass_threshold,
    )
    loaded = _loaded(runs, options)
    if attributions is not None:
        from blade.readers.check import with_readings

        loaded = with_readings(loaded, [Path(attributions)])
    return structs.replace(pipeline.analyze(loaded, options), render=_render, write=_write)


def compare(
    baseline: Source, candidate: Source, *, margin: float = 0.02, package: _PathLike | None = None
) -> Comparison:
    """Why the score changed; `margin` is a fraction, below which differences count as none."""
    from blade.comparison.compare import compare_loaded

    options = _options(package)
    pair = [
        run if isinstance(run, Run) else _only(_loaded([run], options), os.fspath(run)) for run in (baseline, candidate)
    ]
    return compare_loaded(pair, options, margin)[0]


def health(*runs: Source, package: _PathLike | None = None) -> Health:
    """Whether the benchmark of these runs is sound."""
    from blade.benchmark_health.health import health_of_loaded

    options = _options(package)
    return health_of_loaded(_loaded(runs, options), options)


def show(run: Source, location: str, *, steps: str | None = None, width: int | None = None) -> str:
    """All that is known of a rollout, as plain text; `location` is `TASK#REPEAT` or `TASK#REPEAT:STEP`, `steps` a range `4:12`."""
    from blade.ingest.shown_row import shown_row
    from blade.model.run import parse_location, step_range
    from blade.report.rollout_text import show as lines_of

    loaded = run if isinstance(run, Run) else _only(_loaded([run], Options(metrics_only=True)), os.fspath(run))
    task, repeat, step = parse_location(loaded, location)
    around = range(max(0, step - AROUND), step + AROUND + 1) if step is not None else None
    wanted = step_range(steps) if steps else around
    rollout = loaded[task, repeat]
    if wanted is not None and not any(each.index in wanted for each in rollout.steps or ()):
        last = max((each.index for each in rollout.steps or ()), default=None)
        hint = f"it has steps 0 to {last}" if last is not None else "no trajectory is recorded"
        raise RequestError(f"{rollout.key} has no such step", hint=hint)
    return "\n".join(lines_of(rollout, shown_row(rollout), steps=wanted, width=width))


def audit(report: _PathLike, *runs: Source) -> Audit:
    """Every claim of a report in Markdown, against the runs that it is about and against the rest of the report."""
    from blade.claims.audit import audit as audit_text
    from blade.claims.audit import audit_analysis

    path = Path(report)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise RequestError(f"cannot read {path}: {error.strerror}", hint="give a report in Markdown") from None
    if any(isinstance(run, Run) for run in runs):
        return audit_analysis(path.name, text, analyze(*runs))
    paths = [os.fspath(run) for run in runs if not isinstance(run, Run)]
    return audit_text(path.name, text, paths, Options(), str(path.parent))


def explain(run: Source, task_id: str) -> tuple[DeepDive, Contrast | None]:
    """One task: what was expected, what each repeat did, and where repeats part; the contrast is None without both outcomes."""
    from blade.findings.deep_dives import explain as explain_task

    loaded = run if isinstance(run, Run) else _only(_loaded([run], Options()), os.fspath(run))
    return explain_task(loaded, task_id)


def try_rule(run: Source, rule: str) -> RuleTrial:
    """A rule as a one-off over a run: counts, support, slices, five locations; RuleError when the text is no rule."""
    from blade.findings.rule_trial import try_on

    return try_on(run if isinstance(run, Run) else _only(_loaded([run], Options()), os.fspath(run)), rule)


def _render(analysis: Analysis) -> str:
    # What turns Markdown into a page takes a while to load, and most scripts show none.
    from blade.report.html import page

    return page(analysis)


def _write(analysis: Analysis, folder: Path) -> None:
    from blade.write import write

    write(analysis, folder)


def _options(package: _PathLike | None, **asked: object) -> Options:
    if package is None:
        return Options(**asked)  # type: ignore[arg-type]
    from blade.custom_rules.find_rule_book import rule_book_in

    return Options(rule_book=rule_book_in(Path(package)), **asked)  # type: ignore[arg-type]


def _loaded(runs: Sequence[Source], options: Options) -> tuple[Run, ...]:
    """Loaded runs as they are, then those of the paths."""
    paths = [os.fspath(run) for run in runs if not isinstance(run, Run)]
    loaded = [run for run in runs if isinstance(run, Run)]
    return (*loaded, *(pipeline.load(paths, options) if paths else ()))


def _only(runs: Sequence[Run], path: str) -> Run:
    if len(runs) != 1:
        names = ", ".join(run.name for run in runs)
        raise RequestError(f"{path} holds {len(runs)} runs: {names}", hint="blade.analyze takes them all at once")
    return runs[0]
