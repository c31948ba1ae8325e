"""Behind `blade health`: the runs of one benchmark, loaded, analyzed and held together."""

from __future__ import annotations

from collections.abc import Sequence

from blade.analysis import analyze, load
from blade.benchmark_health.health import health as health_of
from blade.benchmark_health.values import Health
from blade.model.errors import RequestError
from blade.model.options import Options
from blade.model.run import Run
from blade.stats.task_matching import same_tasks


def health(inputs: Sequence[str], options: Options) -> Health:
    """The health of the benchmark that the inputs are runs of; raises where they do not share tasks."""
    return health_of_loaded(load(inputs, options), options)


def health_of_loaded(runs: Sequence[Run], options: Options) -> Health:
    """The health of the benchmark of the runs; raises where they do not share tasks."""
    analyzed = analyze(runs, options).runs
    for other in analyzed[1:]:
        if not same_tasks(analyzed[0].run.tasks, other.run.tasks).comparable:
            hint = "give runs of one benchmark"
            raise RequestError(f"{analyzed[0].run.name} and {other.run.name} do not have the same tasks", hint=hint)
    return health_of(analyzed)
