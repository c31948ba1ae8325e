"""Help as plain text that is readable at 80 columns: options and commands in groups, the usual ones first.

The groups are Typer's `rich_help_panel`s. They are written plainly, because tables of boxes cut names at 80 columns and
what draws them takes longer to load than all commands.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

ADVANCED = "Advanced"
"""The group of options that most people never need; it comes last."""
SETTINGS: dict[str, Any] = {
    "no_args_is_help": True,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""What every group of commands is made with."""


class PlainCommand(TyperCommand):
    """A command whose options stand in groups."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Arguments as they are typed, without the braces that Typer puts around those that are required."""
        return [piece.removeprefix("{").removesuffix("}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, options, then the groups that options are put into, in the order in which they first appear."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                usual = "Options" if param.param_type_name == "option" else "Arguments"
                sections.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(record)
        for name, records in sections.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


class PlainGroup(TyperGroup):
    """A group whose commands stand in groups of their own, each with the whole of its short help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Commands first: they are what one looks for."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            if not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or "Commands"
                sections.setdefault(panel, []).append((name, command.get_short_help_str(limit=200)))
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)
        records = [record for param in self.get_params(ctx) if (record := param.get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl(records)


def app(name: str, about: str) -> typer.Typer:
    """A group of commands with help like this."""
    return typer.Typer(name=name, help=about, cls=PlainGroup, add_completion=False, **SETTINGS)
