"""`blade package`, also `blade_toolkit.py`: make, check, score and share the package of a benchmark; a file a command."""

from __future__ import annotations

from blade.cli import help  # noqa: A004 - the module is about --help
from blade.cli.package.calibrate import calibrate
from blade.cli.package.extract_anchor_facts import extract_anchor_facts
from blade.cli.package.init import init
from blade.cli.package.make_shallow import make_shallow
from blade.cli.package.sanitize import sanitize
from blade.cli.package.score import score
from blade.cli.package.status import status
from blade.cli.package.validate import validate

app = help.app("package", "The BLADE-ready package of a benchmark: skill, rollouts, golden reports.")


@app.callback()
def common() -> None:
    """The BLADE-ready package of a benchmark: skill, rollouts, golden reports."""


for command, name in (
    (init, "init"),
    (status, "status"),
    (validate, "validate"),
    (extract_anchor_facts, "extract-anchor-facts"),
    (make_shallow, "make-shallow"),
    (score, "score"),
    (calibrate, "calibrate"),
    (sanitize, "sanitize"),
):
    app.command(name, cls=help.PlainCommand)(command)
