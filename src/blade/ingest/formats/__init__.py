"""One file a harness: how its files are recognized, cut into rows, and read.

Formats are found by walking this package and asked in the order of their `order`; the first that recognizes a file takes it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from blade.ingest.decode import Row
from blade.ingest.jsonl import Record, neighbors
from blade.model.errors import RequestError
from blade.model.run import PublishedNumber

if TYPE_CHECKING:
    from blade.ingest.folder_files import FolderListing


class FileHead(Struct, frozen=True, kw_only=True):
    """The beginning of a file: enough to tell what it is."""

    path: Path
    start: bytes
    rows: tuple[Row, ...]
    """Rows that could be read among the first lines, when the file is made of lines."""
    broken: str = ""
    """Why nothing of it can be read."""


class RunFacts(Struct, frozen=True, kw_only=True):
    """What a file says about its run as a whole."""

    benchmark: str | None = None
    model: str | None = None
    agent: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, int] | None = None
    """Task ids and how many repeats each should have."""
    absent: Mapping[str, int] = field(default_factory=dict)
    """Tasks of parts of the run that are not here, and their repeats: due, whatever the inputs that are here say."""
    source: str = ""
    """What says so: manifest, config, inspect."""
    recorded: Mapping[str, float] = field(default_factory=dict)
    recorded_for: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Mean rewards that a summary states of one agent's rows, by where it says so; "" for rows without an agent."""
    reported: tuple[PublishedNumber, ...] = ()
    note: str = ""


class Format(Struct, frozen=True, kw_only=True):
    """A harness's file format."""

    name: str
    order: int
    recognizes: Callable[[FileHead], bool]
    records: Callable[[Path, int, int | None], Iterator[Sequence[Record]]] = neighbors
    """The records of a byte range, or of all of a file that cannot be split, in order: some neighbors at a time."""
    as_row: Callable[[Row], Row] | None = None
    """A record under the names that rows have; None when it has them already."""
    fetch: Callable[[Path, Sequence[str]], Iterator[bytes]] | None = None
    """The bytes of some members, in their order; None when rows are byte ranges."""
    facts: Callable[[Path], RunFacts] = lambda path: RunFacts()
    splittable: bool = False
    """Whether a byte range can be read alone."""
    refusal: Callable[[Path], str] = lambda path: ""
    """Why a file that looks like this format holds no rollouts; empty where it does."""
    summary: Callable[[FileHead], str | None] = lambda head: None
    """Whether a file is the summary of a run: empty where the run's rollouts stand beside it, else what is missing; None
    for every other file."""
    owns: Callable[[FolderListing], bool] | None = None
    """Whether a folder as a whole is a run of this format; None where runs are files."""
    yields: bool = False
    """Whether what a folder holds of this format is a run only where nothing else in that folder is one."""
    members: Callable[[Path], Sequence[str]] | None = None
    """Names of the rows of an artifact that is made of members, in order; some of them can be read alone."""
    member_records: Callable[[Path, Sequence[str]], Iterator[Record]] | None = None


@cache
def formats() -> tuple[Format, ...]:
    """Every format, in the order in which they are asked."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = [importlib.import_module(f"{__name__}.{name}").FORMAT for name in names]
    return tuple(sorted(found, key=lambda f: (f.order, f.name)))


def format_named(name: str) -> Format:
    """The format of that name; a clear error when there is none."""
    for candidate in formats():
        if candidate.name == name:
            return candidate
    raise RequestError(f"no format is called {name!r}", hint="known: " + ", ".join(f.name for f in formats()))
