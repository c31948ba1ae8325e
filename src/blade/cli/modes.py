"""`blade modes`: the catalog of failure modes, or the page of one."""

from __future__ import annotations

from typing import Annotated

import typer

from blade.cli.console import show


def modes(
    code: Annotated[str | None, typer.Argument(metavar="[CODE]", help="A mode, for example agent-crashed.")] = None,
) -> None:
    """Every failure mode in a line, in the order of decision; or one mode's page: evidence, vetoes, false alarms, action.

    Example: blade modes agent-crashed
    """
    from blade.modes.catalog import all_modes, mode_named, page

    if code is None:
        show(f"{mode.code:<22} {mode.group:<15} {mode.party:<15} {mode.row}" for mode in all_modes())
        return
    show(page(mode_named(code.lower())))
