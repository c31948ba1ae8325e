"""How far a run is: a bar with score and time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from blade.report.numbers import score

if TYPE_CHECKING:
    from blade_gym.run.collect import RunProgress

LINES = 10
"""Plain lines of a whole run, about."""


@contextmanager
def watching() -> Iterator[Callable[[RunProgress], None]]:
    """A function to call with each now."""
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

    def advance(self, now: RunProgress) -> None:
        if self._first is None:
            self._first = now.finished - 1
        part = now.finished * LINES // max(1, now.total)
        if part > self._told:
            self._told = part
            left = self._left(now)
            print(f"{now.finished} of {now.total} rollouts; {words(now)}{left}", file=sys.stderr, flush=True)

    def _left(self, now: RunProgress) -> str:
        new = now.finished - (self._first or 0)
        seconds = (time.monotonic() - self._start) / max(1, new) * (now.total - now.finished)
        return f"; {seconds:.0f} s left" if now.finished < now.total else ""


def words(now: RunProgress) -> str:
    """Score and failures so far."""
    said = "no score yet" if now.score is None else f"mean reward {score(now.score)}"
    return said + (f"; {now.failed.total()} failed" if now.failed else "")


@contextmanager
def _bar() -> Iterator[Callable[[RunProgress], None]]:
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

        def advance(now: RunProgress) -> None:
            progress.update(task, completed=now.finished, total=now.total, description=words(now))

        yield advance
