"""The two lists of a package: what is denied (`sanitize.deny`), and what is allowed, with a reason (`sanitize.allow`)."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import re2
from msgspec import Struct

from blade.model.errors import ArtifactError
from blade.package.sanitize.rule import SanitizeGroup, SanitizeRule

DENY = "sanitize.deny"
ALLOW = "sanitize.allow"

_ALLOWED = re.compile(
    r"(?P<rule>[a-z][a-z0-9-]*|\*)\s+(?P<kind>domain|sha256|path|re|value):(?P<what>\S.*?)\s+(?:--|#|—)\s*(?P<reason>\S.*)"
)
_BETWEEN = re.compile(r"[\s_-]+")
_LETTER = re.compile(r"[^\W\d_]")
_RESERVED = frozenset({"true", "false", "null"})
"""Words of JSON: a copy without them could not be read."""
_LEAST_HASH = 16
"""Hexadecimal digits by which no other value is allowed by accident."""
BAD_LINE = SanitizeRule(
    name="list-line", group=SanitizeGroup.NAMES, says="lines of sanitize.allow or the deny list that cannot be used"
)


class DenyList(Struct, frozen=True, kw_only=True):
    """Names and paths that must not be shared."""

    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    bad: tuple[tuple[str, int], ...] = ()
    """File and line of what cannot be used."""

    def rule(self) -> SanitizeRule | None:
        """One rule for all names: any case, with blanks, hyphens and underscores alike; None when there are none."""
        if not self.names:
            return None
        words = ([re2.escape(word) for word in _BETWEEN.split(name) if word] for name in self.names)
        forms = sorted({r"[\s_-]{0,3}".join(parts) for parts in words}, key=lambda form: (-len(form), form))
        any_name = f"(?:{'|'.join(forms)})"
        return SanitizeRule(
            name="denied-name",
            group=SanitizeGroup.NAMES,
            says="names of the deny list",
            gate=f"(?i){any_name}",
            pattern=f"(?i)(?P<value>{any_name})",
            keep=lambda match: not (match.before().isalnum() or match.after().isalnum()),
        )

    def covers_path(self, path: str) -> bool:
        """Whether a file is denied by its path."""
        return any(fnmatch.fnmatchcase(path, form) or fnmatch.fnmatchcase(path, f"{form}/*") for form in self.paths)


class _Permit(Struct, frozen=True, kw_only=True):
    rule: str
    kind: str
    what: str

    def covers(self, rule: str, value: bytes, path: str) -> bool:
        if self.rule not in ("*", rule):
            return False
        match self.kind:
            case "path":
                return fnmatch.fnmatchcase(path, self.what)
            case "domain":
                # Of an e-mail address, a URL or a host name.
                authority = re.split(rb"[/?#]", value.partition(b"://")[2] or value, maxsplit=1)[0]
                host = authority.rpartition(b"@")[2].partition(b":")[0].decode("utf-8", "replace").lower()
                return host == self.what.lower() or host.endswith("." + self.what.lower())
            case "sha256":
                return hashlib.sha256(value).hexdigest().startswith(self.what.lower())
            case "value":
                return value == self.what.encode()
            case _:
                return re2.fullmatch(self.what.encode(), value) is not None


class AllowList(Struct, frozen=True, kw_only=True):
    """What is deliberate."""

    permits: tuple[_Permit, ...] = ()
    bad: tuple[tuple[str, int], ...] = ()
    known: dict[tuple[str, bytes, str], bool] = {}
    """Answers so far, which are asked for again: the same values stand in many rows."""

    def covers(self, rule: str, value: bytes, path: str) -> bool:
        """Whether a value of a rule may stand in a file."""
        if not self.permits:
            return False
        key = (rule, value, path)
        if key not in self.known:
            if len(self.known) > 1 << 16:
                self.known.clear()
            self.known[key] = any(permit.covers(rule, value, path) for permit in self.permits)
        return self.known[key]


def read_denied(paths: Iterable[Path]) -> DenyList:
    """Lines `NAME` and `path: GLOB`; `#` begins a comment. ArtifactError when a file cannot be read."""
    names: list[str] = []
    globs: list[str] = []
    bad: list[tuple[str, int]] = []
    for path in paths:
        for number, line in _lines(path):
            kind, colon, rest = line.partition(":")
            if colon and kind.strip() == "path" and rest.strip():
                globs.append(rest.strip())
            elif len(line) < 2 or not _LETTER.search(line) or line.lower() in _RESERVED or set('"\\') & set(line):
                bad.append((path.name, number))
            else:
                names.append(line)
    return DenyList(names=tuple(names), paths=tuple(globs), bad=tuple(bad))


def read_allowed(path: Path) -> AllowList:
    """Lines `RULE KIND:WHAT -- REASON`; empty when there is no such file."""
    if not path.is_file():
        return AllowList()
    permits: list[_Permit] = []
    bad: list[tuple[str, int]] = []
    for number, line in _lines(path):
        match = _ALLOWED.fullmatch(line)
        permit = match and _Permit(rule=match["rule"], kind=match["kind"], what=match["what"])
        if permit and _usable(permit):
            permits.append(permit)
        else:
            bad.append((path.name, number))
    return AllowList(permits=tuple(permits), bad=tuple(bad))


def _usable(permit: _Permit) -> bool:
    if permit.kind == "sha256":
        return re.fullmatch(rf"[0-9a-fA-F]{{{_LEAST_HASH},64}}", permit.what) is not None
    if permit.kind == "re":
        try:
            re2.compile(permit.what.encode())
        except re2.error:
            return False
    return not (permit.rule == "*" and permit.kind in ("re", "path") and permit.what.strip("*.^$+") == "")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise ArtifactError(f"cannot read {path}: {error.strerror}", hint="a deny list has one name a line") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.strip()
