"""Behind `blade compare`, `gate` and `history`: what several runs say together."""

from __future__ import annotations

from collections.abc import Sequence

from blade.analysis import analyze, load
from blade.comparison.compare import MARGIN
from blade.comparison.compare import compare as compare_runs
from blade.comparison.history import history as history_of
from blade.comparison.history_values import Entry
from blade.comparison.values import Comparison
from blade.ingest.load import told_apart
from blade.model.errors import RequestError
from blade.model.options import Options
from blade.model.run import Run


def compare(inputs: Sequence[str], options: Options, margin: float = MARGIN) -> tuple[Comparison, ...]:
    """The first run against each of the others; every input must hold one run."""
    return compare_loaded([_one_run(each, options) for each in inputs], options, margin)


def compare_loaded(runs: Sequence[Run], options: Options, margin: float = MARGIN) -> tuple[Comparison, ...]:
    """The first run against each of the others."""
    analyzed = [analyze([run], options).runs[0] for run in told_apart(runs)]
    return tuple(compare_runs(analyzed[0], other, margin) for other in analyzed[1:])


def history(inputs: Sequence[str], margin: float = MARGIN) -> tuple[Entry, ...]:
    """The runs of the inputs in the order given, each against the one before."""
    return history_of([(path, _one_run(path, Options())) for path in inputs], margin)


def _one_run(path: str, options: Options) -> Run:
    runs = load([path], options)
    if len(runs) != 1:
        names = ", ".join(run.name for run in runs)
        raise RequestError(f"{path} holds {len(runs)} runs: {names}", hint="give a file or folder with one run each")
    return runs[0]
