"""Files of a run folder, read safely: no link is followed out of the folder, nothing but regular files is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from blade.ingest.decode import Unusable, decode_any, decode_whole
from blade.ingest.jsonl import BOM

LONGEST_TEXT = 1 << 20
"""Bytes of a log that are kept: the first and the last half. Verdicts and errors stand at its ends."""
LARGEST_DOCUMENT = 256 << 20
"""Bytes of a JSON document that is read: a trajectory with pictures in it may have tens of megabytes."""
_POINTER = b"version https://git-lfs.github.com/spec/"
_LONGEST_POINTER = 1024


class Piece(Struct, frozen=True, kw_only=True):
    """What a file holds, or why it cannot be had; a file that does not exist has neither."""

    text: str | None = None
    reason: str = ""


class FolderListing(Struct, frozen=True, kw_only=True):
    """The names in a folder, in order; hidden ones are left out."""

    path: Path
    files: tuple[str, ...]
    folders: tuple[str, ...]
    problems: Mapping[str, str]
    """Entries that are not used, and why."""

    def has(self, *names: str) -> bool:
        return all(name in self.files or name in self.folders for name in names)


def listing(path: Path, root: Path | None = None) -> FolderListing:
    """What stands in a folder; a link is taken where it stays below `root`, by default the folder itself."""
    home = (root or path).resolve()
    files, folders, problems = [], [], {}
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError as error:
        return FolderListing(path=path, files=(), folders=(), problems={".": error.strerror or str(error)})
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(home):
            problems[entry.name] = "it is a link to a place outside the folder"
        elif entry.is_dir():
            folders.append(entry.name)
        elif entry.is_file():
            files.append(entry.name)
        else:
            problems[entry.name] = "it is no regular file"
    return FolderListing(path=path, files=tuple(files), folders=tuple(folders), problems=problems)


def read_text(path: Path, root: Path | None, most: int = LONGEST_TEXT) -> Piece:
    """The text of a file; of a longer one than `most` bytes the first and the last half.

    A link is followed where it stays below `root`; None for a file that the user named.
    """
    try:
        if root is not None and not path.resolve().is_relative_to(root.resolve()):
            return Piece(reason="it is a link to a place outside the folder")
        if not stat.S_ISREG(path.stat().st_mode):
            return Piece(reason="it is no regular file")
        size = path.stat().st_size
        with path.open("rb") as file:
            data = file.read(most if size <= most else most // 2)
            if size > most:
                file.seek(-(most // 2), os.SEEK_END)
                left_out = size - 2 * (most // 2)
                data += f"\n[{left_out:,} bytes left out]\n".encode() + file.read()
    except FileNotFoundError:
        return Piece()
    except OSError as error:
        return Piece(reason=error.strerror or str(error))
    if len(data) <= _LONGEST_POINTER and data.startswith(_POINTER):
        return Piece(reason="it is a Git LFS pointer, and its content is not here")
    return Piece(text=data.removeprefix(BOM).decode("utf-8", "replace"))


def read_json(path: Path, root: Path | None) -> tuple[Any, str]:
    """The value of a JSON document, and why there is none; both are empty for a file that does not exist."""
    piece = read_text(path, root, LARGEST_DOCUMENT)
    if piece.text is None:
        return None, piece.reason
    try:
        # One value in an object, so that lists and mended values are read the same way.
        row, _ = decode_whole(b'{"value":%b}' % piece.text.encode("utf-8", "replace"))
    except Unusable as why:
        return None, str(why) if piece.text.strip() else "it is empty"
    return decode_any(row["value"]), ""


def json_object(value: object) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def walk(root: Path) -> Iterator[FolderListing]:
    """Every folder from `root` down, itself first; one that is reached twice is listed once."""
    seen: set[Path] = set()
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        if folder.resolve() in seen:
            continue
        seen.add(folder.resolve())
        here = listing(folder, root)
        yield here
        waiting += [folder / name for name in reversed(here.folders)]
