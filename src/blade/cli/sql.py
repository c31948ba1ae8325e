"""`blade sql`: ask the run tables anything."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.console import show, terminal_width
from blade.model.errors import RequestError

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 200


def sql(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar='RUN... "SELECT ..."', help="Runs, then the query over rollouts, tasks, checks and attributions."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Rows as JSON lines, all of them.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Rows as CSV, all of them.")] = False,
) -> None:
    """Ask the run tables anything; the columns are listed in docs/reference/fields.md.

    Example: blade sql results/ "SELECT outcome, count(*) AS n FROM rollouts GROUP BY outcome"
    """
    from blade import analysis as pipeline
    from blade.model.options import Options

    *inputs, query = words
    if not inputs:
        raise RequestError("a run and a query are needed", hint='blade sql results/ "SELECT count(*) FROM rollouts"')
    from blade.ingest.tables import ask

    runs = pipeline.load(inputs, Options())
    more = {}
    if "attributions" in query:
        more["attributions"] = pipeline.analyze(runs, Options()).attributions
    found = ask(runs, query, more)
    if as_json:
        sys.stdout.write(found.write_ndjson())
    elif as_csv:
        sys.stdout.write(_flat(found).write_csv())
    else:
        show(_table(_flat(found)))


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists as text, for tables that have none."""
    import polars as pl

    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return frame.with_columns(
        pl.Series(
            name,
            [None if v is None else str(v.to_list() if hasattr(v, "to_list") else v) for v in frame[name]],
            pl.String,
        )
        for name in nested
    )


def _table(frame: pl.DataFrame) -> list[str]:
    """Columns side by side; where the terminal is too narrow for them, one below the other."""
    rows = [[_cell(value) for value in row] for row in frame.head(MOST_ROWS).iter_rows()]
    names = frame.columns
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    more = frame.height - len(rows)
    total = f"({frame.height:,} rows{f', {more:,} not shown; --json or --csv prints all' if more else ''})"
    if sum(widths) + 2 * len(widths) > (terminal_width() or sys.maxsize):
        longest = max(map(len, names))
        records = ([f"{name:<{longest}}  {cell}" for name, cell in zip(names, row, strict=True)] for row in rows)
        return [*(line for record in records for line in (*record, "")), total]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in (names, *rows)]
    return [*lines, total]


def _cell(value: object) -> str:
    if value is None:
        return "-"
    text = f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
