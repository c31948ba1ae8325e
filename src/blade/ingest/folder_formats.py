"""What formats share whose runs are folders: a trial is a member of the folder, and its row is put together from its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field

from blade.ingest.decode import Unusable, decode_any, decode_whole, encode
from blade.ingest.folder_files import LONGEST_TEXT, FolderListing, listing, read_json, read_text
from blade.ingest.formats import FileHead, Format, RunFacts
from blade.ingest.jsonl import Record, held_records

FIRST_CHILDREN = 50
"""Folders that are looked into to tell what a folder is: a run of thousands of trials shows it in the first."""


class TrialRow(Struct, kw_only=True):
    """The row of a trial under the names that rows have, and what of its files could not be used."""

    root: Path
    """The folder that no link may lead out of."""
    values: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def text(self, path: Path, most: int = LONGEST_TEXT) -> str:
        """The text of a file; what cannot be read is noted, and what does not exist is empty."""
        piece = read_text(path, self.root, most)
        if piece.reason:
            self.lacks(path, piece.reason)
        return piece.text or ""

    def json(self, path: Path) -> Any:
        """The value of a document; what cannot be read is noted, and what does not exist is None."""
        value, reason = read_json(path, self.root)
        if reason:
            self.lacks(path, reason)
        return value

    def lacks(self, path: Path, reason: str) -> None:
        """Note that a file's content is not there: what is absent from the row may have happened all the same."""
        self.problems.append(f"{path.name}: {reason}")
        self.values.setdefault("evidence_not_here", []).append(path.name)


class RunFolder(Protocol):
    """A run whose trials are folders or files of one folder; made once for the trials that are read together.

    One that takes them out of a single file may have `broken`: the parts of the file that could not be read, and why.
    """

    def __init__(self, path: Path) -> None: ...

    def members(self) -> Sequence[str]:
        """Names of the trials, in order."""

    def row(self, member: str) -> TrialRow:
        """The row of one of them."""


def records_of(run_folder: Callable[[Path], RunFolder]) -> Callable[[Path, Sequence[str]], Iterator[Record]]:
    """How the rows of some trials of a folder are made."""

    def records(path: Path, members: Sequence[str]) -> Iterator[Record]:
        run = run_folder(path)
        broken = _broken(run)
        return (
            Record(b"", None, None, member, broken[member]) if member in broken else _record(run.row(member), member)
            for member in members
        )

    return records


def _broken(run: RunFolder) -> Mapping[str, str]:
    found: Mapping[str, str] = getattr(run, "broken", {})
    return found


def read_events(path: Path, broken: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The objects of a file of lines; those that cannot be read go to `broken`, by their line."""
    for record in held_records(path):
        try:
            row, _ = decode_whole(record.data)
        except Unusable as unusable:
            broken |= {f"line {record.line}": record.broken or str(unusable)} if record.data or record.broken else {}
            continue
        yield {name: decode_any(raw) for name, raw in row.items()}


def _record(row: TrialRow, member: str) -> Record:
    if not row.values:
        return Record(b"", None, None, member, "; ".join(row.problems) or "nothing of it can be read")
    values = {name: value for name, value in row.values.items() if value is not None or name == "reward"}
    return Record(encode(values), None, None, member, problems=tuple(row.problems))


def children(here: FolderListing, most: int | None = None) -> Iterator[FolderListing]:
    """What stands in the folders of a folder."""
    for name in here.folders[:most]:
        yield listing(here.path / name, here.path)


def folder_format(
    *,
    name: str,
    order: int,
    run_folder: Callable[[Path], RunFolder],
    facts: Callable[[Path], RunFacts],
    owns: Callable[[FolderListing], bool] | None = None,
    recognizes: Callable[[FileHead], bool] = lambda head: False,
) -> Format:
    """A format whose rows are put together from the files of a folder, or from the parts of a document."""
    member_records = records_of(run_folder)

    def members(path: Path) -> Sequence[str]:
        run = run_folder(path)
        return [*run.members(), *_broken(run)]

    def records(path: Path, start: int, end: int | None) -> Iterator[Sequence[Record]]:
        return ((record,) for record in member_records(path, members(path)))

    return Format(
        name=name,
        order=order,
        recognizes=recognizes,
        owns=owns,
        members=members,
        member_records=member_records,
        records=records,
        facts=facts,
    )
