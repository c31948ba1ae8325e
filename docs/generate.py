"""Writes the parts of the docs that come from the code, so that they cannot drift from it.

python docs/generate.py           write them
python docs/generate.py --check   write nothing; name each stale file and exit 1
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DOCS = Path(__file__).resolve().parent
MADE = "<!-- Made by docs/generate.py from the code; change the code and run `make docs`. -->"
KINDS = {"str": "TEXT", "int": "N", "float": "X"}
PROOF_SEEDS = range(1, 4)
PROOF_TASKS = 100
CALIBRATION_SEEDS = range(1, 9)
PROOF_INTRODUCTION = """What the diagnosis gets right of runs whose faults are known, because `blade simulate` planted them. \
Three worlds: questions with one answer (two models), customer service with tools and a simulated user, code in a sandbox. \
Each has {tasks} tasks x 4 and is made with the seeds {seeds}. In six of ten tasks one mechanism is planted, in varied words and doses; \
the others are easy, hard, or done now and then. The true cause of a task is what an expert would say who reads its rows. \
Where the rows do not settle it, *not settled* is right.

`blade simulate -o DIR --tasks {tasks} --seed 1 --score` makes and scores one of these; the rows that an example names are then in `DIR/<world>`. \
Misses stand here as they are: a mechanism is not made easier because a rule does not see it. \
A *fault* is somebody's doing, an alarm that is *harmless* must not be blamed, and *model* is plain failing of the model; the last two are clean tasks. \
`n` counts tasks for causes and rules over runs, rollouts for rules over rollouts. A rule that fires where it may, beside the mechanism that was planted, counts neither way. \
A harmless string is blamed where a rule graded direct, shown or consistent fires on it, in preview too, or a doubt or a mode rests on it."""


def main(arguments: Sequence[str]) -> int:
    """Write every generated doc, or with `--check` only say which are stale."""
    texts = generated()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text]
    if list(arguments) == ["--check"]:
        for path in stale:
            print(f"stale: docs/{path.name}; run `make docs`", file=sys.stderr)
        return 1 if stale else 0
    for path, text in texts.items():
        if path in stale:
            path.write_text(text, "utf-8")
            print(f"wrote docs/{path.name}")
    return 0


def generated() -> dict[Path, str]:
    """Every file with generated text, as it ought to read."""
    artifacts = (DOCS / "artifacts.md").read_text("utf-8")
    artifacts = fill(artifacts, "fields", fields_table())
    artifacts = fill(artifacts, "tables", run_tables())
    return {
        DOCS / "artifacts.md": artifacts,
        DOCS / "cli.md": command_reference(),
        DOCS / "detectors.md": detector_pages(),
        DOCS / "proof.md": proof_page(),
        DOCS / "verifiers.md": fill((DOCS / "verifiers.md").read_text("utf-8"), "verifiers", verifier_pages()),
    }


def fill(text: str, name: str, body: str) -> str:
    """Replace what stands between the two marker lines of `name`."""
    begin, end = f"<!-- begin generated: {name} -->", f"<!-- end generated: {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise SystemExit(f"error: expected `{begin}` and `{end}` once each")
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{body.strip()}\n{end}{after}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; cells are kept on one line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell(text) for text in line) + " |" for line in lines)


