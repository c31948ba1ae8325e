"""Groups of commands that answer an unknown name with the names that they have."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from typer.core import TyperGroup

from blade.model.errors import RequestError


class CommandGroup(TyperGroup):
    """A group that says what it has, or what may have been meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of that name; raises with a suggestion."""
        if args and args[0] not in self.commands:
            raise RequestError(f"`{ctx.command_path}` has no {args[0]}", hint=self.hint(ctx.command_path, args[0]))
        return super().resolve_command(ctx, args)

    def hint(self, path: str, name: str) -> str:
        """What to type instead."""
        close = get_close_matches(name, self.commands, n=1)
        return f"did you mean {path} {close[0]}?" if close else f"it has: {', '.join(self.commands)}"


class ListingGroup(CommandGroup):
    """The listing: what is none of its kinds may be the name of one."""

    def hint(self, path: str, name: str) -> str:
        """What to type instead: the kind, and then the name."""
        if get_close_matches(name, self.commands, n=1):
            return super().hint(path, name)
        kinds = ", ".join(self.commands)
        return f"first what kind of thing: {kinds}; for example {path} benchmarks {name}, or gym search {name}"
