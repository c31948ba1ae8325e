"""Files that stand beside rollouts: their names, JSON as it is written, and writing that leaves the old file whole."""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any

import msgspec
from msgspec import Struct

from blade.model.errors import RequestError

ATTRIBUTIONS_FILE = "attributions.jsonl"
"""What readers say of rollouts; never rollouts itself."""
FILLED_IN = (
    "location", "task_id", "repeat", "mode", "party", "confidence", "subject", "quote", "quotes", "note", "by", "run",
    "artifact", "mark", "sample", "define", "definition", "remove",
)  # fmt: skip
"""Fields of a row of such a file, and of one that `blade attribute --file` takes."""
READERS_FIELDS = frozenset((*FILLED_IN, "outcome", "command"))
"""With what `blade sample` writes beside them, to be read and not to be filled in."""
_encoder = msgspec.json.Encoder()
_STAGING = ".blade-out-"
_COMMIT = "commit.json"
_HINT = "give a folder that can be written, on a disk with room"


def beside(rollouts: Path, suffix: str) -> Path:
    """`results/r.jsonl` and `_agent_metrics.json` to `results/r_agent_metrics.json`; what compression adds is dropped."""
    plain = rollouts.with_suffix("") if rollouts.suffix in (".gz", ".zst") else rollouts
    return plain.with_name(plain.stem + suffix)


def sidecar(rollouts: Path, suffix: str) -> Path | None:
    """The sidecar of that name, plain or compressed, where there is one."""
    plain = beside(rollouts, suffix)
    names = (plain, *(plain.with_name(plain.name + ending) for ending in (".gz", ".zst")))
    return next((path for path in names if path.is_file()), None)


def json_line(value: object) -> bytes:
    """A value as one line of JSON, as people read it: with a space after each comma and colon."""
    return msgspec.json.format(_encoder.encode(value), indent=0) + b"\n"


def json_text(value: object) -> bytes:
    """A value as an indented JSON document."""
    return msgspec.json.format(_encoder.encode(value), indent=2) + b"\n"


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One JSON object a line."""
    with replacing(path) as file:
        file.writelines(_encoder.encode(row) + b"\n" for row in rows)


def write_json(path: Path, value: object, *, indent: int = 0) -> None:
    """One JSON document; without line breaks when `indent` is 0."""
    data = _encoder.encode(value)
    with replacing(path) as file:
        file.write(msgspec.json.format(data, indent=indent) if indent else data)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of `path` when all of it is written; folders are made as needed."""
    try:
        with staged(path) as file:
            yield file
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror or error}", hint="is it a folder, or full?") from None


@contextmanager
def staged(path: Path) -> Iterator[IO[bytes]]:
    """`replacing`, for callers that know more about an OSError than its hint says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".blade-", dir=path.parent) as staging:
        new = Path(staging) / path.name
        with new.open("wb") as file:
            yield file
        new.replace(path)


def sha256(path: Path) -> str:
    """The checksum of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Commit(Struct, frozen=True, kw_only=True):
    """What is to be done once everything new is on disk; paths are relative to the folder."""

    new: tuple[str, ...]
    """Files to move into place, those that people open first."""
    obsolete: tuple[str, ...]
    """Files of an earlier writing that have no successor."""


@contextmanager
def replacing_in(out: Path, obsolete: Callable[[Path], Iterable[str]] = lambda out: ()) -> Iterator[Path]:
    """A folder to write into, whose files then take the place of those in `out`, all at once; files that are `obsolete` go.

    Whoever opens `out` after a crash or a kill should find one whole analysis. Where `out` holds nothing but files that
    are replaced, it is exchanged for the new folder in one step of the file system, so there is no moment in between.
    Files of other people's in it rule that out: they would be elsewhere for that moment, and one crash from being lost.
    Then, as on systems that cannot exchange folders, the new files are moved one by one, after a note of what is to be
    moved is on disk: a kill within those few renames leaves the note, and the next command that reads or writes there
    does the rest (`finish`). Before the note, a kill leaves the old files; everything new is on disk by then.
    """
    try:
        if out.is_symlink() and not out.exists():
            raise RequestError(f"cannot write to {out}: it is a link to nothing", hint=_HINT)
        if out.exists() and not out.is_dir():
            raise RequestError(f"cannot write to {out}: it is a file", hint=_HINT)
        out.mkdir(parents=True, exist_ok=True)
        finish(out)
        staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=out))
        with _locked(staging):
            try:
                yield staging
                commit = _Commit(new=tuple(sorted(_files(staging), key=_by_depth)), obsolete=tuple(obsolete(out)))
                _refuse_folders(out, commit)
                _sync(staging)
                if _exchanged(staging, out, commit):
                    return
                with (staging / "draft").open("wb") as file:
                    file.write(_encoder.encode(commit))
                    file.flush()
                    os.fsync(file.fileno())
            except BaseException:
                shutil.rmtree(staging, ignore_errors=True)
                raise
            (staging / "draft").rename(staging / _COMMIT)
            try:
                _move(staging, out)
            except KeyboardInterrupt:
                _move(staging, out)
                raise
    except OSError as error:
        raise RequestError(f"cannot write to {out}: {error.strerror or error}", hint=_HINT) from None


