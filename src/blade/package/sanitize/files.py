"""The files of a folder in the order of their names, and what each can be read as."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from blade.ingest.jsonl import Torn, first_bytes

_JSON = (".jsonl", ".json", ".ndjson", ".ipynb")
_PROSE = (".md", ".txt", ".rst", ".log", ".csv", ".tsv", ".yaml", ".yml", ".toml")
_YAML = (".yaml", ".yml")
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp")
_LEFT = frozenset(
    {".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
_START = 8192


class Kind(StrEnum):
    """How a file is read."""

    JSON = "json"
    PROSE = "prose"
    CODE = "code"
    IMAGE = "image"
    OPAQUE = "opaque"
    SKIPPED = "skipped"
    """A folder of caches or of history."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """A file to look at."""

    path: Path
    name: str
    """Its path inside the folder, with `/`."""
    kind: Kind

    @property
    def raw_name(self) -> bytes:
        """The name as rules look at it."""
        return self.name.encode("utf-8", "surrogateescape")

    @property
    def regular(self) -> bool:
        """A file itself: neither a link nor a device."""
        return self.path.is_file() and not self.path.is_symlink()

    @property
    def is_yaml(self) -> bool:
        """A marker in it may need quotation marks."""
        return _plain(self.name).endswith(_YAML)


def items(path: Path) -> Iterator[Item]:
    """The file itself, or all files of a folder; links are not followed.

    Folders that are skipped, or that cannot be read, stand for what is in them.
    """
    if path.is_file():
        yield _item(path, path.name)
        return
    closed: list[str] = []
    for folder, folders, names in os.walk(path, onerror=lambda error: closed.append(str(error.filename))):
        for name in sorted(set(folders) & _LEFT):
            one = Path(folder) / name
            yield Item(path=one, name=one.relative_to(path).as_posix(), kind=Kind.SKIPPED)
        folders[:] = sorted(set(folders) - _LEFT)
        linked = [name for name in folders if (Path(folder) / name).is_symlink()]
        for name in sorted([*names, *linked]):
            one = Path(folder) / name
            yield _item(one, one.relative_to(path).as_posix())
    for name in sorted(closed):
        yield Item(path=Path(name), name=Path(name).relative_to(path).as_posix(), kind=Kind.OPAQUE)


def _item(path: Path, name: str) -> Item:
    return Item(path=path, name=name, kind=_kind(path, _plain(name)))


def _plain(name: str) -> str:
    return name.lower().removesuffix(".gz").removesuffix(".zst")


def _kind(path: Path, name: str) -> Kind:
    if path.is_symlink() or not path.is_file():
        return Kind.OPAQUE
    if name.endswith(_IMAGES):
        return Kind.IMAGE
    try:
        start = first_bytes(path, _START)
    except (Torn, OSError, zlib.error):
        return Kind.OPAQUE
    if b"\0" in start:
        return Kind.OPAQUE
    if name.endswith(_JSON):
        return Kind.JSON
    return Kind.PROSE if name.endswith(_PROSE) else Kind.CODE