def cell(text: str) -> str:
    """One line, with the column separator escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def fields_table() -> str:
    """Which foreign field becomes which of ours."""
    from blade.ingest import fields

    rows = [(f"`{ours}`", ", ".join(f"`{path}`" for path in paths), meaning) for ours, paths, meaning in fields.table()]
    return table(("ours", "read from, first present wins", "meaning"), rows)


def run_tables() -> str:
    """The columns that `blade sql` sees."""
    from blade.core import run

    tables: Mapping[str, Mapping[str, tuple[str, str]]] = {
        "rollouts": run.ROLLOUTS,
        "tasks": run.TASKS,
        "checks": run.CHECKS,
    }
    parts = []
    for name, columns in tables.items():
        rows = [(f"`{column}`", kind, meaning) for column, (kind, meaning) in columns.items()]
        parts.append(f"### `{name}`\n\n{table(('column', 'type', 'meaning'), rows)}")
    return "\n\n".join(parts)


def detector_pages() -> str:
    """The catalogue of rules, each page taken from the docstring of its file."""
    from blade.detectors import _page
    from blade.diagnose.catalogue import all_rules

    return _page.catalogue(all_rules()).strip() + "\n"


def verifier_pages() -> str:
    """Every verifier, taken from the docstring of its file: what it judges, reads and gives."""
    import importlib
    import pkgutil

    from blade.gym import verifiers

    names = sorted(module.name for module in pkgutil.iter_modules(verifiers.__path__))
    modules = [importlib.import_module(f"{verifiers.__name__}.{name}") for name in names]
    return "\n\n".join(f"### {one.__name__.rpartition('.')[2]}\n\n{_sections(one.__doc__ or '')}" for one in modules)


def _sections(text: str) -> str:
    """Paragraphs as they are; a line alone with an indented text below it becomes an item."""
    parts = []
    for part in inspect.cleandoc(text).split("\n\n"):
        head, _, body = part.partition("\n")
        parts.append(f"- **{head}**: {' '.join(body.split())}" if body.startswith("    ") else " ".join(part.split()))
    return "\n\n".join(parts).replace("\n\n- **", "\n- **").replace("\n- **Row", "\n\n- **Row", 1)


def proof_page() -> str:
    """What the diagnosis gets right of simulated runs whose faults are known."""
    from blade.proof import calibrate, prove, rule_names
    from blade.simulate.catalogue import mechanisms
    from blade.simulate.generate import Wanted
    from blade.simulate.text import page

    proof = prove(PROOF_SEEDS, Wanted(tasks=PROOF_TASKS))
    calibration = calibrate(CALIBRATION_SEEDS)
    head = [MADE, "# Proof", PROOF_INTRODUCTION.format(seeds=_seeds(PROOF_SEEDS), tasks=PROOF_TASKS)]
    return "\n\n".join([*head, page(proof, calibration, rule_names(), mechanisms())])


def _seeds(seeds: range) -> str:
    return f"{seeds[0]} to {seeds[-1]}"


def command_reference() -> str:
    """Every command with its arguments, options and help."""
    from typer.main import get_command

    from blade.cli.main import app

    top: Any = get_command(app)
    parts = [MADE, "# Commands", prose(top.help), options_table(top.params)]
    parts += [command_page(f"blade {name}", command) for name, command in commands(top)]
    return "\n\n".join(part for part in parts if part) + "\n"


def commands(group: Any, prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Commands in the order in which `--help` lists them, those of groups included."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def command_page(name: str, command: Any) -> str:
    """Usage, help and tables of one command."""
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = " ".join(
        [name, *("[OPTIONS]" for _ in command.params[len(arguments) :][:1]), *map(argument_name, arguments)]
    )
    rows = [(f"`{argument_name(argument)}`", argument.help or "") for argument in arguments]
    parts = [f"## {name}", f"```\n{usage}\n```", prose(command.help)]
    parts += [
        table(("argument", "meaning"), rows) if rows else "",
        options_table(command.params),
        prose(command.epilog),
    ]
    return "\n\n".join(part for part in parts if part)


def options_table(parameters: Iterable[Any]) -> str:
    """Options with their defaults; empty when there are none."""
    rows = [
        (
            ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts]) + value_name(option),
            meaning(option),
        )
        for option in parameters
        if option.param_type_name == "option" and not option.hidden and "--help" not in option.opts
    ]
    return table(("option", "meaning"), rows) if rows else ""


def argument_name(argument: Any) -> str:
    """`RUN...`, as the usage line has it."""
    name = (argument.metavar or argument.name or "").strip("[].").upper()
    return name + ("..." if argument.nargs == -1 else "")


def value_name(option: Any) -> str:
    """The kind of value that an option takes; empty for a flag."""
    if option.is_flag:
        return ""
    choices = "|".join(str(choice) for choice in option.type_descriptor.choices or ())
    kind = option.bare_type().removeprefix("list[").removesuffix("]")
    return f" `{option.metavar or choices or KINDS.get(kind, kind.upper())}`"


def meaning(option: Any) -> str:
    """The help of an option, with its default where a user would miss it."""
    default = option.default
    shown = default is not None and not callable(default) and default not in ("", False, (), []) and not option.is_flag
    return (option.help or "") + (f" Default: `{default}`." if shown else "")


def prose(text: str | None) -> str:
    """Help text as Markdown; indented examples become code blocks by themselves."""
    return inspect.cleandoc(text or "").replace("\b\n", "").split("\f", maxsplit=1)[0].strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