def finish(out: Path) -> None:
    """Finish or discard what a writer that was killed left in a folder; asked for before anything is read or written there."""
    for staging in sorted(out.glob(f"{_STAGING}*")):
        # A lock ends with its process: a folder that cannot be locked has a writer, which may be in the midst of moving.
        with _locked(staging, wait=(staging / _COMMIT).exists()) as is_locked:
            if is_locked and (staging / _COMMIT).exists():
                try:
                    _move(staging, out)
                except OSError as error:
                    raise RequestError(
                        f"{out} is half replaced, by a writer that was killed: {error.strerror or error}",
                        hint="make it writable, or write it again",
                    ) from None
            elif is_locked:
                shutil.rmtree(staging, ignore_errors=True)


def _move(staging: Path, out: Path) -> None:
    """Do what the note says; what is done already is passed over."""
    commit = msgspec.json.decode((staging / _COMMIT).read_bytes(), type=_Commit)
    for name in commit.new:
        if (staging / name).exists():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (staging / name).replace(out / name)
    _remove(out, commit.obsolete)
    _sync(out, only={*_folders(commit.new), ""})
    shutil.rmtree(staging)


def _exchanged(staging: Path, out: Path, commit: _Commit) -> bool:
    """Put the new folder in the place of the old one; False, and all is as it was, where that cannot be done."""
    place, known = out.resolve(), {*commit.new, *commit.obsolete}
    beside = place.with_name(f".{place.name}{staging.name}")
    try:
        here = Path.cwd()
        # A shell that stands in the folder would stay in the old one.
        if place == here or place in here.parents or not _holds_only(place, known, {*_folders(known), staging.name}):
            return False
        old = [name for name in known if (place / name).exists()]
        _clear_dead(place)
        status = place.stat()
        staging.chmod(stat.S_IMODE(status.st_mode))
        with suppress(PermissionError):
            os.chown(staging, status.st_uid, status.st_gid)
        staging.rename(beside)
    except OSError:
        return False
    if not _exchange(beside, place):
        beside.rename(staging)
        return False
    _sync(place.parent, only={""})
    _remove(beside, old)
    with suppress(OSError):
        beside.rmdir()
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Swap the names of two folders in one step, as Linux and macOS can on most file systems."""
    import ctypes

    call = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform, "")
    function = getattr(ctypes.CDLL(None), call, None) if call else None
    if function is None:
        return False
    paths = os.fsencode(one), os.fsencode(other)
    at_cwd, swap = -100, 2
    return bool(
        (function(at_cwd, paths[0], at_cwd, paths[1], swap) if call == "renameat2" else function(*paths, swap)) == 0
    )


def _clear_dead(place: Path) -> None:
    """Remove old folders that a writer was killed over, after it had put new ones in their place."""
    for dead in place.parent.glob(f".{glob.escape(place.name)}{_STAGING}*"):
        with _locked(dead) as is_locked:
            if is_locked:
                shutil.rmtree(dead, ignore_errors=True)


def _holds_only(place: Path, files: Collection[str], folders: Collection[str], inside: str = "") -> bool:
    """Whether a folder holds nothing but those; links may lead to anything."""
    with os.scandir(place / inside) as entries:
        for entry in entries:
            name = f"{inside}{entry.name}"
            if entry.is_symlink():
                return False
            if not entry.is_dir():
                if name not in files:
                    return False
            elif name not in folders or (
                not name.startswith(_STAGING) and not _holds_only(place, files, folders, f"{name}/")
            ):
                return False
    return True


def _refuse_folders(out: Path, commit: _Commit) -> None:
    for name in commit.new:
        if (out / name).is_dir():
            raise RequestError(
                f"cannot write {out / name}: it is a folder", hint="move it away, or give another folder"
            )
    for name in _folders(commit.new):
        if (out / name).exists() and not (out / name).is_dir():
            raise RequestError(
                f"cannot write to {out / name}: it is a file", hint="move it away, or give another folder"
            )


def _files(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def _folders(names: Iterable[str]) -> set[str]:
    return {parent.as_posix() for name in names for parent in PurePosixPath(name).parents} - {"."}


def _by_depth(name: str) -> tuple[int, str]:
    return name.count("/"), name


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Remove files, and the folders that are empty then."""
    listed = list(names)
    for name in listed:
        (folder / name).unlink(missing_ok=True)
    for name in sorted(_folders(listed), key=_by_depth, reverse=True):
        with suppress(OSError):
            (folder / name).rmdir()


def _sync(folder: Path, only: Collection[str] | None = None) -> None:
    """Have the disk take what a folder holds, or some of its folders."""
    inside = [""] + [path.relative_to(folder).as_posix() for path in folder.rglob("*")] if only is None else only
    for name in inside:
        handle = os.open(folder / name, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _locked(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Within it no other process has the folder to itself; False where one has, or where locks are unknown."""
    import fcntl

    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(handle)
