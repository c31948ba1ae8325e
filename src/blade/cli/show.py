"""`blade show`: read one rollout in order."""

from __future__ import annotations

from typing import Annotated

import typer

from blade.model.errors import RequestError

AROUND = 2
"""Steps shown before and after the one that a place names."""


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Rollouts file, folder, or an earlier analysis.")],
    place: Annotated[str, typer.Argument(metavar="PLACE", help="TASK#REPEAT or TASK#REPEAT:STEP, for example 39#1:6.")],
    steps: Annotated[str | None, typer.Option(metavar="FROM:TO", help="Only these steps.")] = None,
    width: Annotated[int | None, typer.Option(metavar="N", min=0, help="Characters of each step; 0 for all.")] = None,
    run_name: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="Which run, where the path holds several.")
    ] = None,
) -> None:
    """Read a rollout in order, as plain text; a whole one in under about 4,000 tokens.

    Example: blade show results/rollouts.jsonl 39#1 --steps 4:12
    """
    from blade import analysis as pipeline
    from blade.cli.locations import one_run, parse, step_range
    from blade.report.rollout_text import show as lines_of

    runs = pipeline.load([run], pipeline.Options(metrics_only=True))
    chosen = one_run(runs, run, run_name)
    task, repeat, step = parse(chosen, place)
    wanted = (
        step_range(steps) if steps else range(max(0, step - AROUND), step + AROUND + 1) if step is not None else None
    )
    rollout = chosen[task, repeat]
    if wanted is not None and not any(one.index in wanted for one in rollout.steps or ()):
        last = max((one.index for one in rollout.steps or ()), default=None)
        hint = f"it has steps 0 to {last}" if last is not None else "no trajectory is recorded"
        raise RequestError(f"{rollout.key} has no such step", hint=hint)
    print("\n".join(lines_of(rollout, steps=wanted, width=width)))
