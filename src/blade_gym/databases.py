"""SQLite files of a data set: taken out of an archive, kept beside the rows, and told by their tables."""

from __future__ import annotations

import io
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from blade.model.errors import RequestError
from blade_gym import hub

_SKIPPED = ("__MACOSX", ".DS_Store")


def files_of(url: str, endings: tuple[str, ...], *, source: str | None = None) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of the files with some endings in a published ZIP archive; or in a local copy or folder of it.

    Archives inside are looked into where `.zip` is among the endings.
    """
    if source is not None and Path(source).expanduser().is_dir():
        folder = Path(source).expanduser()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = path.relative_to(folder).as_posix()
            if _wanted(name, endings):
                yield from _inside(name, path.read_bytes(), endings)
        return
    yield from _inside("archive.zip", hub.file(url, source=source), endings)


def _wanted(name: str, endings: tuple[str, ...]) -> bool:
    return name.endswith(endings) and not any(part in name for part in _SKIPPED)


def _inside(name: str, data: bytes, endings: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    if not name.endswith(".zip"):
        yield name, data
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for inner in sorted(one for one in archive.namelist() if _wanted(one, endings)):
                yield from _inside(inner, archive.read(inner), endings)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise RequestError(f"{name} is not a ZIP archive: {error}", hint="was it downloaded whole?") from None


def keep(data: bytes, path: Path) -> Path:
    """Write a database, whole or not at all; raises where it is none."""
    if not data.startswith(b"SQLite format 3\x00"):
        raise RequestError(f"{path.name} is not an SQLite database", hint="was it downloaded whole?")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".blade-", dir=path.parent) as staging:
        new = Path(staging) / path.name
        new.write_bytes(data)
        new.replace(path)
    return path


def schema(path: Path) -> str:
    """The statements that make the tables of a database, in its order."""
    asked = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql IS NOT NULL"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            return "\n".join(f"{text.strip()};" for (text,) in database.execute(f"{asked} ORDER BY rowid"))
    except sqlite3.Error as error:
        raise RequestError(f"{path.name} cannot be read: {error}", hint="was it downloaded whole?") from None
