"""Files of a run folder, read safely: no link is followed out of the folder, nothing but regular files is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from blade.ingest.decode import Unusable, decode_any, decode_whole
from blade.ingest.jsonl import BOM, NOT_REGULAR, open_regular
from blade.ingest.yaml_text import read_yaml
from blade.model.limits import read_limits, too_large

LONGEST_TEXT = 1 << 20
"""Bytes of a log that are kept: the first and the last half. Verdicts and errors stand at its ends."""
YAML_ENDINGS = (".yaml", ".yml")
OUTSIDE = "it is a link to a place outside the folder"
TO_NOTHING = "it is a link to nothing"
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
    files: list[str] = []
    folders: list[str] = []
    problems: dict[str, str] = {}
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError as error:
        return FolderListing(path=path, files=(), folders=(), problems={".": error.strerror or str(error)})
    for entry in entries:
        if entry.name.startswith("."):
            continue
        kind, why = _kind(entry, home)
        if why:
            problems[entry.name] = why
        else:
            (folders if kind == "folder" else files).append(entry.name)
    return FolderListing(path=path, files=tuple(files), folders=tuple(folders), problems=problems)


def _kind(entry: os.DirEntry[str], home: Path) -> tuple[str, str]:
    """Whether an entry is a folder or a file, or why it is not used."""
    try:
        if entry.is_symlink():
            if not is_inside(Path(entry.path), home):
                return "", OUTSIDE
            if not Path(entry.path).exists():
                return "", TO_NOTHING
        if entry.is_dir():
            return "folder", ""
        return "file", "" if entry.is_file() else NOT_REGULAR
    except OSError as error:
        return "", error.strerror or str(error)


def is_inside(path: Path, home: Path) -> bool:
    """Whether what a path leads to, by whatever links, stands in a folder, which is resolved; a circle of links does not."""
    try:
        return path.resolve().is_relative_to(home)
    except (OSError, RuntimeError):
        return False


def read_text(path: Path, root: Path | None, most: int = LONGEST_TEXT) -> Piece:
    """The text of a file; of a longer one than `most` bytes the first and the last half.

    A link is followed where it stays below `root`; None for a file that the user named.
    """
    try:
        if root is not None and not is_inside(path, root.resolve()):
            return Piece(reason=OUTSIDE)
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            # Room is made for all that is asked for, so no more is asked for than there is.
            data = file.read(size if size <= most else most // 2)
            if size > most:
                file.seek(-(most // 2), os.SEEK_END)
                left_out = size - 2 * (most // 2)
                data += f"\n[{left_out:,} bytes left out]\n".encode() + file.read()
    except FileNotFoundError:
        return Piece(reason=TO_NOTHING) if path.is_symlink() else Piece()
    except OSError as error:
        return Piece(reason=error.strerror or str(error))
    if len(data) <= _LONGEST_POINTER and data.startswith(_POINTER):
        return Piece(reason="it is a Git LFS pointer, and its content is not here")
    return Piece(text=data.removeprefix(BOM).decode("utf-8", "replace"))


def read_json(path: Path, root: Path | None) -> tuple[Any, str]:
    """The value of a JSON or YAML document, and why there is none; both are empty for a file that does not exist."""
    most = read_limits().document
    piece = read_text(path, root, most) if _size(path) <= most else Piece(reason=too_large("the file"))
    if piece.text is None:
        return None, piece.reason
    if path.name.endswith(YAML_ENDINGS):
        try:
            return read_yaml(piece.text), ""
        except ValueError as why:
            return None, str(why)
    try:
        # One value in an object, so that lists and mended values are read the same way.
        row, _ = decode_whole(b'{"value":%b}' % piece.text.encode("utf-8", "replace"))
    except Unusable as why:
        return None, str(why) if piece.text.strip() else "it is empty"
    return decode_any(row["value"]), ""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


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
