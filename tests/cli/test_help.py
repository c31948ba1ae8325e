"""Help that is read at 80 columns, and completion."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from blade.cli.main import COMMANDS, command_line

ROOT = Path(__file__).parents[2]
OWN = [name for name in COMMANDS if name != "gym"]


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


ALL = dict(commands(get_command(command_line(OWN))))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_is_readable_at_80_columns(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command = ALL[path]
    told = CliRunner().invoke(command_line(OWN), [*path, "--help"]).output
    assert max(map(len, told.split("\n"))) <= 80
    assert "..." not in re.sub(r"[\w\]]\.\.\.|\"SELECT \.\.\.\"", "", told), "nothing is cut"
    for option in (param for param in command.params if param.param_type_name == "option" and not param.hidden):
        for name in option.opts:
            assert re.search(rf"^  .*{name}\b", told, re.MULTILINE), name
        assert option.help, f"{option.name} has no help"
    if not hasattr(command, "commands"):
        assert f"Example: blade {' '.join(path)}" in " ".join(told.split())


def test_usual_commands_and_options_come_first() -> None:
    told = CliRunner().invoke(command_line(), ["--help"]).output
    heads = re.findall(r"^(\S.*):$", told, re.MULTILINE)
    assert heads == ["Every day", "Across runs and benchmarks", "Rules, packages, agents", "Options"]
    names = re.findall(r"^  ([a-z]+)  ", told, re.MULTILINE)
    assert names[0] == "analyze"
    assert sorted(names) == sorted(COMMANDS)
    told = CliRunner().invoke(command_line(OWN), ["analyze", "--help"]).output
    assert told.index("--out") < told.index("\nAdvanced:") < told.index("--workers")


def completed(instruction: str, words: str = "", shell: str = "bash") -> str:
    variables = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1), "_TYPER_COMPLETE_ARGS": words}
    program = [sys.executable, "-c", "from blade.cli.main import main; main()"]
    environment = {**os.environ, "_BLADE_COMPLETE": f"{instruction}_{shell}", **variables}
    return subprocess.run(program, env=environment, capture_output=True, text=True, check=False).stdout


def test_shells_complete_commands_and_options() -> None:
    assert completed("complete", "blade ana").split() == ["analyze"]
    assert "--metrics-only" in completed("complete", "blade analyze --met").split()
    assert "validate" in completed("complete", "blade package va").split()
    assert '"analyze"' in completed("complete", "blade ana", shell="zsh")


def test_gym_completes_too() -> None:
    variables = {"_GYM_COMPLETE": "complete_bash", "COMP_WORDS": "gym eval pre", "COMP_CWORD": "2"}
    program = [sys.executable, "-c", "from blade_gym.cli import main; main()"]
    done = subprocess.run(program, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["prepare"]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_script_of_a_shell_can_be_had(shell: str) -> None:
    script = completed("source", shell=shell)
    assert "_BLADE_COMPLETE=complete_" in script
    known = (
        subprocess.run([shell, "-n"], input=script, text=True, capture_output=True, check=False)
        if shell == "bash"
        else None
    )
    assert known is None or known.returncode == 0, known.stderr
