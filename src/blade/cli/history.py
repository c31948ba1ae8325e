"""`blade history`: analyses of one benchmark over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def history(
    analyses: Annotated[list[str], typer.Argument(metavar="OUT...", help="Analyses, or runs, oldest first.")],
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", metavar="DIR", help="Write history.md, history.html and history.json there."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    margin: Annotated[float, typer.Option(metavar="POINTS", min=0, help="Differences below this count as none.")] = 2.0,
) -> None:
    """Scores with intervals, real changes, and modes that came and went, in the order given.

    Example: blade history out/monday out/tuesday out/wednesday
    """
    from blade.comparison.history import history as history_of
    from blade.comparison.history import history_report
    from blade.files import json_line, json_text
    from blade.report.terminal import plain_table

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
        print("\n".join(plain_table(history_report(entries))))
        print(f"written: {Path(out) / 'history.html'}" if out else "nothing was written; -o DIR writes the history")
