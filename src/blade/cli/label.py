"""`blade label`: a person's verdict on a task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blade.cli.console import show
from blade.cli.options import RunName, RunPath
from blade.model.errors import RequestError


def label(
    run: RunPath,
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task's id; a place names its task.")],
    cause: Annotated[
        str,
        typer.Option(metavar="CAUSE", help="knowledge, unreliable, behavior, task, infra, data; none: not settled."),
    ],
    note: Annotated[str, typer.Option(metavar="TEXT", help="Why, in your words; the report quotes it.")] = "",
    labels: Annotated[Path, typer.Option(metavar="FILE", help="Where verdicts are kept.")] = Path("labels.jsonl"),
    run_name: RunName = None,
) -> None:
    """Say what made a task fail: it overrules the rules wherever the labels are given, and is scored against them.

    Example: blade label results/rollouts.jsonl 25 --cause task --note "the key has a wrong date of birth"
    """
    from blade import analysis as pipeline
    from blade.ingest.labels import label_of, write_label
    from blade.model.finding import Cause
    from blade.model.options import Options
    from blade.model.run import one_run, task_of

    known = [*map(str, Cause), "none"]
    if cause not in known:
        raise RequestError(f"{cause!r} is no cause", hint=f"one of {', '.join(known)}")
    chosen = one_run(pipeline.load([run], Options(metrics_only=True)), run, run_name)
    made = label_of(chosen, task_of(chosen, task), None if cause == "none" else Cause(cause), note)
    total = write_label(labels, made)
    show(f"task {made.task_id}: {cause}; {labels} has {total} label{'' if total == 1 else 's'}")
    show(f"blade analyze {run} --labels {labels} uses it")
