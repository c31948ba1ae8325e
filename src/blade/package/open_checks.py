"""Is everything of a deliverable written?"""

from __future__ import annotations

from blade.model.check import Check
from blade.package.layout import Package
from blade.package.open_points import files_of, open_points

MOST_LISTED = 5


def open_check(package: Package, part: str, code: str) -> Check:
    """The open points of a deliverable, with file and line."""
    files = files_of(package, part)
    found = [point for path in files for point in open_points(path, package.folder)]
    listed = "; ".join(map(str, found[:MOST_LISTED]))
    more = f"; and {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
    return Check(
        code=code,
        passed=not found,
        message=f"{code.split('.', maxsplit=1)[0]} no open points",
        found=f"{len(found)} open: {listed}{more}" if found else f"none in {len(files)} files",
        fix="write what each line asks for and take the mark away; `blade package status DIR` lists them all",
    )
