"""Where the package of a benchmark is found."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from blade.analysis import Options, load
from blade.ingest.artifacts import find
from blade.ingest.first_row import first_benchmark
from blade.model.errors import BladeError, RequestError
from blade.model.run import Run

if TYPE_CHECKING:
    from blade.custom_rules import Book

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
    return _read(found)


def _read(path: Path) -> Book:
    # A reader of YAML takes a while to load, and most runs have no package.
    from blade.custom_rules.read_rule_book import read_book

    return read_book(path, path.as_posix() if not path.is_absolute() else None)


def book_of(runs: Sequence[Run]) -> Book | None:
    """What the package teaches whose name is the benchmark of all the runs; None when there is none.

    Runs of an earlier analysis have the package that they were read with, while it is the same.
    """
    taught = {run.taught_by for run in runs}
    if len(taught) == 1 and None not in taught:
        from blade.custom_rules.read_rule_book import book_named

        return book_named(taught.pop())
    return _book_for({run.benchmark for run in runs if run.taught_by is None})


def read_with_book(inputs: Sequence[str], options: Options) -> tuple[tuple[Run, ...], Options]:
    """The runs, read as the package of their benchmark teaches where it stands in its place; and the options with it.

    The first row tells the package in most cases. Where it tells none, or the whole tells another, all is read again.
    """
    likely = _likely_book(inputs, options) if options.book is None and HOME.is_dir() else None
    if likely is not None:
        with suppress(BladeError):
            taught = replace(options, book=likely)
            runs = load(inputs, taught)
            if _book_for({run.benchmark for run in runs}) == likely:
                return runs, taught
        options = replace(options, pool=None)
    runs = load(inputs, options)
    if options.book is None and (found := book_of(runs)) is not None:
        options = replace(options, book=found, pool=None)
        runs = load(inputs, options)
    return runs, options


def _likely_book(inputs: Sequence[str], options: Options) -> Book | None:
    with suppress(BladeError):
        found = find(inputs, options.format)
        return _book_for({first_benchmark(found)}) if not found.analyses else None
    return None


def _book_for(benchmarks: set[str | None]) -> Book | None:
    """What the package of the one benchmark teaches; None where there are several, or it has none."""
    name = next(iter(benchmarks)) if len(benchmarks) == 1 else None
    if name is None or not name.replace("-", "").replace("_", "").isalnum():
        return None
    place = HOME / name / BOOK
    return _read(place) if place.is_file() else None
