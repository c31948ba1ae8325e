"""`blade try`: any rule as a one-off detector."""

from __future__ import annotations

from typing import Annotated

import typer

from blade.cli.progress import bar


def try_rule(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Rollouts file, folder, glob, or an earlier analysis.")],
    rule: Annotated[
        str, typer.Argument(metavar="RULE", help="A rule over fields and steps; docs/packages.md shows the language.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Processes that read (default: the cores, for large files).")
    ] = None,
) -> None:
    """Test a hunch: where a rule holds, how that goes with failing, in which slices, and five places to read.

    Example: blade try results/rollouts.jsonl 'call cancel_order[not earlier call get_order]'
    """
    from blade.custom_rules import parse
    from blade.findings.rule_trial import try_rule as try_on_runs
    from blade.model.options import Options
    from blade.report.as_json import trials_json
    from blade.report.plain_text import trial_text

    parse(rule)
    with bar("reading") as advance:
        trials = try_on_runs([run], rule, Options(workers=workers, progress=advance))
    print(trials_json(trials) if as_json else "\n".join(trial_text(trials)))
