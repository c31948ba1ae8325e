"""What `sanitize` found, without a single value: counts by rule with files and lines, as text, JSON and checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from blade.model.check import Check
from blade.package.layout import CLEARANCE, find_package
from blade.package.sanitize.lists import DENY
from blade.package.sanitize.rule import SanitizeGroup, SanitizeRule
from blade.report.text import printable

MOST_LINES = 20
"""So many lines of a file are listed; all are counted."""
_MOST_FILES_SHOWN = 10
_MOST_LINES_SHOWN = 8
_MESSAGES = {
    SanitizeGroup.SECRETS: "no secrets and no tokens",
    SanitizeGroup.ENDPOINTS: "no private addresses and host names",
    SanitizeGroup.PATHS: "no paths with names of users",
    SanitizeGroup.PEOPLE: "no e-mail addresses and user names",
    SanitizeGroup.SOURCE: "no private source and nothing that cannot be looked into",
    SanitizeGroup.NAMES: "no names of the deny list",
}
_FIX = "blade package sanitize DIR lists them; --output makes a redacted copy; what is deliberate goes into sanitize.allow with a reason"
_FIXES = {SanitizeGroup.SECRETS: f"revoke them first, they are out; then: {_FIX}"}
_CLEARANCE_LINE = re.compile(r"[\s>*_`-]*(?P<name>cleared|licen[cs]e)[\s*_`]*:[\s*_`]*(?P<value>[^\n]*)", re.IGNORECASE)
_YES = re.compile(
    r"yes\b[\s*_`.,;:()-]*(?:(?:by|under|with)\b)?\s*(?:the\s+)?(?:licen[cs]e)?[\s:]*(?P<licence>.*)", re.IGNORECASE
)
_UNDECIDED = re.compile(r"(?:todo|tbd|tba|unknown|none|n/?a|pending|\?+|\.+|<.*|\[.*|name)?[\s*_`.)]*", re.IGNORECASE)
_SIGNS = " *_`.()"


class FileCount(Struct, frozen=True, kw_only=True):
    """What a rule found in one file."""

    file: str
    count: int
    lines: tuple[int, ...]
    """The first lines, each once; empty where the name of the file, or the file as such, is meant."""

    @property
    def first(self) -> str:
        """`file:line` of the first."""
        return f"{self.file}:{self.lines[0]}" if self.lines else self.file


class RuleCount(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a rule found."""

    rule: str
    group: SanitizeGroup
    says: str
    count: int
    different: int
    """How many values there are when equal ones count once."""
    domains: int | None = None
    """How many domains they are in, for e-mail addresses."""
    files: tuple[FileCount, ...]


class SanitizeReport(Struct, frozen=True, kw_only=True):
    """What was looked at and what was found."""

    files: int
    lines: int
    bytes: int
    counts: tuple[RuleCount, ...]
    """By group, then by rule."""
    allowed: int
    """How many matches the allow list covers."""
    unseen: tuple[str, ...]
    """Images, and folders of caches or history (with `/` at the end): they are in no rule's reach."""
    left_out: tuple[str, ...]
    """Files that a redacted copy does not hold."""
    clearance: Check

    @property
    def found(self) -> int:
        """How much must not be shared; a missing clearance counts."""
        return sum(count.count for count in self.counts) + (self.clearance.passed is False)


