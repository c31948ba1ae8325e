"""`blade package init`: draft the package of a benchmark from its rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blade.cli.console import show
from blade.cli.options import BenchmarkDir


def init(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The benchmark.")],
    rollouts: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="RUN", help="Rollouts to draft from; repeat it for more runs."),
    ] = None,
    benchmark_dir: BenchmarkDir = None,
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="The folder that holds packages.")] = Path(
        "benchmarks"
    ),
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Draft skill, rules, golden report, sidecar, facts and shallow baseline; what is left to a person is marked OPEN.

    Example: blade package init evalplus --from results/model_a_rollouts.jsonl --from results/model_b_rollouts.jsonl
    """
    import json

    from blade.package.draft import draft_package

    made = draft_package(name, rollouts or [], benchmark_dir or into / name, force=force)
    more = f"blade package status {made.folder}"
    if as_json:
        print(json.dumps({"folder": str(made.folder), "files": list(made.files), "more": {"status": more}}))
        return
    show([f"drafted {made.folder}:", *(f"  {file}" for file in made.files), f"next: {more}"])
