"""A progress bar on a terminal; silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with (done, total); draws only when stderr is a terminal and the work has several parts."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    from blade.cli.console import behind

    with Progress(console=Console(file=behind(sys.stderr)), transient=True) as progress:
        task = progress.add_task(what, total=None, visible=False)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total, visible=total > 1)

        yield advance
