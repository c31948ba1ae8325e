"""Behind `blade compare`, `gate`, `history` and `health`: what several runs say together."""

from __future__ import annotations

from collections.abc import Sequence

from blade.comparing.compare import MARGIN
from blade.comparing.compare import compare as compare_runs
from blade.comparing.history import history as history_of
from blade.core.comparison import Comparison
from blade.core.errors import RequestError
from blade.core.health import Health
from blade.core.history import Entry
from blade.core.run import Run
from blade.metrics.same_task import same_tasks
from blade.pipeline import Options, analyze, load, told_apart
from blade.soundness.health import health as health_of


def compare(inputs: Sequence[str], options: Options, margin: float = MARGIN) -> tuple[Comparison, ...]:
    """The first run against each of the others; every input must hold one run."""
    runs = [_one_run(each, options) for each in inputs]
    analyzed = [analyze([run], options).runs[0] for run in told_apart(runs)]
    return tuple(compare_runs(analyzed[0], other, margin) for other in analyzed[1:])


def history(inputs: Sequence[str], margin: float = MARGIN) -> tuple[Entry, ...]:
    """The runs of the inputs in the order given, each against the one before."""
    return history_of([(path, _one_run(path, Options())) for path in inputs], margin)


def health(inputs: Sequence[str], options: Options) -> Health:
    """The health of the benchmark that the inputs are runs of; raises where they do not share tasks."""
    analyzed = analyze(load(inputs, options), options).runs
    for other in analyzed[1:]:
        if not same_tasks(analyzed[0].run.tasks, other.run.tasks).comparable:
            hint = "give runs of one benchmark"
            raise RequestError(f"{analyzed[0].run.name} and {other.run.name} do not have the same tasks", hint=hint)
    return health_of(analyzed)


def _one_run(path: str, options: Options) -> Run:
    runs = load([path], options)
    if len(runs) != 1:
        names = ", ".join(run.name for run in runs)
        raise RequestError(f"{path} holds {len(runs)} runs: {names}", hint="give a file or folder with one run each")
    return runs[0]
