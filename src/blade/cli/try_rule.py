"""`blade try`: any rule as a one-off detector."""

from __future__ import annotations

from typing import Annotated

import typer

from blade.cli.console import show
from blade.cli.options import AsJson, RunPath, Workers
from blade.cli.progress import bar


def try_rule(
    run: RunPath,
    rule: Annotated[
        str, typer.Argument(metavar="RULE", help="A rule over fields and steps; docs/packages.md shows the language.")
    ],
    as_json: AsJson = False,
    workers: Workers = None,
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
    if as_json:
        print(trials_json(trials))
    else:
        show(trial_text(trials))
