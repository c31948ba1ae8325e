"""How far a run is: a bar with score and time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from blade.report.numbers import score

if TYPE_CHECKING:
    from blade_gym.run.collect import Tally

LINES = 10
"""Plain lines of a whole run, about."""


@contextmanager
def watching() -> Iterator[Callable[[Tally], None]]:
    """A function to call with each tally."""
    if sys.stderr.isatty():
        with _bar() as advance:
            yield advance
    else:
        yield _Lines().advance


class _Lines:
    def __init__(self) -> None:
        self._told = 0
        self._start = time.monotonic()
        self._first: int | None = None

    def advance(self, tally: Tally) -> None:
        if self._first is None:
            self._first = tally.finished - 1
        part = tally.finished * LINES // max(1, tally.total)
        if part > self._told:
            self._told = part
            left = self._left(tally)
            print(f"{tally.finished} of {tally.total} rollouts; {words(tally)}{left}", file=sys.stderr, flush=True)

    def _left(self, tally: Tally) -> str:
        new = tally.finished - (self._first or 0)
        seconds = (time.monotonic() - self._start) / max(1, new) * (tally.total - tally.finished)
        return f"; {seconds:.0f} s left" if tally.finished < tally.total else ""


def words(tally: Tally) -> str:
    """Score and failures so far."""
    said = "no score yet" if tally.score is None else f"mean reward {score(tally.score)}"
    return said + (f"; {tally.failed.total()} failed" if tally.failed else "")


@contextmanager
def _bar() -> Iterator[Callable[[Tally], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from blade.cli.console import behind

    columns = (
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=behind(sys.stderr)), transient=True) as progress:
        task = progress.add_task("starting", total=None)

        def advance(tally: Tally) -> None:
            progress.update(task, completed=tally.finished, total=tally.total, description=words(tally))

        yield advance
