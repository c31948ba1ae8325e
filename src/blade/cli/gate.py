"""`blade gate`: the comparison as an exit code for CI."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from blade.cli.console import show
from blade.cli.options import AsJson, Baseline, Exclude


def gate(
    baseline: Baseline,
    candidate: Annotated[str, typer.Argument(metavar="CAND", help="The run that wants to pass.")],
    policy: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML: metric, max_drop, margin (points), coverage, inconclusive."),
    ] = None,
    exclude: Exclude = None,
    as_json: AsJson = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML there.")] = None,
) -> None:
    """Pass or stop a candidate: exit 0 holds, 1 does not, 3 cannot be settled, 2 could not be asked.

    Example: blade gate runs/base.jsonl runs/new.jsonl --policy gate.toml --junit gate.xml
    """
    from blade.comparison.compare import compare
    from blade.comparison.gate import GatePolicy, GateState, gate_junit, gate_text, read_policy
    from blade.comparison.gate import gate as decide
    from blade.files import json_line, replacing
    from blade.model.options import Options

    rules = read_policy(policy) if policy is not None else GatePolicy()
    options = Options(exclude=tuple(exclude or ()))
    (found,) = compare([baseline, candidate], options, rules.margin)
    decided = decide(found, rules)
    if junit is not None:
        with replacing(junit) as file:
            file.write(gate_junit(decided).encode())
    if as_json:
        print(json_line(decided).decode(), end="")
    else:
        show(gate_text(decided))
    sys.stdout.flush()
    raise typer.Exit({GateState.PASS: 0, GateState.FAIL: 1, GateState.INCONCLUSIVE: 3}[decided.state])
