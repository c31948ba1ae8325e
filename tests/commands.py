"""Commands of `blade` in this process, for tests that run many of them."""

from __future__ import annotations

from typing import NamedTuple

from typer.testing import CliRunner

from blade.cli.main import COMMANDS, command_line
from blade.model.errors import BladeError

OWN = [name for name in COMMANDS if name != "gym"]


class Done(NamedTuple):
    out: str
    error: str
    code: int


def command(*words: object) -> Done:
    """A command as it is typed; a request that is refused gives its message and hint."""
    done = CliRunner().invoke(command_line(OWN), [str(word) for word in words])
    if isinstance(done.exception, BladeError):
        return Done(done.output, f"{done.exception.message} ({done.exception.hint})", 2)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Done(done.stdout, done.stderr, done.exit_code)
