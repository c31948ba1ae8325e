"""Where the package of a benchmark is found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from blade.core.errors import RequestError
from blade.core.run import Run
from blade.teach import Book, book_named, read_book

HOME = Path("benchmarks")
"""Where packages stand, seen from where the command runs."""
BOOK = Path("skill", "blade.yaml")


def given_book(package: Path | None) -> Book | None:
    """What the package that the user names teaches; raises when it holds no blade.yaml."""
    if package is None:
        return None
    places = (package / BOOK, package / BOOK.name, package)
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise RequestError(f"{package} holds no {BOOK.as_posix()}", hint="give the folder of a package, or the file")
    return read_book(found, found.as_posix() if not found.is_absolute() else None)


def book_of(runs: Sequence[Run]) -> Book | None:
    """What the package teaches whose name is the benchmark of all the runs; None when there is none.

    Runs of an earlier analysis have the package that they were read with, while it is the same.
    """
    taught = {run.taught_by for run in runs}
    if len(taught) == 1 and None not in taught:
        return book_named(taught.pop())
    names = {run.benchmark for run in runs if run.taught_by is None}
    name = names.pop() if len(names) == 1 else None
    if name is None or not name.replace("-", "").replace("_", "").isalnum():
        return None
    place = HOME / name / BOOK
    return read_book(place, place.as_posix()) if place.is_file() else None
