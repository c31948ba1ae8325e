"""What is wrong in a config, with the key and the place where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

import msgspec

from blade.model.errors import RequestError

Kind = Literal["file", "override", "inherit", "interpolation", "missing", "server", "reference", "dataset"]


class ConfigProblem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to fix; `key` is dotted and empty where the whole file is meant."""

    kind: Kind
    message: str
    key: str = ""
    hint: str = ""
    file: Path | None = None
    line: int | None = None

    @property
    def text(self) -> str:
        """`file:line: key: what is wrong`, as far as it is known."""
        location = f"{self.file}:{self.line}" if self.line else str(self.file or "")
        return ": ".join(part for part in (location, self.key, self.message) if part)


def refuse(problems: Sequence[ConfigProblem]) -> None:
    """Raise one error that names every problem; nothing where there is none."""
    if not problems:
        return
    hints = list(dict.fromkeys(problem.hint for problem in problems if problem.hint))
    if len(problems) == 1:
        raise RequestError(problems[0].text, hint=" ".join(hints))
    lines = "\n  ".join(problem.text for problem in problems)
    raise RequestError(f"{len(problems)} problems in the config:\n  {lines}", hint="; ".join(hints))


def suggestion(name: str, known: Sequence[str]) -> str:
    """`did you mean X?` for the nearest name, or nothing."""
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else ""
