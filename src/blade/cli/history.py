"""`blade history`: analyses of one benchmark over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blade.cli.console import show, terminal_width
from blade.cli.options import AsJson, Margin, Out


def history(
    analyses: Annotated[list[str], typer.Argument(metavar="OUT...", help="Analyses, or runs, oldest first.")],
    out: Out = None,
    as_json: AsJson = False,
    margin: Margin = 2.0,
) -> None:
    """Scores with intervals, real changes, and modes that came and went, in the order given.

    Example: blade history out/monday out/tuesday out/wednesday
    """
    from blade.comparison.history import history as history_of
    from blade.comparison.history import history_report
    from blade.files import json_line, json_text
    from blade.report.terminal import columns, plain_table

    entries = history_of(analyses, margin / 100)
    if out:
        from blade.report.html import render
        from blade.write import write_texts

        report = history_report(entries)
        texts = {
            "history.md": report,
            "history.html": render(report, "History"),
            "history.json": json_text(entries).decode(),
        }
        write_texts(Path(out), texts)
    if as_json:
        print(json_line(entries).decode(), end="")
    else:
        columns.set(terminal_width())
        show(plain_table(history_report(entries)))
        show(f"written: {Path(out) / 'history.html'}" if out else "nothing was written; -o DIR writes the history")