class _Values(Struct):
    count: int = 0
    lines: dict[str, list[int]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    values: set[int] = field(default_factory=set)
    domains: set[int] = field(default_factory=set)


class SanitizeTally:
    """Counts while files are read. Of a value it keeps the hash that a set needs, for as long as it counts."""

    def __init__(self) -> None:
        self._rules: dict[str, tuple[SanitizeRule, _Values]] = {}

    def add(self, rule: SanitizeRule, file: str, line: int | None, value: bytes) -> None:
        """Count a value of a rule."""
        _, seen = self._rules.setdefault(rule.name, (rule, _Values()))
        seen.count += 1
        seen.counts[file] = seen.counts.get(file, 0) + 1
        seen.values.add(hash(value))
        if rule.name == "email":
            seen.domains.add(hash(value.rpartition(b"@")[2].lower()))
        lines = seen.lines.setdefault(file, [])
        if line is not None and len(lines) < MOST_LINES and line not in lines[-1:]:
            lines.append(line)

    def counts(self, order: Iterable[SanitizeRule]) -> tuple[RuleCount, ...]:
        """All rules that found something, in the order of groups and then of rules."""
        ranks = {name: number for number, name in enumerate(dict.fromkeys(rule.name for rule in order))}
        groups = list(SanitizeGroup)
        counts = [
            RuleCount(
                rule=rule.name,
                group=rule.group,
                says=rule.says,
                count=seen.count,
                different=len(seen.values),
                domains=len(seen.domains) if rule.name == "email" else None,
                files=tuple(
                    FileCount(file=file, count=count, lines=tuple(seen.lines[file]))
                    for file, count in sorted(seen.counts.items())
                ),
            )
            for rule, seen in self._rules.values()
        ]
        return tuple(
            sorted(counts, key=lambda one: (groups.index(one.group), ranks.get(one.rule, len(ranks)), one.rule))
        )


def clearance(folder: Path) -> Check:
    """Whether the rollouts of a package are cleared for sharing: `cleared: yes` and a licence; None without rollouts."""
    message = "rollout data is cleared for sharing"
    if not folder.is_dir() or not find_package(folder).rollouts:
        return Check(code="S.clearance", passed=None, message=message, found="there are no rollouts")
    path, fault = folder / CLEARANCE, ""
    if not path.is_file():
        fault = "is not there"
    else:
        try:
            cleared, licence = _cleared(path.read_text(encoding="utf-8-sig", errors="replace"))
        except OSError:
            fault = "cannot be read"
        else:
            if cleared is not True:
                fault = "has no line `cleared: yes`" if cleared is None else "does not say yes"
            elif not licence:
                fault = "does not say by which licence"
    return Check(
        code="S.clearance",
        passed=not fault,
        message=message,
        found=f"{CLEARANCE} {fault or 'says yes and names a licence'}",
        fix=f"ask the owner of the data; then write `cleared: yes` and `licence: NAME` into {CLEARANCE}, a line each"
        if fault
        else "",
    )


def _cleared(text: str) -> tuple[bool | None, str]:
    """Whether a text says that data are cleared (None when it says nothing), and the licence; one `no` outweighs."""
    answers: list[bool] = []
    licence = ""
    for match in filter(None, map(_CLEARANCE_LINE.match, text.split("\n"))):
        value = match["value"].strip(_SIGNS)
        if match["name"].lower() == "cleared":
            yes = _YES.match(value)
            answers.append(yes is not None)
            value = yes["licence"].strip(_SIGNS) if yes else ""
        licence = licence or ("" if _UNDECIDED.fullmatch(value) else value)
    return (all(answers) if answers else None), licence


def sanitize_checks(found: SanitizeReport) -> tuple[Check, ...]:
    """What `validate` asks: one check a group, and the clearance of the rollouts; no value is in any of them."""
    checks = []
    for group, message in _MESSAGES.items():
        parts = []
        for count in (count for count in found.counts if count.group is group):
            many, name = "s" if count.domains != 1 else "", printable(count.files[0].first)
            different = f" ({count.different:,} different)" if count.different != count.count else ""
            domains = f" in {count.domains:,} domain{many}" if count.domains is not None else ""
            parts.append(f"{count.rule}: {count.count:,} {count.says}{different}{domains}, first {name}")
        checks.append(
            Check(
                code=f"S.{group}",
                passed=not parts,
                message=message,
                found="; ".join(parts) or f"none in {found.files:,} files, {found.lines:,} lines",
                fix=_FIXES.get(group, _FIX) if parts else "",
            )
        )
    return (*checks, found.clearance)


def report_lines(found: SanitizeReport) -> Iterator[str]:
    """Counts by rule with files and lines, then what was not looked at."""
    yield f"looked at {_many(found.files, 'file')}, {_many(found.lines, 'line')}, {found.bytes / 1e6:,.1f} MB"
    for count in found.counts:
        yield ""
        different = f", {count.different:,} different" if count.different != count.count else ""
        domains = f", in {_many(count.domains, 'domain')}" if count.domains is not None else ""
        yield f"{count.group}: {count.rule}: {count.count:,} {count.says}{different}{domains}"
        yield from (f"  {_in_file(one)}" for one in count.files[:_MOST_FILES_SHOWN])
        if len(count.files) > _MOST_FILES_SHOWN:
            yield f"  and {len(count.files) - _MOST_FILES_SHOWN:,} more files"
    yield ""
    if found.clearance.passed is False:
        yield f"clearance: {found.clearance.found}"
        yield f"  {found.clearance.fix}"
    if found.allowed:
        yield f"{found.allowed:,} matches are allowed by sanitize.allow"
    if DENY in found.left_out:
        yield f"{DENY} spells the names out: share the folder without it, or keep it elsewhere and pass --deny"
    if found.unseen:
        folders = [name for name in found.unseen if name.endswith("/")]
        yield f"not looked at: {_many(len(found.unseen) - len(folders), 'image')}, {_many(len(folders), 'folder')} of caches or history"
    total = sum(count.count for count in found.counts)
    if found.found == 0:
        yield "nothing found"
    elif total:
        yield f"{total:,} found by {_many(len(found.counts), 'rule')}: not to be shared as it is"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _in_file(one: FileCount) -> str:
    name = printable(one.file)
    if not one.lines:
        return name
    shown = ", ".join(map(str, one.lines[:_MOST_LINES_SHOWN]))
    more = ", ..." if len(one.lines) > _MOST_LINES_SHOWN else ""
    return f"{name}:{shown}{more} ({one.count:,})" if one.count > 1 else f"{name}:{shown}"


def as_json(found: SanitizeReport) -> dict[str, Any]:
    """All counts, and the checks."""
    return {
        "files": found.files,
        "lines": found.lines,
        "bytes": found.bytes,
        "found": found.found,
        "allowed": found.allowed,
        "rules": msgspec.to_builtins(found.counts),
        "checks": msgspec.to_builtins(sanitize_checks(found)),
        "not_looked_at": list(found.unseen),
        "left_out_of_a_copy": list(found.left_out),
    }
