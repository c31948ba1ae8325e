"""Commands and groups of `gym`: help in groups, an option of one value once, and names for what is not known."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import typer

from blade.cli.help import SETTINGS, PlainCommand, PlainGroup
from blade.model.errors import RequestError


class OptionsOnce(PlainCommand):
    """A command that takes each option once, but for flags and for those that may be given more than once.

    Of two benchmarks, none is left out in silence.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The rest of the words; raises for an option that is given twice."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for param, times in Counter(one for one in given if _takes_one_value(one)).items():
            if times > 1:
                name = max(param.opts, key=len)
                raise RequestError(f"{name} is given {times} times", hint=f"one {name} a command; run it once for each")
        return super().parse_args(ctx, args)


def _takes_one_value(param: Any) -> bool:
    return getattr(param, "param_type_name", "") == "option" and not (param.multiple or param.is_flag)


class CommandGroup(PlainGroup):
    """A group that answers an unknown name with what it has, or with what may have been meant."""

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


def group(about: str, cls: type[CommandGroup] = CommandGroup) -> typer.Typer:
    """A group of commands of `gym`."""
    return typer.Typer(help=about, cls=cls, **SETTINGS)


@contextmanager
def closed_connections_raise() -> Iterator[None]:
    """A client or server that closes its end is an error of that request; by default SIGPIPE would end the process."""
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGPIPE, before)
