"""`make proof`: make runs with planted faults, and say how much of them the diagnosis gets right. For developers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.model.errors import BladeError, RequestError

if TYPE_CHECKING:
    from proof.simulate.generate import Made

SEEDS = 4
"""Runs with symptoms of each kind, made to calibrate support and headroom."""


def simulate(
    out: Annotated[str, typer.Option("-o", "--out", metavar="DIR", help="Where the runs go: a folder for each world.")],
    world: Annotated[str, typer.Option(metavar="NAME", help="single, tools, code, terminal or all.")] = "all",
    tasks: Annotated[int, typer.Option(metavar="N", min=1, help="Tasks in each world.")] = 80,
    repeats: Annotated[int, typer.Option(metavar="N", min=3, help="Rollouts of each task.")] = 4,
    share: Annotated[
        float, typer.Option(metavar="X", min=0.0, max=1.0, help="Share of tasks in which something is planted.")
    ] = 0.6,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same bytes.")] = 1,
    plant: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Plant this mechanism only; repeatable. proof/results.md names them all."),
    ] = None,
    clean: Annotated[
        bool, typer.Option("--clean", help="Plant nothing: only an honest model, hard and easy tasks.")
    ] = False,
    names: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="Names of the fields that no format fixes: random (drawn by the seed), or documented by some verifier.",
        ),
    ] = "random",
    score: Annotated[
        bool, typer.Option("--score", help="Analyze what was made; print and write how much is right.")
    ] = False,
) -> None:
    """Make runs with planted faults: rollouts that `blade analyze` reads, and beside them what is true of them.

    Example: python -m proof -o proof-runs --world tools --score
    """
    from proof.simulate.generate import Wanted, generate
    from proof.simulate.names import NAMES

    if not out:
        raise RequestError("the output folder has no name", hint="-o DIR; is a variable unset?")
    if clean and plant:
        raise RequestError("--clean plants nothing, and --plant names something", hint="leave one of them out")
    chosen = next((one for one in NAMES if one == names), None)
    if chosen is None:
        raise RequestError(f"no names are called {names!r}", hint=f"one of {', '.join(NAMES)}")
    wanted = Wanted(
        world=world,
        tasks=tasks,
        repeats=repeats,
        share=share,
        seed=seed,
        plant=tuple(plant or ()),
        clean=clean,
        names=chosen,
    )
    made = generate(wanted)
    if not made:
        raise RequestError(f"{', '.join(plant or ())} does not fit {world}", hint="--world all")
    _write(made, Path(out))
    for one in made:
        print(f"{Path(out) / one.world}: {len(one.truth.runs)} run(s); what is true stands in {one.world}_truth.json")
    if score:
        _score(made, Path(out), seed)


def _write(made: tuple[Made, ...], out: Path) -> None:
    from proof.score_diagnosis import write_files

    try:
        for one in made:
            write_files(one.files, out / one.world)
            _clear(out / one.world, one)
        write_files({f"{one.world}_truth.json": one.truth.as_json().encode() for one in made}, out)
    except OSError as error:
        hint = "give a folder that can be written"
        raise RequestError(f"cannot write to {out}: {error.strerror or error}", hint=hint) from None


def _clear(folder: Path, made: Made) -> None:
    """Sidecars that an earlier simulation left, and this one does not have, would be read with its rows."""
    for model in made.truth.runs:
        for path in sorted(folder.glob(f"{model}_rollouts*.jsonl")):
            if path.name not in made.files:
                path.unlink()


def _score(made: tuple[Made, ...], out: Path, seed: int) -> None:
    from proof.score_diagnosis import calibrate, rule_names, scored, write_files
    from proof.simulate.catalogue import mechanisms
    from proof.simulate.score import together
    from proof.simulate.text import as_json, page

    proof = together(scored(one, out / one.world) for one in made)
    calibration = calibrate(range(seed, seed + SEEDS))
    planted = {one.mechanism for world in made for run in world.truth.runs.values() for one in run.tasks.values()}
    worlds = {one.world for one in made}
    used = [one for one in mechanisms() if one.name in planted and one.world in worlds]
    text = page(proof, calibration, rule_names(), used)
    write_files({"proof.json": as_json(proof, calibration).encode(), "proof.md": f"# Proof\n\n{text}".encode()}, out)
    print(f"\n{text}")
    print(f"written: {out / 'proof.md'}, {out / 'proof.json'}")


def main() -> None:
    """Run the command; a request that cannot be served ends with its message and exit code 2."""
    try:
        command_line()()
    except BladeError as error:
        print(f"error: {error.message}\nhint: {error.hint}", file=sys.stderr)
        sys.exit(2)


def command_line() -> typer.Typer:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(simulate)
    return app


if __name__ == "__main__":
    main()
