"""Writes the parts of the docs that come from the code, and the copies of the skill, so that they cannot drift.

python docs/generate.py           write them
python docs/generate.py skills    write the copies of the skill only
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
REFERENCE = DOCS / "reference"
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))  # `docs` and `proof` are packages of the clone, not of the wheel
MADE = "<!-- Made by docs/generate.py from the code; change the code and run `make docs`. -->"
KINDS = {"str": "TEXT", "int": "N", "float": "X"}
PROOF_SEEDS = range(21, 24)
"""The rules were written with smaller seeds at hand."""
PROOF_TASKS = 100
CALIBRATION_SEEDS = range(1, 9)
PROOF_INTRODUCTION = """How much of the diagnosis is right, on runs with planted faults. [README](README.md) says how the runs are made.

Measured on {tasks} tasks x 4 in each of four worlds, with the seeds {seeds}, at which nobody looked while the rules were written (the kinds of faults were known); boards of models and pairs of runs with the first of them. \
Every field that no documented format fixes has a name drawn at random. \
`python -m proof -o DIR --tasks {tasks} --seed 21 --score` makes and scores one of these runs; the rows that an example names are then in `DIR/<world>`. \
`n` counts tasks for causes and for rules over runs, and rollouts for attributions and for rules over rollouts. \
An attribution is right if it is the planted mode, or one that an expert could name from the same rows; the world of terminal work declares no rules, so none is counted there. \
A *fault* is somebody's doing, *harmless* is an alarm that must not be blamed, and *model* is plain failing of the model; the last two are clean tasks. \
A rule that fires where it may, beside the planted mechanism, counts neither way. \
A harmless string counts as blamed if a rule with direct, statistically supported or consistent evidence fires on it (rules in preview included), or if a benchmark issue or a failure mode rests on it."""
FIELDS_INTRODUCTION = """# Fields and tables

## Which field becomes which

The left column is BLADE's name. The middle column lists the fields of your rows that can fill it: the first that holds a value wins, and a path with dots goes into nested objects. `blade schema` shows what was read from your file, and which fields were not used."""
TABLES_INTRODUCTION = """## The run tables

`blade sql` exposes exactly these tables, sorted by run, task and repeat. A null means that the artifact does not say."""
RULES_INTRODUCTION = """# Rules

Each rule detects one symptom in a rollout, or in a whole run. A *direct* symptom is by itself enough to fail; of an *associated* one, each run says how strongly it goes with failing ([support](../statistics.md#support)). A rule in *preview* is shown apart and decides no cause."""
MODES_INTRODUCTION = """# Failure modes

Every rollout that did not pass has one of these modes, or `unattributed`. They are tried in this order; [Attribution](../attribution.md) says how one is chosen and how sure it is. *Measured* says how often a mode is right where it is given (precision) and how many of its rollouts it finds (recall), on data whose failures are known; `python -m proof.measure_modes` writes these figures."""
VERIFIERS_INTRODUCTION = """# Verifiers

What each verifier checks, the fields that it reads from the task's *row* and from the server's *config*, and the *fields* that it adds to the rollout. [Gym](../gym.md#verifiers) shows how to write your own."""


