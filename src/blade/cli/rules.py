"""`blade rules`: the catalog of rules, or the page of one."""

from __future__ import annotations

from typing import Annotated

import typer

from blade.cli.console import show
from blade.model.errors import RequestError


def rules(
    code: Annotated[str | None, typer.Argument(metavar="[CODE]", help="A rule's code, for example BEH003.")] = None,
) -> None:
    """Every rule in a line, or one rule's page: what it sees, why it matters, what to do, its limits.

    Example: blade rules BEH003
    """
    from blade.rules.catalog import all_rules, page

    known = all_rules()
    if code is None:
        show(f"{rule.code}  {rule.scope:<8} {rule.status:<8} {rule.message}" for rule in known)
        return
    found = next((rule for rule in known if rule.code == code.upper()), None)
    if found is None:
        raise RequestError(f"no rule has the code {code!r}", hint="known: " + ", ".join(rule.code for rule in known))
    show(page(found))
