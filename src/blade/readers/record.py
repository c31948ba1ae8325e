"""Keeping what a reader says: each entry is checked against its rollout, those that hold are stored, the others refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from blade.files import ATTRIBUTIONS_FILE
from blade.model.errors import BladeError, RequestError
from blade.model.run import Run
from blade.readers.check import KeptEntries, checked, kept_in, outcome_of
from blade.readers.entries import TO_FILL_IN, ReaderEntry, decoded, definition_row, entry_of, row_of_reading
from blade.readers.store import append, home_of, lines_of


class Recorded(Struct, frozen=True, kw_only=True):
    """What became of some entries."""

    stored: int = 0
    removed: int = 0
    defined: int = 0
    empty: int = 0
    """Rows of a sample in which no mode was filled in."""
    kept: int = 0
    """Attributions that count in the file afterwards."""
    refused: tuple[tuple[str, BladeError], ...] = ()
    """Which were not stored, by file and line, and why."""


def attribution_file(run: str, out: Path | None) -> Path:
    """Where attributions of a run are kept: the file or folder that was asked for, else beside the run."""
    if out is None:
        return home_of(run)
    return out / ATTRIBUTIONS_FILE if out.is_dir() or out.suffix != ".jsonl" else out


def rows_in(path: Path) -> list[tuple[str, Mapping[str, Any] | RequestError]]:
    """The rows of a file with `file:line`; a line that is no object is the refusal that it gets."""
    found: list[tuple[str, Mapping[str, Any] | RequestError]] = []
    for where, line in lines_of(path):
        try:
            found.append((where, decoded(line)))
        except RequestError as refusal:
            found.append((where, refusal))
    return found


def record(
    run: Run,
    rows: Sequence[tuple[str, Mapping[str, Any] | RequestError]],
    path: Path,
    by: str | None = None,
    others: Collection[str] = (),
) -> Recorded:
    """Check rows about rollouts of a run and add those that hold to a file; all of them at once, at its end.

    `others` are runs beside it: rows that name one of them are refused.
    """
    earlier = kept_in([path] if path.exists() else [])
    entries, refused, empty = _entries(rows, by, earlier, others)
    found = list(checked([(where, one) for where, one in entries if one.task_id and not one.remove], run, earlier.own))
    refused |= {one.where: one.refusal for one in found if one.refusal is not None}
    removed = _removals(run, entries, earlier, refused)
    own = [one for where, one in entries if one.define and where not in refused]
    defined = [definition_row(one.define, one.definition, str(one.party), one.by) for one in own]
    stored = [row_of_reading(one.reading) for one in found if one.reading is not None]
    append(path, [*defined, *removed, *stored])
    return Recorded(
        stored=len(stored),
        removed=len(removed),
        defined=len(defined),
        empty=empty,
        kept=len(kept_in([path]).entries) if path.exists() else 0,
        refused=tuple((where, refused[where]) for where, _ in rows if where in refused),
    )


def _removals(
    run: Run, entries: Sequence[tuple[str, ReaderEntry]], earlier: KeptEntries, refused: dict[str, BladeError]
) -> list[dict[str, object]]:
    """The rows that take entries back; those of which nothing can be taken back are put among the `refused`."""
    found = []
    for where, one in entries:
        if one.task_id and one.remove:
            try:
                found.append(_removal(run, one, earlier))
            except RequestError as refusal:
                refused[where] = refusal
    return found


def _entries(
    rows: Sequence[tuple[str, Mapping[str, Any] | RequestError]],
    by: str | None,
    known: KeptEntries,
    others: Collection[str],
) -> tuple[list[tuple[str, ReaderEntry]], dict[str, BladeError], int]:
    """The entries of the rows, why others are refused, and how many rows of a sample nobody filled in."""
    entries: list[tuple[str, ReaderEntry]] = []
    refused: dict[str, BladeError] = {}
    empty = 0
    for where, row in rows:
        try:
            if isinstance(row, RequestError):
                raise row
            if row.get("sample") and not any(map(row.get, TO_FILL_IN)):
                empty += 1
                continue
            entry = entry_of(row, by)
            if entry.run in others:
                raise RequestError(
                    f"{entry.location} is of the run {entry.run}", hint=f"--run {entry.run} takes its rows"
                )
            known.own.learn(entry)
        except RequestError as refusal:
            refused[where] = refusal
        else:
            entries.append((where, entry))
    return entries, refused, empty


def _removal(run: Run, entry: ReaderEntry, earlier: KeptEntries) -> dict[str, object]:
    """The row that takes back what a reader said; raises where the reader said nothing of the rollout."""
    said = [one for _, one in earlier.entries.values() if one.location == entry.location]
    mine = [one for one in said if one.by == entry.by and one.run in (None, run.name)]
    if not mine:
        outcome_of(run, entry)
        readers = ", ".join(dict.fromkeys(one.by for one in said))
        raise RequestError(
            f"{entry.by} has said nothing of {entry.location}",
            hint=f"{readers} has" if readers else "nobody has",
        )
    named = {"run": mine[-1].run} if mine[-1].run else {}
    return {**named, "task_id": entry.task_id, "repeat": entry.repeat, "by": entry.by, "remove": True}
