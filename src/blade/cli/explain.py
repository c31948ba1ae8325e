"""`blade explain`: one task, its repeats side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from blade.cli.console import show
from blade.cli.options import RunName, RunPath


def explain(
    run: RunPath,
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task's id, for example 39; a place names its task.")],
    run_name: RunName = None,
) -> None:
    """One task: passing against failing repeats, first divergence by party, what was due against what was done.

    Example: blade explain results/rollouts.jsonl 39
    """
    from blade import analysis as pipeline
    from blade.findings.deep_dives import explain as look_closely
    from blade.model.options import Options
    from blade.model.run import one_run, task_of
    from blade.report.plain_text import explanation

    chosen = one_run(pipeline.load([run], Options()), run, run_name)
    show(explanation(*look_closely(chosen, task_of(chosen, task))))
