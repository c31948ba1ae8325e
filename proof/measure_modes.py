"""Writes `src/blade/modes/measured.json`: precision and recall of each failure mode on data whose failures are known.

python -m proof.measure_modes                                          the planted faults of proof/results.md
python -m proof.measure_modes --labels FILE --run RUN [--beside RUN]   and a run that was labelled by hand

FILE is CSV with the columns `task_id` and `mode_code`; `a|b` where the reader's words do not tell two modes apart, and
`side` 1 for a failure of the run beside it. `--what` names the run in words. Sets that are not measured again keep their
figures, so that the command works where the labelled runs are not at hand.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from blade.modes.measured import Measured, MeasuredSet, ModeFigures

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "blade" / "modes" / "measured.json"
RESULTS = ROOT / "proof" / "results.md"
HEAD = "| mode | n | said rightly | said wrongly |"


def planted(page: str) -> MeasuredSet:
    """The table of modes of `proof/results.md`, which `make docs` writes."""
    _, found, rest = page.partition(HEAD)
    if not found:
        raise SystemExit(f"{RESULTS} has no table of modes; run `make docs`")
    rows = [line.strip("| ").split(" | ") for line in rest.splitlines()[2:] if line.startswith("|")]
    modes = {}
    for code, n, right, wrong, *_ in rows[: _length(rest)]:
        modes[code] = ModeFigures(n=int(n), right=int(right), wrong=int(wrong))
    return MeasuredSet(
        name="planted faults",
        short="planted faults",
        what="planted faults with field names drawn at random (such faults were at hand in development)",
        seen=True,
        modes=dict(sorted(modes.items())),
    )


def _length(rest: str) -> int:
    """Rows of the table, which ends at an empty line."""
    lines = rest.splitlines()[2:]
    return next((n for n, line in enumerate(lines) if not line.startswith("|")), len(lines))


Place = tuple[int, str]
"""The run, 0 or 1 for the one beside it, and the task."""


def labelled(labels: Path, run: Path, beside: Path | None, what: str) -> MeasuredSet:
    """A labelled run, analyzed together with another run of its tasks where there is one."""
    import blade

    with labels.open(newline="") as lines:
        truth = {(int(row.get("side") or 0), row["task_id"]): row["mode_code"] for row in csv.DictReader(lines)}
    runs = [blade.load_run(path) for path in (run, beside) if path is not None]
    said: dict[Place, str] = {}
    for side, one in enumerate(blade.analyze(*runs).runs):
        if one.attributions is None:
            raise SystemExit(f"{one.run.name}: nothing was attributed")
        rows = one.attributions.table.select("task_id", "mode").drop_nulls().iter_rows()
        said |= {(side, task): mode for task, mode in rows}
    return MeasuredSet(
        name=labels.stem,
        short="hand-labelled failures",
        what=f"{len(truth)} failures of {what}, labelled by hand (these labels were seen in development)",
        seen=True,
        modes=_figures(truth, said),
    )


def _figures(labels: dict[Place, str], said: dict[Place, str]) -> dict[str, ModeFigures]:
    named = {place: label.split("|") for place, label in labels.items()}
    truth = {place: said[place] if said.get(place) in codes else codes[0] for place, codes in named.items()}
    n, right = Counter(truth.values()), Counter(mode for task, mode in truth.items() if said.get(task) == mode)
    given = Counter(said[task] for task in truth if task in said)
    return {
        code: ModeFigures(n=n[code], right=right[code], wrong=given[code] - right[code])
        for code in sorted({*n, *given} - {"unattributed"})
    }


def main(
    labels: Annotated[Path | None, typer.Option(help="CSV with task_id and mode_code.")] = None,
    run: Annotated[Path | None, typer.Option(help="The labelled run.")] = None,
    beside: Annotated[Path | None, typer.Option(help="Another run of its tasks.")] = None,
    what: Annotated[str, typer.Option(help="The run in words.")] = "a terminal run",
) -> None:
    """Measure, and write the file that comes with the package."""
    fresh = [planted(RESULTS.read_text())]
    if labels is not None and run is not None and labels.exists() and run.exists():
        fresh.append(labelled(labels, run, beside, what))
    elif labels is not None:
        print("labelled run not at hand: its figures are kept", file=sys.stderr)
    old = msgspec.json.decode(TARGET.read_bytes(), type=Measured).sets if TARGET.exists() else ()
    names = {one.name for one in fresh}
    made = Measured(sets=(*fresh, *(one for one in old if one.name not in names)))
    TARGET.write_bytes(msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")
    for one in made.sets:
        print(f"{one.name}: {len(one.modes)} modes, {sum(each.n for each in one.modes.values()):,} rollouts")


if __name__ == "__main__":
    typer.run(main)
