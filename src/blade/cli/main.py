"""The `blade` command. Commands import what they need when they run, so that `--help` is instant."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import typer

from blade.cli import console
from blade.cli.help import SETTINGS, PlainCommand, PlainGroup
from blade.ingest.workers import rare_sweeps
from blade.model.errors import BladeError

ABOUT = "From rollouts, offline: which tasks failed, how each failure failed, how sure the score is, what to fix first."
_DAILY, _BENCHMARK, _CUSTOM = "Every day", "Across runs and benchmarks", "Rules, packages, agents"

COMMANDS: Mapping[str, tuple[str, str, str]] = {
    "analyze": ("blade.cli.analyze:analyze", _DAILY, "Measure and diagnose runs: scores, failures, what to do first."),
    "compare": ("blade.cli.compare:compare", _DAILY, "Why did the score change?"),
    "explain": ("blade.cli.explain:explain", _DAILY, "One task: passing against failing repeats."),
    "show": ("blade.cli.show:show", _DAILY, "Read one rollout in order."),
    "sql": ("blade.cli.sql:sql", _DAILY, "Ask the run tables anything."),
    "schema": ("blade.cli.schema:schema", _DAILY, "What is each field of the rows taken for, and why?"),
    "try": (
        "blade.cli.try_rule:try_rule",
        _DAILY,
        "Test a hunch: where does a rule hold, and does it go with failing?",
    ),
    "health": ("blade.cli.health:health", _BENCHMARK, "Is the benchmark itself sound?"),
    "gate": ("blade.cli.gate:gate", _BENCHMARK, "Pass or stop a candidate in CI, by exit code."),
    "history": ("blade.cli.history:history", _BENCHMARK, "Scores and failure modes over time."),
    "audit": ("blade.cli.audit:audit", _BENCHMARK, "Does a report say what the data says?"),
    "modes": ("blade.cli.modes:modes", _CUSTOM, "Every failure mode in a line, or the page of one."),
    "rules": ("blade.cli.rules:rules", _CUSTOM, "Every rule in a line, or the page of one."),
    "attribute": ("blade.cli.attribute:attribute", _CUSTOM, "Say what went wrong in a rollout that you read."),
    "sample": ("blade.cli.sample:sample", _CUSTOM, "Draw rollouts to read at random."),
    "label": ("blade.cli.label:label", _CUSTOM, "Record your own verdict on a task."),
    "package": ("blade.cli.package:app", _CUSTOM, "Make, check, score and share a benchmark's package."),
    "skill": ("blade.cli.skill:app", _CUSTOM, "Put BLADE's agent skill into a project."),
    "gym": ("blade_gym.cli:app", _CUSTOM, "Prepare and run benchmarks: the command `gym`."),
}
"""Where each command stands, its group and its line in the help, in the order of the help."""


def command_line(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """`blade` with these of its commands: working out the options of all takes longer than many a command."""
    app = typer.Typer(name="blade", help=ABOUT, cls=PlainGroup, **SETTINGS)
    app.callback()(common)
    for name in names:
        location, panel, about = COMMANDS[name]
        module, _, attribute = location.partition(":")
        command = getattr(import_module(module), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, short_help=about, rich_help_panel=panel)
        else:
            app.command(name, cls=PlainCommand, short_help=about, rich_help_panel=panel)(command)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from blade import __version__

        typer.echo(f"blade {__version__}")
        raise typer.Exit


def common(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and stop."
    ),
) -> None:
    """From rollouts, offline: which tasks failed, how each failure failed, how sure the score is, what to fix first."""


def main() -> None:
    """Run `blade`."""
    try:
        with rare_sweeps():
            run(command_line(_asked(sys.argv)), "blade")
    finally:
        # The process ends: what a last search for cycles would free is freed anyway.
        gc.freeze()


def _asked(words: Sequence[str]) -> Iterable[str]:
    """The command that is typed, where its name comes first; else all, of which one may be meant."""
    return words[1:2] if words[1:2] and words[1] in COMMANDS else COMMANDS


def run(command: typer.Typer, name: str) -> None:
    """Run a command under its name; a request that cannot be served ends with two lines and exit code 2."""
    console.guard()
    if hasattr(signal, "SIGPIPE"):
        # A reader that has seen enough ends us, as it ends any other command.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # Tables that are no longer needed go back to the system soon. It must stand before polars is imported.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:50,muzzy_decay_ms:0")
    # Nothing here multiplies matrices; threads that could, started when numpy is imported, take a while and memory.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        try:
            command(prog_name=name)
        finally:
            sys.stdout.flush()
    except BladeError as error:
        _refuse(error.message, error.hint)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except OSError as error:
        _refuse(f"the output cannot be written: {error.strerror or error}", "is the disk full?")


def _refuse(message: str, hint: str) -> NoReturn:
    console.refuse(message, hint)
    # What is left in the buffer could not be written and must not be tried again at exit.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(2)