def main(arguments: Sequence[str]) -> int:
    """Write every generated file, or with `--check` only say which are stale."""
    texts = skill_copies() if list(arguments) == ["skills"] else {**skill_copies(), **generated()}
    stale = [path for path, text in texts.items() if now(path) != text]
    if list(arguments) == ["--check"]:
        for path in stale:
            print(f"stale: {path.relative_to(ROOT)}; run `make docs`", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        write(path, texts[path])
    return 0


def now(path: Path) -> str | None:
    """What a file holds; None when it is not there."""
    return path.read_text("utf-8") if path.is_file() else None


def write(path: Path, text: str | None) -> None:
    """Bring a file up to date; one that has no text any more goes."""
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    print(f"{'wrote' if text is not None else 'removed'} {path.relative_to(ROOT)}")


def skill_copies() -> dict[Path, str | None]:
    """The skill in the folders of each agent, the same in all: real files, because links break in archives."""
    from blade.cli.skill_files import MAIN, TARGETS

    source = ROOT / TARGETS["agents"] / MAIN
    texts = {path.relative_to(source): path.read_text("utf-8") for path in skill_files(source)}
    copies: dict[Path, str | None] = {}
    for target in (ROOT / folder / MAIN for name, folder in TARGETS.items() if name != "agents"):
        copies |= dict.fromkeys(skill_files(target))
        copies |= {target / name: text for name, text in texts.items()}
    return copies


def skill_files(folder: Path) -> list[Path]:
    """The files of a skill, in order; what Python leaves beside a script is none of them."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def generated() -> dict[Path, str]:
    """Every file with generated text, as it ought to read."""
    fields = [FIELDS_INTRODUCTION, fields_table(), TABLES_INTRODUCTION, run_tables()]
    return {
        **json_schemas(),
        DOCS / "tutorial.md": tutorial_page(),
        REFERENCE / "commands.md": command_reference(),
        REFERENCE / "fields.md": "\n\n".join([MADE, *fields]) + "\n",
        REFERENCE / "rules.md": rule_pages(),
        REFERENCE / "modes.md": mode_pages(),
        REFERENCE / "verifiers.md": "\n\n".join([MADE, VERIFIERS_INTRODUCTION, verifier_pages()]) + "\n",
        ROOT / "proof" / "results.md": proof_page(),
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
    return table(("BLADE's name", "read from, first present wins", "meaning"), rows)


def run_tables() -> str:
    """The columns that `blade sql` sees."""
    from blade.model import run
    from blade.model.attribution import ATTRIBUTIONS

    tables: Mapping[str, Mapping[str, tuple[str, str]]] = {
        "rollouts": run.ROLLOUTS,
        "tasks": run.TASKS,
        "checks": run.CHECKS,
        "attributions": ATTRIBUTIONS,
    }
    parts = []
    for name, columns in tables.items():
        rows = [(f"`{column}`", kind, meaning) for column, (kind, meaning) in columns.items()]
        parts.append(f"### `{name}`\n\n{table(('column', 'type', 'meaning'), rows)}")
    return "\n\n".join(parts)


def tutorial_page() -> str:
    """The tutorial with what its commands print, run in a copy of this checkout."""
    import tempfile

    from docs import walk

    page = (DOCS / "tutorial.md").read_text("utf-8")
    steps = walk.steps(page)
    with tempfile.TemporaryDirectory() as name:
        walk.lay_out(Path(name))
        done = walk.walk([step.commands for step in steps], Path(name))
    for step, each in zip(steps, done, strict=True):
        if step.name is not None:
            page = fill(page, step.name, walk.shown(each))
    return page


def rule_pages() -> str:
    """The catalog of rules, each page taken from the docstring of its file."""
    from blade.rules.catalog import all_rules, catalog_page

    _, _, families = catalog_page(all_rules()).strip().partition("\n## ")
    return f"{MADE}\n\n{RULES_INTRODUCTION}\n\n## {families}\n"


def mode_pages() -> str:
    """The catalog of failure modes, each page taken from its file."""
    from blade.modes.catalog import all_modes, catalog_page

    _, _, groups = catalog_page(all_modes()).strip().partition("\n## ")
    return f"{MADE}\n\n{MODES_INTRODUCTION}\n\n## {groups}\n"


def verifier_pages() -> str:
    """Every verifier, taken from the docstring of its file: what it judges, reads and gives."""
    import importlib
    import pkgutil

    from blade_gym import verifiers

    names = sorted(module.name for module in pkgutil.iter_modules(verifiers.__path__))
    modules = [importlib.import_module(f"{verifiers.__name__}.{name}") for name in names]
    return "\n\n".join(f"## {one.__name__.rpartition('.')[2]}\n\n{_sections(one.__doc__ or '')}" for one in modules)


def _sections(text: str) -> str:
    """Paragraphs as they are; a line alone with an indented text below it becomes an item."""
    parts = []
    for part in inspect.cleandoc(text).split("\n\n"):
        head, _, body = part.partition("\n")
        parts.append(f"- **{head}**: {' '.join(body.split())}" if body.startswith("    ") else " ".join(part.split()))
    return "\n\n".join(parts).replace("\n\n- **", "\n- **").replace("\n- **Row", "\n\n- **Row", 1)


def json_schemas() -> dict[Path, str]:
    """The JSON Schema of every file that is written."""
    from blade.json_schemas import schema_texts

    return {DOCS / "schemas" / name: text for name, text in schema_texts().items()}


def proof_page() -> str:
    """What the diagnosis gets right of simulated runs whose faults are known."""
    from proof.score_diagnosis import PAIRS, boards, calibrate, comparisons, prove, rule_names
    from proof.simulate.catalogue import mechanisms
    from proof.simulate.generate import Wanted
    from proof.simulate.score import together
    from proof.simulate.text import beside_documented_names, page

    wanted = Wanted(tasks=PROOF_TASKS, seed=PROOF_SEEDS[0])
    proof = together([prove(PROOF_SEEDS, wanted), boards(wanted), comparisons(wanted, PAIRS)])
    documented = prove(PROOF_SEEDS, Wanted(tasks=PROOF_TASKS, names="documented"))
    calibration = calibrate(CALIBRATION_SEEDS)
    head = [
        MADE,
        "# Measured on planted faults",
        PROOF_INTRODUCTION.format(seeds=_seeds(PROOF_SEEDS), tasks=PROOF_TASKS),
    ]
    head.append(beside_documented_names(proof, documented))
    return "\n\n".join([*head, page(proof, calibration, rule_names(), mechanisms())])


def _seeds(seeds: range) -> str:
    return f"{seeds[0]} to {seeds[-1]}"


def command_reference() -> str:
    """Every command with its arguments, options and help."""
    from typer.main import get_command

    from blade.cli.main import command_line

    top: Any = get_command(command_line())
    parts = [MADE, "# Commands", prose(top.help), options_table(top.params)]
    for name, command in commands(top):
        parts.append(command_page(name if name.startswith("gym ") else f"blade {name}", command))
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
    choices = "|".join(str(choice) for choice in getattr(option.type, "choices", ()))
    kind = option.type.name.removesuffix(" range")
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
