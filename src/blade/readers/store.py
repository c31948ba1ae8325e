"""`attributions.jsonl`: where it stands, reading it, and adding to it so that nothing is lost."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.files import ATTRIBUTIONS_FILE, json_line
from blade.model.errors import ArtifactError, RequestError
from blade.model.limits import DEFAULT_LIMITS
from blade.model.run import Run


def home_of(text: str) -> Path:
    """Where the attributions of a run are kept that is given as on a command line: in the folder of the analysis or of the
    run, or beside its file.
    """
    path = _path(text)
    if path.is_dir():
        # One run of an analysis: all its runs have one file.
        folder = path.parent if (path / "rollouts.parquet").is_file() else path
        return folder / ATTRIBUTIONS_FILE
    matches = sorted(glob.glob(str(path), recursive=True))
    return Path(matches[0] if matches else path).parent / ATTRIBUTIONS_FILE


def _path(text: str) -> Path:
    name, equals, path = text.partition("=")
    named = bool(equals) and bool(name) and "/" not in name and not Path(text).exists()
    return Path(path if named else text).expanduser()


def files_for(inputs: Sequence[str], runs: Sequence[Run], also: Sequence[Path] = ()) -> list[Path]:
    """The files that there are: beside what was given, beside the runs' own files, and in folders named besides; each once."""
    places = [home_of(text) for text in inputs]
    for run in runs:
        places += [_beside(Path(root)) for _, root in sorted(run.roots.items())]
    places += [folder / ATTRIBUTIONS_FILE for folder in also]
    found: dict[Path, Path] = {}
    for path in places:
        if path.is_file():
            found.setdefault(path.resolve(), path)
    return list(found.values())


def _beside(root: Path) -> Path:
    return (root if root.is_dir() else root.parent) / ATTRIBUTIONS_FILE


def lines_of(path: Path) -> Iterator[tuple[str, bytes]]:
    """The lines of a file that are not blank, with `name:line`; raises when it cannot be read."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(DEFAULT_LIMITS.line), b""), start=1):
                if line.strip():
                    yield f"{path.name}:{number}", line
    except OSError as error:
        raise ArtifactError(
            f"cannot read attributions from {path}: {error.strerror or error}",
            hint="`blade attribute` writes such a file",
        ) from None


def append(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows to a file, all of them or none. Nothing that stands in it changes, whoever writes at the same time.

    A last line that somebody left torn is ended first, so that it stays alone in being torn.
    """
    if not rows:
        return
    data = b"".join(map(json_line, rows))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                data = b"\n" + data
            _write_whole(handle, data, size)
        finally:
            os.close(handle)
    except OSError as error:
        raise RequestError(
            f"cannot write {path}: {error.strerror or error}", hint="-o FILE keeps attributions elsewhere"
        ) from None


def _write_whole(handle: int, data: bytes, size: int) -> None:
    """Write all of it, or leave the file as long as it was."""
    try:
        if os.write(handle, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise
