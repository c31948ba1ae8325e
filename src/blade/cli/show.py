"""`blade show`: read all that is known of one rollout."""

from __future__ import annotations

from typing import Annotated

import typer

from blade.cli import console
from blade.cli.options import RunName, RunPath


def show(
    run: RunPath,
    place: Annotated[str, typer.Argument(metavar="PLACE", help="TASK#REPEAT or TASK#REPEAT:STEP, for example 39#1:6.")],
    steps: Annotated[str | None, typer.Option(metavar="FROM:TO", help="Only these steps.")] = None,
    width: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Characters of each step and log; 0 for all.")
    ] = None,
    run_name: RunName = None,
) -> None:
    """Read a rollout as plain text: outcome, checks, times, prompt, steps, logs; in under about 4,000 tokens.

    Example: blade show results/rollouts.jsonl 39#1 --steps 4:12
    """
    from blade import analysis, api
    from blade.model.options import Options
    from blade.model.run import one_run

    chosen = one_run(analysis.load([run], Options(metrics_only=True)), run, run_name)
    console.show(api.show(chosen, place, steps=steps, width=width))
