"""Where the rule book of a benchmark is found, the same wherever a command runs.

A package stands in `benchmarks/NAME`. It is looked for in the folders above the run's own files, nearest first, and
then among the packages that come with BLADE. The current folder does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from blade.custom_rules.rule_book import RuleBook
from blade.model.errors import BladeError, RequestError

BOOK = Path("skill", "blade.yaml")
_SOURCE = Path(__file__).resolve().parents[2]
_SHIPPED = (_SOURCE / "blade_gym" / "assets" / "benchmarks", _SOURCE.parent / "benchmarks")
"""The packages of an installed wheel, and those of a checkout."""


def rule_book_in(package: Path) -> RuleBook:
    """The rule book of a package that the user names, or of the file itself; raises where there is none."""
    places = (package / BOOK, package / BOOK.name, package)
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise RequestError(f"{package} holds no {BOOK.as_posix()}", hint="give the folder of a package, or the file")
    return _read(path, path.as_posix() if not path.is_absolute() else None)


def rule_book_of(benchmark: str | None, files: Iterable[Path]) -> RuleBook | None:
    """The rule book of the package that is named like the benchmark; None where there is none."""
    if benchmark is None or not benchmark.replace("-", "").replace("_", "").isalnum():
        return None
    name = Path(benchmark) / BOOK
    path = next((home / name for home in _homes(files) if (home / name).is_file()), None)
    return _read(path, f"benchmarks/{name.as_posix()}") if path is not None else None


def rule_book_above(files: Iterable[Path]) -> RuleBook | None:
    """The rule book of the package in whose folder the first of the files lies; None where it lies in none."""
    above = [folder for file in files for folder in (file.resolve(), *file.resolve().parents)]
    package = next((folder for folder in above if (folder / BOOK).is_file()), None)
    return _read(package / BOOK, f"benchmarks/{(package.name / BOOK).as_posix()}") if package is not None else None


def rule_book_named(name: str | None, files: Iterable[Path] = ()) -> RuleBook | None:
    """The rule book that a report or an earlier analysis names, where it is still at hand and the same."""
    shown = Path((name or "").rpartition(" (")[0])
    inside = Path(*shown.parts[1:]) if shown.parts[:1] == ("benchmarks",) else None
    homes = [home / inside for home in _homes(files)] if inside is not None else []
    for path in (path for path in (shown, *homes) if path.is_file()):
        try:
            book = _read(path, shown.as_posix() if not shown.is_absolute() else None)
        except BladeError:
            continue
        if book.named == name:
            return book
    return None


def _homes(files: Iterable[Path]) -> Iterator[Path]:
    """Folders that may hold packages, nearest to the files first."""
    above = (folder / "benchmarks" for file in files for folder in file.resolve().parents)
    yield from dict.fromkeys((*above, *_SHIPPED))


def _read(path: Path, shown: str | None) -> RuleBook:
    # A reader of YAML takes a while to load, and most benchmarks have no rule book.
    from blade.custom_rules.read_rule_book import rule_book_at

    return rule_book_at(path, shown)
