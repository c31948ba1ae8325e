"""`blade package status`: one screen on where a package stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.console import show
from blade.cli.options import BenchmarkDir, PackageFolder, given_folder

if TYPE_CHECKING:
    from blade.package.status import PackageStatus, StatusLine

WIDEST = 70
MOST_OPEN = 12


def status(
    folder: PackageFolder = None,
    benchmark_dir: BenchmarkDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON, with every open point.")] = False,
) -> None:
    """List what a package has, what is open in it, and the command to run next; nothing is analyzed.

    Example: blade package status benchmarks/evalplus
    """
    from blade.files import json_line
    from blade.package.layout import find_package
    from blade.package.status import status as detect

    found = detect(find_package(given_folder(folder, benchmark_dir)))
    if as_json:
        print(json_line(found).decode(), end="")
    else:
        show(_lines(found))


def _lines(found: PackageStatus) -> list[str]:
    lines, part = [f"package {found.benchmark}"], ""
    for line in found.lines:
        lines.append(_line(line, line.part if line.part != part else ""))
        part = line.part
    lines.append(f"open      {len(found.open)} points" + (":" if found.open else ""))
    lines += [f"          {point}" for point in found.open[:MOST_OPEN]]
    lines += [f"          and {len(found.open) - MOST_OPEN} more (--json)"] if len(found.open) > MOST_OPEN else []
    return [*lines, f"next      {found.next}", f"          ({found.why})"]


def _line(line: StatusLine, part: str) -> str:
    files = ", ".join(line.files)
    files = files if len(files) <= WIDEST else f"{line.files[0]} and {len(line.files) - 1} more"
    said = (files if line.there else "not there") + (f" ({line.note})" if line.note else "")
    return f"{part:<8}  [{'x' if line.there else ' '}] {line.what}: {said}"
