"""Writes `src/blade/modes/measured.json`: precision and recall of each failure mode on data whose failures are known.

python -m proof.measure_modes                                          the planted faults of proof/results.md
python -m proof.measure_modes --labels FILE --run RUN [--beside RUN]   and a run that was labelled by hand

FILE is CSV with the columns `task_id` and `mode_code`. Sets that are not measured again keep their figures, so that the
command works where the labelled runs are not at hand.
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
        what="planted faults with field names drawn at random",
        seen=False,
        modes=dict(sorted(modes.items())),
    )


def _length(rest: str) -> int:
    """Rows of the table, which ends at an empty line."""
    lines = rest.splitlines()[2:]
    return next((n for n, line in enumerate(lines) if not line.startswith("|")), len(lines))


def labelled(labels: Path, run: Path, beside: Path | None) -> MeasuredSet:
    """A labelled run, analyzed together with another run of its tasks where there is one."""
    import blade

    with labels.open(newline="") as lines:
        truth = {row["task_id"]: row["mode_code"] for row in csv.DictReader(lines)}
    runs = [blade.load_run(path) for path in (run, beside) if path is not None]
    first = blade.analyze(*runs).runs[0]
    if first.attributions is None:
        raise SystemExit(f"{run}: nothing was attributed")
    table = first.attributions.table
    said = {task: mode for task, mode in table.select("task_id", "mode").iter_rows() if mode is not None}
    return MeasuredSet(
        name=labels.stem,
        short="hand-labelled failures",
        what=f"{len(truth)} failures of a terminal run, labelled by hand (these labels were seen in development)",
        seen=True,
        modes=_figures(truth, said),
    )


def _figures(truth: dict[str, str], said: dict[str, str]) -> dict[str, ModeFigures]:
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
) -> None:
    """Measure, and write the file that comes with the package."""
    fresh = [planted(RESULTS.read_text())]
    if labels is not None and run is not None and labels.exists() and run.exists():
        fresh.append(labelled(labels, run, beside))
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
