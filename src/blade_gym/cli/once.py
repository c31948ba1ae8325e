"""Commands whose options of one value refuse a second one: of two benchmarks, none is left out in silence."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand

from blade.model.errors import RequestError


class OptionsOnce(TyperCommand):
    """A command that takes each option once, but for flags and for those that may be given more than once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The rest of the words; raises for an option that is given twice."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for param, times in Counter(one for one in given if _single(one)).items():
            if times > 1:
                name = max(param.opts, key=len)
                raise RequestError(f"{name} is given {times} times", hint=f"one {name} a command; run it once for each")
        return super().parse_args(ctx, args)


def _single(param: Any) -> bool:
    return getattr(param, "param_type_name", "") == "option" and not (param.multiple or param.is_flag)
