"""`blade package`, also `blade_toolkit.py`: make, check, score and share the package of a benchmark; a file a command."""

from __future__ import annotations

import typer

from blade.cli.package.calibrate import calibrate
from blade.cli.package.extract_anchor_facts import extract_anchor_facts
from blade.cli.package.make_shallow import make_shallow
from blade.cli.package.score import score

app = typer.Typer(
    name="package",
    help="The BLADE-ready package of a benchmark: skill, rollouts, golden reports.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def common() -> None:
    """The BLADE-ready package of a benchmark: skill, rollouts, golden reports."""


app.command("extract-anchor-facts")(extract_anchor_facts)
app.command("make-shallow")(make_shallow)
app.command()(score)
app.command()(calibrate)
