"""Runs the commands of a page as a reader types them: in one shell, in a copy of what they need, without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
NEEDED = (".agents", ".codex", "docs/tutorial", "examples/desk_assistant", "pyproject.toml")
LONGEST = 600
"""Seconds for a whole page."""
MOST_PASSES = 3
"""Lines of passing checks that a long output shows in a row."""
LONG = 20
_STEP = re.compile(
    r"^```bash\n(?P<commands>.*?)^```\n(?:\n<!-- begin generated: (?P<name>[\w-]+) -->)?", re.MULTILINE | re.DOTALL
)
_STAMP = re.compile(r"\d{8}T\d{6}Z")


class Step(Struct, frozen=True, kw_only=True):
    """A block of commands, and what its output is called; None when it is not shown."""

    commands: str
    name: str | None = None


class Done(Struct, frozen=True, kw_only=True):
    """What a step printed, and how its last command ended."""

    output: str
    code: int


def steps(page: str) -> list[Step]:
    """The blocks of commands of a page, in order."""
    return [Step(commands=found["commands"], name=found["name"]) for found in _STEP.finditer(page)]


def lay_out(folder: Path) -> None:
    """A checkout in which `make setup` was done, as far as commands can tell."""
    for name in NEEDED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, target)
    (folder / ".venv").symlink_to(sys.prefix, target_is_directory=True)


def walk(commands: Sequence[str], folder: Path) -> list[Done]:
    """Run blocks of commands one after the other; what one sets the next one knows."""
    work = folder / ".walk"
    work.mkdir()
    lines = []
    for number, text in enumerate(commands):
        (work / f"{number}.sh").write_text(text, "utf-8")
        lines.append(f". .walk/{number}.sh > .walk/{number}.out 2>&1; echo $? > .walk/{number}.code")
    subprocess.run(["bash", "-c", "\n".join(lines)], cwd=folder, env=environment(), check=True, timeout=LONGEST)
    return [
        Done(output=(work / f"{number}.out").read_text("utf-8"), code=int((work / f"{number}.code").read_text("utf-8")))
        for number in range(len(commands))
    ]


def environment() -> dict[str, str]:
    """The tools of this interpreter's environment first, this checkout's code, nothing from a network."""
    dropped = ("VIRTUAL_ENV", "UV_PROJECT", "UV_PROJECT_ENVIRONMENT", "CONDA_PREFIX")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    path = os.pathsep.join((str(Path(sys.prefix) / "bin"), kept.get("PATH", os.defpath)))
    return kept | {"PATH": path, "PYTHONPATH": str(ROOT / "src"), "UV_OFFLINE": "1", "NO_COLOR": "1", "COLUMNS": "110"}


def shown(done: Done) -> str:
    """Output as a page shows it: long runs of passing checks are cut, the time of day is not kept."""
    lines = _STAMP.sub("TIME", done.output).rstrip().split("\n")
    kept: list[str] = []
    passes = 0
    long = len(lines) > LONG
    for line in [*lines, ""]:
        passing = long and line.startswith("[PASS]")
        if passing and passes >= MOST_PASSES:
            passes += 1
            continue
        if not passing and passes > MOST_PASSES:
            kept.append(f"... {passes - MOST_PASSES} more that pass")
        passes = passes + 1 if passing else 0
        kept.append(line)
    ending = [f"(exit code {done.code})"] if done.code else []
    return "\n".join(["```text", *kept[:-1], *ending, "```"])
