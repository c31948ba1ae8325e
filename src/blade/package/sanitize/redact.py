"""One pass over the files of a package: what must not be shared is counted and, on request, left out of a copy.

In the copy `[redacted: RULE]` stands in place of what was found: JSON stays JSON, with the same keys in the same order.
"""

from __future__ import annotations

import bisect
import gzip
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, cast

import zstandard

from blade.ingest.jsonl import Torn
from blade.model.errors import ArtifactError, RequestError
from blade.package.sanitize import lists, private_rules
from blade.package.sanitize.report import SanitizeReport, SanitizeTally, clearance
from blade.package.sanitize.rule import SanitizeRule
from blade.package.sanitize.scan import RULES, FileKind, LineReader, SanitizeHit, ScannedFile, Scanner, files_in

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ROUNDS = 4
"""What is left of a line may look like something else; after so many rounds whole strings go."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_REST_OF_KEY = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"\s*:')
_LONGEST_KEY = 400
_YAML_VALUE = re.compile(rb"(?P<head>\s*+(?:- +)*+(?:[\w.-]+: +)?+)(?P<value>[^\s\"'|>&*!#{].*?)\s*", re.DOTALL)
_MARKER = b"[redacted: "


def sanitize(path: Path, *, deny: Sequence[Path] = (), output: Path | None = None) -> SanitizeReport:
    """Look at a file or a folder; `output` gets a copy in which nothing is found (save a clearance that is missing).

    The lists `sanitize.deny` and `sanitize.allow` of the folder are used. RequestError where the copy cannot be written.
    """
    if not path.exists():
        raise ArtifactError(f"no file or folder {path}", hint="give the folder of a package, or one file of it")
    if output is None:
        return _Pass(path, deny, None).report()
    with _new_folder(output, path) as copy:
        return _Pass(path, deny, copy).report()


class _Pass:
    """The lists, the rules and the counts of one pass; `copy` is the folder of the redacted copy."""

    def __init__(self, path: Path, deny: Sequence[Path], copy: Path | None) -> None:
        folder = path if path.is_dir() else path.parent
        denying = [*deny, *(file for file in (folder / lists.DENY,) if file.is_file())]
        self.path, self.copy = path, copy
        self.denied = lists.read_denied(denying)
        self.allowed = lists.read_allowed(folder / lists.ALLOW)
        self.lists = {file.resolve() for file in denying}
        self.scanner = Scanner(self.denied, self.allowed)
        self.reader = LineReader(self.scanner)
        self.tally = SanitizeTally()
        self.names: set[str] = set()
        self.unseen: list[str] = []
        self.left_out: list[str] = []
        self.files = self.lines = self.bytes = 0

    def report(self) -> SanitizeReport:
        """Read everything, once."""
        for list_name, number in (*self.denied.bad, *self.allowed.bad):
            where = f"{list_name}:{number}".encode()
            self.tally.add(lists.BAD_LINE, self.shown(list_name.encode()), number, where)
        for file in files_in(self.path):
            self.take(file)
        return SanitizeReport(
            files=self.files,
            lines=self.lines,
            bytes=self.bytes,
            counts=self.tally.counts(RULES),
            allowed=len(self.reader.covered),
            unseen=tuple(self.unseen),
            left_out=tuple(self.left_out),
            clearance=clearance(self.path),
        )

    def take(self, file: ScannedFile) -> None:
        """Count what is found in a file and in its name, and copy what may be shared."""
        name = self.unique_name(file)
        for hit in self.scanner.hits(file.raw_name, file.name, is_json=False):
            self.tally.add(hit.rule, name, None, file.raw_name[hit.start : hit.end])
        if file.path.resolve() in self.lists:
            self.left_out.append(name)
            return
        barred = self.barred_by(file)
        if file.kind is FileKind.SKIPPED:
            self.unseen.append(f"{name}/")
            self.left_out.append(f"{name}/")
        elif barred is not None:
            self.tally.add(barred, name, None, file.raw_name)
            self.left_out.append(name)
        elif file.kind is FileKind.IMAGE:
            self.unseen.append(name)
            if (target := self.target(name)) is not None:
                target.write_bytes(file.path.read_bytes())
        else:
            self.files += 1
            self.read(file, name, self.target(name))

    def barred_by(self, file: ScannedFile) -> SanitizeRule | None:
        """The rule by which a file cannot be shared whatever it says; links and devices cannot be allowed."""
        if not file.regular:
            return private_rules.OPAQUE_FILE
        if self.denied.covers_path(file.name) or private_rules.private_name(file.name):
            rule = private_rules.PRIVATE_FILE
        elif file.kind is FileKind.OPAQUE:
            rule = private_rules.OPAQUE_FILE
        else:
            return None
        return None if self.allowed.covers(rule.name, file.raw_name, file.name) else rule

    def shown(self, name: bytes) -> str:
        """A file's name with the names of rules in place of what they find."""
        for hit in reversed(self.scanner.hits(name, name.decode("utf-8", "replace"), is_json=False)):
            name = name[: hit.start] + b"redacted_" + hit.rule.name.encode() + name[hit.end :]
        return name.decode("utf-8", "replace")

    def unique_name(self, file: ScannedFile) -> str:
        """The name as it may be shown; two names that differ in a secret alone get a number."""
        name = self.shown(file.raw_name)
        folder, slash, last = name.rpartition("/")
        number = 1
        while name in self.names:
            number += 1
            name = f"{folder}{slash}{number}_{last}"
        self.names.add(name)
        return name

    def target(self, name: str) -> Path | None:
        """Where a file stands in the copy."""
        if self.copy is None:
            return None
        target = self.copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def read(self, file: ScannedFile, name: str, target: Path | None) -> None:
        """Count and copy the lines; of a private source file the copy holds the marker alone."""
        private: SanitizeRule | None = None
        try:
            with _compressed_like(file.path, target) if target is not None else nullcontext() as out:
                for scanned in self.reader.lines(file):
                    self.lines += scanned.lines
                    self.bytes += len(scanned.raw)
                    for hit in scanned.hits if scanned.counts else ():
                        self.tally.add(hit.rule, name, scanned.number, scanned.line[hit.start : hit.end])
                        private = hit.rule if hit.rule.whole else private
                    if out is not None:
                        hits, line = scanned.hits, scanned.line
                        out.write(redacted(line, hits, file, self.reader.hits) if hits else scanned.raw)
        except Torn:
            self.tally.add(private_rules.OPAQUE_FILE, name, None, file.raw_name)
            self.left_out.append(name)
            if target is not None:
                target.unlink()
            return
        if target is not None and private is not None and file.kind is FileKind.CODE:
            target.write_bytes(_marker(private.name) + b"\n")


