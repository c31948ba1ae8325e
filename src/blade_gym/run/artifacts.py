"""Names of a run's files, and writing them: whole documents by renaming, rows by one append each."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from blade import files
from blade.model.errors import RequestError

_encoder = msgspec.json.Encoder()
Key = tuple[int, int]
"""Task and repeat."""
TASK, REPEAT, ATTEMPT = "_ng_task_index", "_ng_rollout_index", "_ng_attempt_index"


class Artifacts:
    """The files that one `--output` stands for."""

    def __init__(self, rollouts: Path) -> None:
        self.rollouts = rollouts
        self.inputs = self._beside("_materialized_inputs.jsonl")
        self.failures = self._beside("_failures.jsonl")
        self.manifest = self._beside("_manifest.json")
        self.metrics = self._beside("_aggregate_metrics.json")
        self.derived = (
            self.metrics,
            self._beside("_reward_profiling.jsonl"),
            self._beside("_agent_metrics.json"),
        )

    def _beside(self, suffix: str) -> Path:
        return self.rollouts.with_name(self.rollouts.stem + suffix)

    @property
    def all(self) -> tuple[Path, ...]:
        """Every file; the inputs first, without which nothing is resumed."""
        return (self.inputs, self.rollouts, self.failures, *self.derived, self.manifest)

    def clear(self) -> list[Path]:
        """Remove what an earlier run left; gives what was removed."""
        there = [path for path in self.all if path.is_file()]
        for path in there:
            path.unlink()
        return there


_ELSEWHERE = "give another --output"
_HINTS = {
    errno.EISDIR: f"it is a folder: {_ELSEWHERE}, with a file name",
    errno.EEXIST: f"a file stands where its folder should be: {_ELSEWHERE}",
    errno.ENOTDIR: f"a file stands where its folder should be: {_ELSEWHERE}",
    errno.ENOENT: f"its folder cannot be made there: {_ELSEWHERE}",
    errno.EACCES: f"you may not write there: {_ELSEWHERE}",
    errno.EPERM: f"you may not write there: {_ELSEWHERE}",
    errno.EROFS: f"nothing can be written there: {_ELSEWHERE}",
    errno.ENAMETOOLONG: _ELSEWHERE,
    errno.ENOSPC: "make room",
}


def cannot_write(path: Path, error: OSError) -> RequestError:
    """What to say of a file that cannot be written, with what to do by the reason."""
    hint = _HINTS.get(error.errno or 0, _ELSEWHERE)
    return RequestError(f"cannot write {path}: {error.strerror or error}", hint=hint)


def write_whole(path: Path, data: bytes) -> None:
    """A file that is there entirely or not at all."""
    try:
        with files.staged(path) as file:
            file.write(data)
    except OSError as error:
        raise cannot_write(path, error) from None


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Rows as a file that is there entirely or not at all."""
    write_whole(path, b"".join(_encoder.encode(row) + b"\n" for row in rows))


def write_document(path: Path, value: Mapping[str, Any]) -> None:
    """A JSON document for people too."""
    write_whole(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


class RowFile:
    """A file that rows are appended to, each whole: one write of the line and its end."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise cannot_write(path, error) from None
        self._path = path

    def lock(self) -> None:
        """Nobody else may write to it; raises where somebody does."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RequestError(f"another run writes to {self._path}", hint="wait for it, or give --output") from None

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row; a disk that is full leaves no half of it."""
        line = _encoder.encode(row) + b"\n"
        before = os.fstat(self._file).st_size
        try:
            if os.write(self._file, line) == len(line):
                return
            reason = "the disk is full"
        except OSError as error:
            reason = error.strerror or str(error)
        os.ftruncate(self._file, before)
        raise RequestError(f"cannot write {self._path}: {reason}", hint="make room and go on with --resume")

    def close(self) -> None:
        """Hand everything to the disk."""
        os.fsync(self._file)
        os.close(self._file)


def heal(path: Path) -> str | None:
    """Mend the end of a file that a kill cut: a whole row gets its end of line, half of one goes to FILE.torn.

    Gives a line that says what was done; None where nothing was.
    """
    data = path.read_bytes() if path.is_file() else b""
    if not data or data.endswith(b"\n"):
        return None
    start = data.rfind(b"\n") + 1
    tail = data[start:]
    if _is_row(tail):
        with path.open("ab") as file:
            file.write(b"\n")
        return None
    note = path.with_name(path.name + ".torn")
    with note.open("ab") as file:
        file.write(tail + b"\n")
    os.truncate(path, start)
    return f"{path}: {len(tail)} bytes of an unfinished row were cut off and kept in {note.name}; it runs again"


def _is_row(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False
