"""The public functions, for scripts and notebooks."""

from __future__ import annotations

import os
from pathlib import Path

from blade.analysis import Options, load, try_on
from blade.analysis import analyze as analyze_runs
from blade.benchmark_health.health import health as health_of
from blade.benchmark_health.values import Health
from blade.claims.load import audit as audit_text
from blade.claims.load import audit_analysis
from blade.claims.values import Audit
from blade.comparison.compare import compare as compare_runs
from blade.comparison.values import Comparison
from blade.findings.explain import explain as look_closely
from blade.model.analysis import Analysis
from blade.model.diagnosis import Contrast, Dive
from blade.model.errors import RequestError
from blade.model.rule_trial import Trial
from blade.model.run import Run


def load_run(
    path: str | os.PathLike[str],
    *more: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - the name that the command line has
    pass_threshold: float | None = None,
    expect_tasks: int | None = None,
    expect_repeats: int | None = None,
) -> Run:
    """The one run that the paths hold; raises `BladeError` when they hold none or several."""
    options = Options(
        format=format, pass_threshold=pass_threshold, expect_tasks=expect_tasks, expect_repeats=expect_repeats
    )
    runs = load([os.fspath(each) for each in (path, *more)], options)
    if len(runs) != 1:
        names = ", ".join(run.name for run in runs)
        raise RequestError(
            f"{os.fspath(path)} holds {len(runs)} runs: {names}", hint="blade.analyze takes them all at once"
        )
    return runs[0]


def analyze(
    *runs: Run | str | os.PathLike[str], exclude: tuple[str, ...] = (), notes: tuple[str, ...] = ()
) -> Analysis:
    """Analyze runs, given as loaded runs or as paths."""
    options = Options(exclude=exclude, notes=notes)
    paths = [os.fspath(run) for run in runs if not isinstance(run, Run)]
    loaded = [run for run in runs if isinstance(run, Run)]
    return analyze_runs((*loaded, *(load(paths, options) if paths else ())), options)


def compare(
    baseline: Run | str | os.PathLike[str], candidate: Run | str | os.PathLike[str], *, margin: float = 0.02
) -> Comparison:
    """Why did the score change; `margin` is a fraction, below which differences count as none."""
    before, after = (analyze(run).runs[0] for run in (baseline, candidate))
    return compare_runs(before, after, margin)


def health(*runs: Run | str | os.PathLike[str]) -> Health:
    """Is the benchmark of these runs sound."""
    return health_of(analyze(*runs).runs)


def audit(report: str | os.PathLike[str], *runs: Run | str | os.PathLike[str]) -> Audit:
    """Every claim of a report in Markdown, against the runs that it is about and against the rest of the report."""
    path = Path(report)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise RequestError(f"cannot read {path}: {error.strerror}", hint="give a report in Markdown") from None
    if any(isinstance(run, Run) for run in runs):
        return audit_analysis(path.name, text, analyze(*runs))
    paths = [os.fspath(run) for run in runs if not isinstance(run, Run)]
    return audit_text(path.name, text, paths, Options(), str(path.parent))


def explain(run: Run, task_id: str) -> tuple[Dive, Contrast | None]:
    """One task closely: what was due, what each repeat did, and where repeats part; the contrast is None without both outcomes."""
    return look_closely(run, task_id)


def try_rule(run: Run, rule: str) -> Trial:
    """A rule as a one-off detector over a run: counts, grade, slices, five places; RuleError when the text is no rule."""
    return try_on(run, rule)
