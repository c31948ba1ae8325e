"""What was found, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blade.package.sanitize.checks import checks_of
from blade.package.sanitize.found import Count, InFile, Sanitized
from blade.package.sanitize.lists import DENY
from blade.report.text import printable

_MOST_FILES = 10
_MOST_LINES = 8


def text(found: Sanitized) -> Iterator[str]:
    """Counts by rule with files and lines, then what was not looked at."""
    yield f"looked at {_many(found.files, 'file')}, {_many(found.lines, 'line')}, {found.bytes / 1e6:,.1f} MB"
    for count in found.counts:
        yield ""
        yield _head(count)
        yield from (f"  {_places(one)}" for one in count.files[:_MOST_FILES])
        if len(count.files) > _MOST_FILES:
            yield f"  and {len(count.files) - _MOST_FILES:,} more files"
    yield ""
    yield from _rest(found)


def _rest(found: Sanitized) -> Iterator[str]:
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


def _head(count: Count) -> str:
    different = f", {count.different:,} different" if count.different != count.count else ""
    domains = f", in {_many(count.domains, 'domain')}" if count.domains is not None else ""
    return f"{count.group}: {count.rule}: {count.count:,} {count.says}{different}{domains}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _places(one: InFile) -> str:
    name = printable(one.file)
    if not one.lines:
        return name
    shown = ", ".join(map(str, one.lines[:_MOST_LINES]))
    more = ", ..." if len(one.lines) > _MOST_LINES else ""
    return f"{name}:{shown}{more} ({one.count:,})" if one.count > 1 else f"{name}:{shown}"


def as_json(found: Sanitized) -> dict[str, Any]:
    """All counts, and the checks."""
    return {
        "files": found.files,
        "lines": found.lines,
        "bytes": found.bytes,
        "found": found.found,
        "allowed": found.allowed,
        "rules": [_rule(count) for count in found.counts],
        "checks": [
            {"code": one.code, "passed": one.passed, "message": one.message, "found": one.found, "fix": one.fix}
            for one in checks_of(found)
        ],
        "not_looked_at": list(found.unseen),
        "left_out_of_a_copy": list(found.left_out),
    }


def _rule(count: Count) -> dict[str, Any]:
    domains = {} if count.domains is None else {"domains": count.domains}
    return {
        "rule": count.rule,
        "group": str(count.group),
        "says": count.says,
        "count": count.count,
        "different": count.different,
        **domains,
        "files": [{"file": one.file, "count": one.count, "lines": list(one.lines)} for one in count.files],
    }
