"""`blade package make-shallow`: the negative control of a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def make_shallow(
    source: Annotated[Path, typer.Option("--input", metavar="FILE", help="The golden report.")],
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where the shallow report goes.")],
) -> None:
    """Strip a report of diagnosis, examples, places, quotations and advice; headings and aggregate numbers stay.

    Example: blade package make-shallow --input golden_reports/a_golden_report.md --output golden_reports/a_shallow.md
    """
    from blade.files import replacing
    from blade.package.documents import read_report
    from blade.package.shallow import shallow

    made = shallow(read_report(source, "report"))
    with replacing(output) as file:
        file.write(made.encode("utf-8", errors="replace"))
    lines = made.count("\n")
    print(f"{lines} lines in {output}")
