r"""The files of a folder, line by line, with what rules find in each line.

One search over the raw bytes says which rules are worth trying, and these look at the *view* of the line: escapes of
JSON are blanks in it, of the same length, so that places in the view are places in the line. A trajectory is JSON inside
JSON, often three deep. In the view `\n`, `\\n` and `é` are blanks and `\"` is a blank and a quotation mark, at any
depth, so a rule is written once, for plain text, and never matches half an escape.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import re2
import zstandard
from msgspec import Struct
from msgspec.structs import replace

from blade.ingest.jsonl import Torn, first_bytes, open_bytes
from blade.package.sanitize import private_rules, secret_rules
from blade.package.sanitize.lists import AllowList, DenyList
from blade.package.sanitize.rule import PatternMatch, SanitizeGroup, SanitizeRule

RULES = (*secret_rules.RULES, *private_rules.RULES)
_MEMORY = 64 << 20
"""Of one automaton of RE2: the default of 8 MB is too small for all gates in one set."""
_MOST_BACKSLASHES = 64
_WITH_NAME = 2
"""How many groups a pattern has that names what the value is assigned to; the value is the last."""

_UNICODE_ESCAPE = re.compile(rb"\\u[0-9a-fA-F]{4}")
_SHORT_ESCAPES = tuple(b"\\" + letter for letter in (b"n", b"r", b"t", b"b", b"f"))
_NEEDLESS_ESCAPE = re.compile(rb"(?<!\\)((?:\\\\)*)\\(?:u00([2-7][0-9a-fA-F])|/)")
_NEEDED = frozenset(b'"\\\x7f')

_JSON = (".jsonl", ".json", ".ndjson", ".ipynb")
_PROSE = (".md", ".txt", ".rst", ".log", ".csv", ".tsv", ".yaml", ".yml", ".toml")
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp")
_CACHES = frozenset(
    {".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
_START = 8192
"""Bytes in which a zero byte shows that a file is no text; git looks at about as many."""
_LICENCE_HEAD = 1 << 16
_BATCH = 1 << 14
"""Bytes of short lines that are searched together."""
_KEY_END = re.compile(rb"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(rb"[\s>#*/\"']*[A-Za-z0-9+/=:,. ()-]*(?:\\n)?[\"'+,\s]*")
_BROKEN = (EOFError, OSError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError)


class FileKind(StrEnum):
    """How a file is read."""

    JSON = "json"
    PROSE = "prose"
    CODE = "code"
    IMAGE = "image"
    OPAQUE = "opaque"
    SKIPPED = "skipped"
    """A folder of caches or of history."""


class ScannedFile(Struct, frozen=True, kw_only=True):
    """A file to look at."""

    path: Path
    name: str
    """Its path inside the folder, with `/`."""
    kind: FileKind

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
        return _plain(self.name).endswith((".yaml", ".yml"))


class SanitizeHit(Struct, frozen=True):
    """A value of a rule at [start, end) of a line."""

    start: int
    end: int
    rule: SanitizeRule


class ScannedLines(Struct, frozen=True, kw_only=True):
    """A line that was scanned, or several in a row in which no rule has anything to look for."""

    number: int
    """Of the first line, from 1."""
    raw: bytes
    line: bytes
    """The bytes that hits are places in; in JSON, `raw` with fewer escapes."""
    hits: Sequence[SanitizeHit] = ()
    counts: bool = True
    """False for the further lines of a key that was counted at its first."""
    lines: int = 1

    def split(self) -> Iterator[ScannedLines]:
        """The lines one by one."""
        if self.lines == 1:
            yield self
        else:
            for number, line in enumerate(io.BytesIO(self.raw), start=self.number):
                yield ScannedLines(number=number, raw=line, line=line)


def files_in(path: Path) -> Iterator[ScannedFile]:
    """The file itself, or all files of a folder in the order of their names; links are not followed.

    Folders that are skipped, or that cannot be read, stand for what is in them.
    """
    if path.is_file():
        yield ScannedFile(path=path, name=path.name, kind=_kind(path))
        return
    closed: list[str] = []
    for root, folders, names in os.walk(path, onerror=lambda error: closed.append(str(error.filename))):
        folder = Path(root)
        for name in sorted(set(folders) & _CACHES):
            yield _scanned(folder / name, path, FileKind.SKIPPED)
        folders[:] = sorted(set(folders) - _CACHES)
        links = [name for name in folders if (folder / name).is_symlink()]
        for name in sorted([*names, *links]):
            yield _scanned(folder / name, path, _kind(folder / name))
    for name in sorted(closed):
        yield _scanned(Path(name), path, FileKind.OPAQUE)


def _scanned(path: Path, folder: Path, kind: FileKind) -> ScannedFile:
    return ScannedFile(path=path, name=path.relative_to(folder).as_posix(), kind=kind)


def _plain(name: str) -> str:
    return name.lower().removesuffix(".gz").removesuffix(".zst")


def _kind(path: Path) -> FileKind:
    if path.is_symlink() or not path.is_file():
        return FileKind.OPAQUE
    name = _plain(path.name)
    if name.endswith(_IMAGES):
        return FileKind.IMAGE
    try:
        start = first_bytes(path, _START)
    except (Torn, OSError, zlib.error):
        return FileKind.OPAQUE
    if b"\0" in start:
        return FileKind.OPAQUE
    if name.endswith(_JSON):
        return FileKind.JSON
    return FileKind.PROSE if name.endswith(_PROSE) else FileKind.CODE


class Scanner:
    """All rules, and the names of a deny list, ready to look; what the allow list covers is no hit."""

    def __init__(self, denied: DenyList, allowed: AllowList) -> None:
        extra = denied.rule()
        self._rules: tuple[SanitizeRule, ...] = (*RULES, *((extra,) if extra else ()))
        self._order = {rule: number for number, rule in reversed(list(enumerate(self._rules)))}
        self._patterns = tuple(compiled(rule.pattern) for rule in self._rules)
        self._allowed = allowed
        behind: dict[str, list[int]] = {}
        for number, rule in enumerate(self._rules):
            behind.setdefault(rule.gate, []).append(number)
        self._gates = re2.Set.SearchSet(_options())
        for gate in behind:
            self._gates.Add(gate.encode())
        self._gates.Compile()
        self._behind_gates = tuple(behind.values())

    def opens(self, lines: bytes) -> bool:
        """Whether any rule has something to look at."""
        return bool(self._gates.Match(lines))

    def hits(self, line: bytes, path: str, *, is_json: bool, covered: list[str] | None = None) -> list[SanitizeHit]:
        """What must not be shared, in the order of places; a hit inside another is left out unless it alone is a secret.

        The line is a `readable` one. Rules of what the allow list covers are added to `covered`.
        """
        gates = self._gates.Match(line)
        if not gates:
            return []
        seen = view(line)
        selected: list[SanitizeHit] = []
        for number in sorted(number for gate in gates for number in self._behind_gates[gate]):
            for hit in self._hits_of(number, line, seen, is_json):
                if not self._allowed.covers(hit.rule.name, line[hit.start : hit.end], path):
                    selected.append(hit)
                elif covered is not None:
                    covered.append(hit.rule.name)
        return self._distinct(selected)

    def _hits_of(self, number: int, line: bytes, seen: bytes, is_json: bool) -> Iterator[SanitizeHit]:
        rule, pattern = self._rules[number], self._patterns[number]
        text = line if rule.backslashes else seen
        for match in pattern.finditer(text):
            start, end = match.span(pattern.groups)
            if is_json and rule.backslashes:
                # After an odd number of backslashes the first letter belongs to an escape, as in `C:\\Users\new`.
                before = line[max(0, start - _MOST_BACKSLASHES) : start]
                if (len(before) - len(before.rstrip(b"\\"))) % 2 == 1:
                    continue
            name = match[1] if pattern.groups == _WITH_NAME else b""
            if rule.keep(PatternMatch(view=text, name=name, start=start, end=end)):
                yield SanitizeHit(start, end, rule)

    def _distinct(self, hits: list[SanitizeHit]) -> list[SanitizeHit]:
        hits.sort(key=lambda hit: (hit.start, -hit.end, self._order[hit.rule]))
        selected: list[SanitizeHit] = []
        reach = secret_reach = -1
        for hit in hits:
            secret = hit.rule.group is SanitizeGroup.SECRETS
            if hit.end > (secret_reach if secret else reach):
                selected.append(hit)
                reach = max(reach, hit.end)
                secret_reach = max(secret_reach, hit.end) if secret else secret_reach
        return selected


def compiled(pattern: str) -> Any:
    """A pattern or a gate of a rule as RE2 runs it over bytes."""
    return re2.compile(pattern.encode(), _options())


def _options() -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _MEMORY
    options.log_errors = False
    return options


def view(line: bytes) -> bytes:
    """The line as rules see it, with blanks for escapes."""
    if b"\\" not in line:
        return line
    if b"\\u" in line:
        line = _UNICODE_ESCAPE.sub(b"      ", line)
    for escape in _SHORT_ESCAPES:
        line = line.replace(escape, b"  ")
    return line.replace(b"\\", b" ")


def readable(line: bytes, is_json: bool) -> bytes:
    r"""The line in the form that rules are given: in JSON, `@` for `\\u0040` and `/` for `\\/`, which nothing demands."""
    if not is_json or (b"\\u00" not in line and b"\\/" not in line):
        return line
    return _NEEDLESS_ESCAPE.sub(_unescaped, line)


def _unescaped(match: re.Match[bytes]) -> bytes:
    if match[2] is None:
        return match[1] + b"/"
    code = int(match[2], 16)
    return match[0] if code in _NEEDED else match[1] + bytes((code,))


class LineReader:
    """Reads files one after the other; `covered` gets a rule for each match that the allow list covers."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.covered: list[str] = []

    def lines(self, file: ScannedFile) -> Iterator[ScannedLines]:
        """Every line; Torn when the file breaks off."""
        lines = self._lines(file)
        return lines if file.kind is FileKind.JSON else _without_licensed(_with_blocks(lines), file)

    def hits(self, line: bytes, file: ScannedFile, covered: list[str] | None = None) -> list[SanitizeHit]:
        """What is found in a readable line of a file."""
        return self.scanner.hits(line, file.name, is_json=file.kind is FileKind.JSON, covered=covered)

    def _lines(self, file: ScannedFile) -> Iterator[ScannedLines]:
        number = 1
        try:
            with open_bytes(file.path) as stream:
                while batch := stream.readlines(_BATCH):
                    yield from self._batch(file, batch, number)
                    number += len(batch)
        except _BROKEN as error:
            raise Torn(f"cannot be read further ({type(error).__name__})") from None

    def _batch(self, file: ScannedFile, batch: list[bytes], number: int) -> Iterator[ScannedLines]:
        """Short lines are searched together; where something is, each half is searched for it."""
        raw = b"".join(batch) if len(batch) > 1 else batch[0]
        line = readable(raw, file.kind is FileKind.JSON)
        if len(batch) == 1:
            yield ScannedLines(number=number, raw=raw, line=line, hits=self.hits(line, file, self.covered))
        elif not self.scanner.opens(line):
            yield ScannedLines(number=number, raw=raw, line=raw, lines=len(batch))
        else:
            half = len(batch) // 2
            yield from self._batch(file, batch[:half], number)
            yield from self._batch(file, batch[half:], number + half)


