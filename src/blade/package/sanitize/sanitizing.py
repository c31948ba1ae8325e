"""One pass over the files of a package: what must not be shared is counted and, on request, left out of a copy."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO

from blade.ingest.jsonl import Torn
from blade.model.errors import ArtifactError
from blade.package.sanitize import lists, source
from blade.package.sanitize.clearance import clearance
from blade.package.sanitize.copying import compressed_like, new_folder, place
from blade.package.sanitize.files import Item, Kind, items
from blade.package.sanitize.found import Sanitized, Tally
from blade.package.sanitize.reading import Reader
from blade.package.sanitize.redact import marker, redacted
from blade.package.sanitize.rules import Rule
from blade.package.sanitize.scan import RULES, Scanner


def sanitize(path: Path, *, deny: Sequence[Path] = (), output: Path | None = None) -> Sanitized:
    """Look at a file or a folder; `output` gets a copy in which nothing is found (save a clearance that is missing).

    The lists `sanitize.deny` and `sanitize.allow` of the folder are used. RequestError where the copy cannot be written.
    """
    if not path.exists():
        raise ArtifactError(f"no file or folder {path}", hint="give the folder of a package, or one file of it")
    work = _Work(path, deny)
    if output is None:
        return work.done(None)
    with new_folder(output, path) as copy:
        return work.done(copy)


class _Work:
    """The lists, the rules and the counts of one pass."""

    def __init__(self, path: Path, deny: Sequence[Path]) -> None:
        self._path = path
        folder = path if path.is_dir() else path.parent
        denying = [*deny, *(one for one in (folder / lists.DENY,) if one.is_file())]
        self._denied = lists.read_denied(denying)
        self._allowed = lists.read_allowed(folder / lists.ALLOW)
        self._lists = {one.resolve() for one in denying}
        self._scanner = Scanner(self._denied, self._allowed)
        self._reader = Reader(self._scanner, [])
        self._tally = Tally()
        self._names: set[str] = set()
        self._unseen: list[str] = []
        self._left_out: list[str] = []
        self._files = self._lines = self._bytes = 0

    def done(self, copy: Path | None) -> Sanitized:
        """Read everything, once."""
        for file, line in (*self._denied.bad, *self._allowed.bad):
            self._tally.add(lists.BAD_LINE, self._shown(file.encode()), line, f"{file}:{line}".encode())
        for item in items(self._path):
            self._look(item, copy)
        return Sanitized(
            files=self._files,
            lines=self._lines,
            bytes=self._bytes,
            counts=self._tally.counts(RULES),
            allowed=len(self._reader.covered),
            unseen=tuple(self._unseen),
            left_out=tuple(self._left_out),
            clearance=clearance(self._path),
        )

    def _look(self, item: Item, copy: Path | None) -> None:
        name = self._name(item)
        if item.path.resolve() in self._lists:
            self._left_out.append(name)
            return
        barred = self._barred(item)
        if item.kind is Kind.SKIPPED:
            self._unseen.append(f"{name}/")
            self._left_out.append(f"{name}/")
        elif barred is not None:
            self._tally.add(barred, name, None, item.raw_name)
            self._left_out.append(name)
        elif item.kind is Kind.IMAGE:
            self._unseen.append(name)
            if copy is not None:
                place(copy, name).write_bytes(item.path.read_bytes())
        else:
            self._files += 1
            self._read(item, name, place(copy, name) if copy is not None else None)

    def _barred(self, item: Item) -> Rule | None:
        """The rule by which a file cannot be shared whatever it says; links and devices cannot be allowed."""
        if not item.regular:
            return source.OPAQUE_FILE
        if self._denied.path(item.name) or source.private_name(item.name):
            rule = source.PRIVATE_FILE
        elif item.kind is Kind.OPAQUE:
            rule = source.OPAQUE_FILE
        else:
            return None
        return None if self._allowed.covers(rule.name, item.raw_name, item.name) else rule

    def _name(self, item: Item) -> str:
        """The name as it may be shown; what is found in the name itself is counted."""
        shown = self._unique(self._shown(item.raw_name))
        for hit in self._scanner.hits(item.raw_name, item.name, is_json=False):
            self._tally.add(hit.rule, shown, None, item.raw_name[hit.start : hit.end])
        return shown

    def _shown(self, name: bytes) -> str:
        """A file's name with the names of rules in place of what they find."""
        for hit in reversed(self._scanner.hits(name, name.decode("utf-8", "replace"), is_json=False)):
            name = name[: hit.start] + b"redacted_" + hit.rule.name.encode() + name[hit.end :]
        return name.decode("utf-8", "replace")

    def _unique(self, name: str) -> str:
        folder, slash, file = name.rpartition("/")
        number = 1
        while name in self._names:
            number += 1
            name = f"{folder}{slash}{number}_{file}"
        self._names.add(name)
        return name

    def _read(self, item: Item, name: str, target: Path | None) -> None:
        try:
            with compressed_like(item.path, target) if target is not None else nullcontext() as out:
                private = self._lines_of(item, name, out)
        except Torn:
            self._tally.add(source.OPAQUE_FILE, name, None, item.raw_name)
            self._left_out.append(name)
            if target is not None:
                target.unlink()
            return
        if target is not None and private is not None and item.kind is Kind.CODE:
            target.write_bytes(marker(private.name) + b"\n")

    def _lines_of(self, item: Item, name: str, out: IO[bytes] | None) -> Rule | None:
        """Count and copy the lines; gives the rule by which the whole file is private."""
        private: Rule | None = None
        for one in self._reader.looked(item):
            self._lines += one.lines
            self._bytes += len(one.raw)
            for hit in one.hits if one.counts else ():
                self._tally.add(hit.rule, name, one.number, one.line[hit.start : hit.end])
                private = hit.rule if hit.rule.whole else private
            if out is not None:
                out.write(redacted(one.line, one.hits, item, self._reader.hits) if one.hits else one.raw)
        return private
