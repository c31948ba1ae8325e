"""Commands that a page of a skill or of the docs tells its reader to type, and whether they exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

_FENCE = re.compile(r"^(```+)(?P<kind>\w*)\n(?P<body>.*?)^\1$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_SHELL = ("", "bash", "sh", "console")
_REMARK = re.compile(r"\s#\s.*")
_OURS = ("blade", "gym", "blade_toolkit.py")
_ENDS = ("|", ">", "&&", "||", ";")
_RUNNERS = ("uv", "run", "python", "$")


def commands(text: str) -> list[list[str]]:
    """Every command of ours in code blocks and in spans of code, taken apart as a shell does."""
    blocks = [match["body"] for match in _FENCE.finditer(text) if match["kind"] in _SHELL]
    spans = _SPAN.findall(_FENCE.sub("", text))
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [words for line in (*lines, *spans) if (words := _ours(line))]


def _ours(line: str) -> list[str]:
    """The words from the name of our command on; none when it is somebody else's."""
    try:
        words = shlex.split(_REMARK.sub("", line))
    except ValueError:
        return []
    words = words[: next((at for at, word in enumerate(words) if word in _ENDS), len(words))]
    while words and words[0] in _RUNNERS:
        words.pop(0)
    if not words:
        return []
    name = words[0].rpartition("/")[2]
    known = name in _OURS and len(words) > 1
    return [name, *words[1:]] if known else []


def refusals(words: list[str]) -> Iterator[str]:
    """What is wrong with a command: a name that there is not, or an option that its help does not know."""
    command, rest = _top(words[0]), words[1:]
    while getattr(command, "commands", None) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        if name == "...":
            return
        if name not in command.commands:
            yield f"{shlex.join(words)}: no command {name!r}"
            return
        command = command.commands[name]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in rest:
        option = word.partition("=")[0]
        if option.startswith("-") and option not in known | {"-h", "--help"}:
            yield f"{shlex.join(words)}: no option {option!r}"


@cache
def _top(name: str) -> Any:
    from typer.main import get_command

    from blade.cli.main import command_line
    from blade.cli.package import app as package
    from blade_gym.cli import app as gym

    return get_command({"blade": command_line(), "gym": gym, "blade_toolkit.py": package}[name])
