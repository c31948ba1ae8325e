"""`blade sample`: what to read of a run, drawn at random."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.console import show
from blade.cli.options import AsJson, RunName, RunPath

if TYPE_CHECKING:
    from collections.abc import Sequence

    from blade.readers.sample import SampledRollout


def sample(
    run: RunPath,
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="How many rollouts to read.")] = 40,
    stratify: Annotated[
        str,
        typer.Option(metavar="WHAT", help="Draw from each mode, task, party, outcome or stage; several with commas."),
    ] = "mode",
    unattributed: Annotated[
        bool, typer.Option("--unattributed", help="Only failures that the rules leave unexplained.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed draws other rollouts.")] = 0,
    as_json: AsJson = False,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="Write rows to fill in, for `blade attribute --file`."),
    ] = None,
    run_name: RunName = None,
) -> None:
    """Draw rollouts to read, passes among them; what readers find in all of them is then estimated, with limits.

    Example: blade sample results/rollouts.jsonl --n 40 --stratify mode -o notes.jsonl
    """
    from blade import analysis as pipeline
    from blade.files import json_line, write_lines
    from blade.model.errors import RequestError
    from blade.model.options import Options
    from blade.model.run import one_run
    from blade.readers.sample import draw, may_be_replaced, rows_of

    if out is not None and not may_be_replaced(out):
        store = f"blade attribute {shlex.quote(run)} --file {shlex.quote(str(out))} --as NAME"
        raise RequestError(
            f"{out} holds more than empty rows to fill in", hint=f"name another file; to store it: {store}"
        )
    chosen = one_run(pipeline.load([run], Options()), run, run_name)
    attributions = pipeline.attributions_of(chosen)
    by = [name.strip() for name in stratify.split(",") if name.strip()]
    drawn = draw(chosen, attributions, n, by=by or ["mode"], unattributed=unattributed, seed=seed)
    command = f"blade show {shlex.quote(run)}"
    rows = list(rows_of(drawn, command, f" --run {shlex.quote(run_name)}" if run_name else ""))
    if out is not None:
        write_lines(out, rows)
    if as_json:
        sys.stdout.write(json_line(rows).decode())
        return
    show([*_listed(drawn, rows), *([""] if rows else []), _told(drawn, chosen.rollouts.height)])
    if out is not None:
        show(f"fill in mode, quote and note in {out}, then: blade attribute {shlex.quote(run)} --file {out} --as NAME")


def _listed(drawn: Sequence[SampledRollout], rows: Sequence[dict[str, object]]) -> list[str]:
    """A line for each rollout: how it ended, the stratum it stands for, and how to read it."""
    ended = [f"{one.outcome:<8}  {one.drawn.stratum} ({one.drawn.drawn} of {one.drawn.size:,})" for one in drawn]
    widest = max(map(len, ended), default=0)
    return [f"{line:<{widest}}  {row['command']}" for line, row in zip(ended, rows, strict=True)]


def _told(drawn: Sequence[SampledRollout], everything: int) -> str:
    if not drawn:
        return "nothing to read: no rollout of this kind has a row"
    passes = sum(one.drawn.passed for one in drawn)
    which = f"{len(drawn)} of {everything:,} rollouts, {passes} pass{'' if passes == 1 else 'es'} among them"
    return f"{which}, seed {drawn[0].drawn.seed}; what readers find in them is scaled up by stratum"
