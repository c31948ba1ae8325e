"""`blade package sanitize`: what in a package must not be shared?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blade.cli.console import show
from blade.model.errors import RequestError


def sanitize(
    path: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="The folder of a package, or one file.", show_default=False)
    ] = None,
    benchmark_dir: Annotated[
        Path | None, typer.Option("--benchmark-dir", metavar="DIR", help="The same as DIR.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Write a redacted copy; DIR must be new or empty."),
    ] = None,
    deny: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Names that must not appear, one a line; beside sanitize.deny of the package."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every rule and file as JSON.")] = False,
) -> None:
    """Find secrets, private addresses, paths, people, private source and denied names; exit 1 if anything is found.

    Values are never printed: rules, counts, files and lines are. sanitize.allow lists what is deliberate, with a reason.

    Example: blade package sanitize benchmarks/my_benchmark --output shared/my_benchmark
    """
    import json

    from blade.package.sanitize import as_json as sanitize_json
    from blade.package.sanitize import report_lines
    from blade.package.sanitize import sanitize as detect

    given = path or benchmark_dir
    if given is None or (path and benchmark_dir):
        raise RequestError("one folder or file is needed", hint="blade package sanitize DIR")
    found = detect(given, deny=deny or (), output=output)
    if as_json:
        print(json.dumps(sanitize_json(found), ensure_ascii=False))
    else:
        show(report_lines(found))
        if output is not None:
            show(
                f"wrote a redacted copy to {output}"
                + (f", without {len(found.left_out):,} files" if found.left_out else "")
            )
    raise typer.Exit(1 if found.found else 0)
