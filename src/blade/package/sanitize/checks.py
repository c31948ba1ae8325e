"""What `validate` asks: a check for each group of rules."""

from __future__ import annotations

from blade.model.check import Check
from blade.package.layout import Package
from blade.package.sanitize.found import Count, Sanitized
from blade.package.sanitize.rules import Group
from blade.package.sanitize.sanitizing import sanitize
from blade.report.text import printable

_MESSAGES = {
    Group.SECRETS: "no secrets and no tokens",
    Group.ENDPOINTS: "no private addresses and host names",
    Group.PATHS: "no paths with names of users",
    Group.PEOPLE: "no e-mail addresses and user names",
    Group.SOURCE: "no private source and nothing that cannot be looked into",
    Group.NAMES: "no names of the deny list",
}
_FIX = "blade package sanitize DIR lists them; --output makes a redacted copy; what is deliberate goes into sanitize.allow with a reason"
_FIXES = {Group.SECRETS: f"revoke them first, they are out; then: {_FIX}"}


def sanitize_checks(package: Package) -> tuple[Check, ...]:
    """One check a group, and the clearance of the rollouts; no value is in any of them."""
    return checks_of(sanitize(package.folder))


def checks_of(found: Sanitized) -> tuple[Check, ...]:
    """The checks of what was found."""
    return (*(_check(group, found) for group in _MESSAGES), found.clearance)


def _check(group: Group, found: Sanitized) -> Check:
    counts = [count for count in found.counts if count.group is group]
    return Check(
        code=f"S.{group}",
        passed=not counts,
        message=_MESSAGES[group],
        found="; ".join(map(summary, counts)) if counts else f"none in {found.files:,} files, {found.lines:,} lines",
        fix=_FIXES.get(group, _FIX) if counts else "",
    )


def summary(count: Count) -> str:
    """`email: 412 e-mail addresses (37 different) in 3 domains, first rollouts/a.jsonl:3`."""
    domains = f" in {count.domains:,} domain{'s' if count.domains != 1 else ''}" if count.domains is not None else ""
    different = f" ({count.different:,} different)" if count.different != count.count else ""
    return f"{count.rule}: {count.count:,} {count.says}{different}{domains}, first {printable(count.files[0].place)}"
