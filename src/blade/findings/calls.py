"""Calls that the key has not."""

from __future__ import annotations

from blade.attribution.groups import FailureGroup
from blade.evidence.context import FindingDraft, RunContext
from blade.findings.examples import verb


def _article(name: str) -> str:
    return "an" if name[:1].lower() in "aeiou" else "a"


def extra(group: FailureGroup, context: RunContext) -> FindingDraft:
    """A change that was not due, alone or beside others that were."""
    alone = f"; in {len(group.alone)} nothing else differs" if group.alone else ""
    return FindingDraft(
        title=f"It makes {_article(group.name)} `{group.name}` call that the key has not",
        what=f"{group.failing.in_words} {verb(group, 'make')} one{alone}.",
        fix=f"before `{group.name}`, have the agent state the facts that allow it and check them against its "
        f"instructions; or let the tool refuse where they do not hold",
        brief=f"a check before `{group.name}`",
        kind="prompt",
    )