def _with_blocks(lines: Iterator[ScannedLines]) -> Iterator[ScannedLines]:
    """A private key may run over lines: all of them go, and the first counts."""
    block: SanitizeRule | None = None
    for several in lines:
        for scanned in several.split() if block is not None else (several,):
            line = scanned.line
            if block is not None and line.strip() and _KEY_BODY.fullmatch(line):
                hit = SanitizeHit(len(line) - len(line.lstrip()), len(line.rstrip()), block)
                yield replace(scanned, hits=[hit], counts=False)
                block = None if _KEY_END.search(line) else block
            else:
                block = _opened_key(scanned)
                yield scanned


def _opened_key(scanned: ScannedLines) -> SanitizeRule | None:
    """The rule of a key that begins in a line and does not end in it."""
    key = next((hit for hit in scanned.hits if hit.rule.name == "private-key"), None)
    if key is None or _KEY_END.search(scanned.line[key.start :]) or scanned.line[key.end :].strip():
        return None
    return key.rule


def _without_licensed(lines: Iterator[ScannedLines], file: ScannedFile) -> Iterator[ScannedLines]:
    """`All rights reserved` says nothing in a file whose head names a public licence."""
    licensed: bool | None = None
    for scanned in lines:
        if any(hit.rule.name == private_rules.RESERVED for hit in scanned.hits):
            if licensed is None:
                licensed = private_rules.permissive(first_bytes(file.path, _LICENCE_HEAD))
            hits = [hit for hit in scanned.hits if not licensed or hit.rule.name != private_rules.RESERVED]
            yield replace(scanned, hits=hits)
        else:
            yield scanned