@contextmanager
def _new_folder(output: Path, path: Path) -> Iterator[Path]:
    """A folder that becomes `output` at the end; RequestError when it would hold, or stand in, what is copied."""
    source, target = path.resolve(), output.resolve()
    if target == source or source in target.parents or target in source.parents:
        raise RequestError(
            "the copy cannot stand in what it is a copy of, nor around it", hint="give a folder elsewhere"
        )
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise RequestError("the folder for the copy is not empty", hint="give a new folder, or empty it first")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".blade-", dir=output.parent) as staging:
            copy = Path(staging) / "copy"
            copy.mkdir()
            yield copy
            copy.replace(output)
    except OSError as error:
        raise RequestError(
            f"cannot write the copy: {error.strerror or error}", hint="give a folder that can be written"
        ) from None


@contextmanager
def _compressed_like(original: Path, target: Path) -> Iterator[IO[bytes]]:
    """A file to write, compressed as the original is; the same bytes whenever it is written."""
    with original.open("rb") as start:
        magic = start.read(4)
    with target.open("wb") as file:
        if magic.startswith(_GZIP):
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                yield cast(IO[bytes], packed)
        elif magic == _ZSTD:
            with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as stream:
                yield cast(IO[bytes], stream)
        else:
            yield file


def _marker(rule: str, number: int = 1) -> bytes:
    """What stands in place of a value; keys of one line are told apart by a number."""
    return f"[redacted: {rule}]".encode() if number == 1 else f"[redacted: {rule} {number}]".encode()


def redacted(
    line: bytes,
    hits: Sequence[SanitizeHit],
    file: ScannedFile,
    search: Callable[[bytes, ScannedFile], Sequence[SanitizeHit]],
) -> bytes:
    """The line without what was found, in which `search` finds nothing."""
    rounds = 0
    while hits:
        rounds += 1
        line = _replaced(line, hits, file.kind, everything=rounds > _ROUNDS)
        hits = search(line, file) if rounds <= _ROUNDS else ()
    if not file.is_yaml:
        return line
    # A plain scalar with a marker in it would be read as a list or a mapping: it gets quotation marks.
    match = _YAML_VALUE.fullmatch(line)
    if match is None or _MARKER not in match["value"]:
        return line
    value = json.dumps(match["value"].decode("utf-8", "replace"), ensure_ascii=False).encode()
    return match["head"] + value + line[match.end("value") :]


def _replaced(line: bytes, hits: Sequence[SanitizeHit], kind: FileKind, *, everything: bool) -> bytes:
    pieces: list[bytes] = []
    at = 0
    numbers: dict[str, dict[bytes, int]] = {}
    taken: dict[str, int] = {}
    for start, end, rule in _cuts(line, hits, kind, everything):
        number = 1
        if kind is FileKind.JSON and _REST_OF_KEY.match(line[end : end + _LONGEST_KEY]):
            if rule not in taken:
                # Markers of an earlier round or an earlier copy may be keys too.
                taken[rule] = line.count(_MARKER + rule.encode())
            keys = numbers.setdefault(rule, {})
            number = keys.setdefault(line[start:end], taken[rule] + len(keys) + 1)
        pieces += (line[at:start], _marker(rule, number))
        at = end
    return b"".join((*pieces, line[at:]))


def _cuts(line: bytes, hits: Sequence[SanitizeHit], kind: FileKind, everything: bool) -> list[tuple[int, int, str]]:
    """Where to cut, without overlaps: what overlaps is one cut, named after its first rule."""
    wholes: list[tuple[int, int]] = []
    if everything or any(hit.rule.whole for hit in hits):
        # The insides of the strings of a row; the line without its margins, where it is text.
        if kind is FileKind.JSON:
            wholes = [(string.start() + 1, string.end() - 1) for string in _STRING.finditer(line)]
        else:
            wholes = [(len(line) - len(line.lstrip()), len(line.rstrip()))]
    joined: list[tuple[int, int, str]] = []
    for hit in hits:
        first, last = _around(wholes, hit) if everything or hit.rule.whole else (hit.start, hit.end)
        name = hit.rule.name
        while joined and first < joined[-1][1]:
            left, right, name = joined.pop()
            first, last = min(left, first), max(right, last)
        joined.append((first, last, name))
    return joined


def _around(wholes: list[tuple[int, int]], hit: SanitizeHit) -> tuple[int, int]:
    """What a hit stands in; the hit itself, where the row is not JSON."""
    position = bisect.bisect_right(wholes, hit.start, key=lambda span: span[0]) - 1
    start, end = wholes[position] if position >= 0 else (hit.start, hit.end)
    return (start, end) if start <= hit.start and hit.end <= end else (hit.start, hit.end)
