"""Measures BLADE against a bare decode of the same bytes: `python perf/run.py [--gb 1] [--quick]`.

For each kind of file (see generate.py), in one run and on two cores:

- the floor: one core, `orjson.loads` on every line, nothing else; before and after, averaged
- `blade analyze FILE --json` and the same with `--metrics-only`: wall time, and its ratio to the floor after the fixed
  cost (the same command on a 100-row file) is taken off
- the peak memory of all its processes together (PSS), in a run of its own, against 150 MB a process, 500 bytes a rollout
  and 40 bytes a check; at 0.5 and at 2 times the size too, with what a further rollout takes
- `blade analyze FOLDER --json` on run folders of many small files (see folders.py)

Every line shows its target and whether it is met; the exit code is 1 if one is not. Files are made in perf/data and
removed afterwards.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import folders
import generate
from memory import Measured, measure, timed
from msgspec import Struct

HERE = Path(__file__).parent
CORES = 2
FEW_ROWS = 100
RATIO_TARGETS = {"conversations": 2.5, "small": 2.5, "logs": 3.0, "graded": 3.0}
METRICS_ONLY_TARGET = 1.0
FIXED_TARGET = 1.0
MEMORY_A_PROCESS = 150_000_000
MEMORY_A_ROLLOUT = 500
MEMORY_A_CHECK = 40
CHECKS_A_ROW = {"graded": 20}  # on average
FOLDERS = (("files", 2_000), ("files", 10_000), ("terminal-bench", 5_000), ("harbor", 5_000))
FOLDER_TARGET = 10.0  # seconds
GROWTH = (0.5, 2.0)  # times the size
GROWTH_KINDS = ("small", "conversations", "graded")  # many light rows, heavy ones, and ones with many checks

FLOOR = """
import gzip, io, sys, time
import orjson
path = sys.argv[1]
if path.endswith(".gz"):
    source = gzip.open(path, "rb")
elif path.endswith(".zst"):
    import zstandard
    source = io.BufferedReader(zstandard.open(path, "rb"), 1 << 20)
else:
    source = open(path, "rb")
start = time.perf_counter()
for line in source:
    try:
        orjson.loads(line)
    except ValueError:
        pass
print(time.perf_counter() - start)
"""


class Line(Struct, frozen=True, kw_only=True):
    kind: str
    what: str
    measured: str
    target: str = ""
    met: bool | None = None  # None where there is no target

    def cells(self) -> tuple[str, ...]:
        verdict = {True: "met", False: "NOT MET", None: ""}[self.met]
        return (self.kind, self.what, self.measured, self.target, verdict)


class Bench(Struct, frozen=True, kw_only=True):
    blade: tuple[str, ...]
    folder: Path
    size: int  # bytes of a file
    compress: str | None = None

    def command(self, path: Path, *options: str) -> list[str]:
        return [*self.blade, "analyze", str(path), *options, "--json"]

    @contextmanager
    def file(self, kind: str, times: float = 1.0, rows: int | None = None) -> Iterator[tuple[Path, int]]:
        """A file of the kind and the number of its rows; it is gone afterwards."""
        path = self.folder / f"{times:g}x{rows or ''}" / generate.file_name(kind, self.compress)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            written = generate.write(path, kind, int(self.size * times), rows=rows)
            settle(path)
            yield path, written
        finally:
            path.unlink(missing_ok=True)
            path.parent.rmdir()


def settle(path: Path) -> None:
    """Waits until the file is on disk: its pages stay cached, and no writing goes on while we measure."""
    with path.open("rb") as written:
        os.fsync(written.fileno())


def floor_seconds(path: Path) -> float:
    output = subprocess.run([sys.executable, "-c", FLOOR, str(path)], check=True, capture_output=True, text=True).stdout
    return float(output)


def typical(command: list[str]) -> Measured:
    """The middle one of three runs by time, for what is short; the first one that fails, if one does."""
    runs = sorted((timed(command) for _ in range(3)), key=lambda run: run.seconds)
    return next((run for run in runs if run.failure), runs[1])


def help_line(bench: Bench) -> Line:
    run = typical([*bench.blade, "--help"])
    if run.failure:
        return failed("", "blade --help", run)
    return Line(kind="", what="blade --help", measured=f"{run.seconds:.2f} s")


def failed(kind: str, what: str, run: Measured) -> Line:
    return Line(kind=kind, what=what, measured=run.failure or "", target="exit 0", met=False)


def kind_lines(bench: Bench, kind: str) -> Iterator[Line]:
    with bench.file(kind, rows=FEW_ROWS) as (few, _):
        fixed = typical(bench.command(few))
        fixed_metrics = typical(bench.command(few, "--metrics-only"))
    with bench.file(kind) as (path, rows):
        before = floor_seconds(path)
        full = measure(bench.command(path))
        metrics = measure(bench.command(path, "--metrics-only"))
        floor = (before + floor_seconds(path)) / 2
    speed = bench.size / 1e9 / floor
    yield Line(kind=kind, what=f"orjson.loads, {rows} rows", measured=f"{floor:.2f} s ({speed:.2f} GB/s)")
    yield from command_lines(kind, "analyze", full, fixed, floor, RATIO_TARGETS.get(kind), rows)
    yield from command_lines(kind, "metrics only", metrics, fixed_metrics, floor, METRICS_ONLY_TARGET, rows)


def below(kind: str, what: str, value: float, target: float | None, unit: str) -> Line:
    if target is None:
        return Line(kind=kind, what=what, measured=f"{value:.2f} {unit}")
    return Line(
        kind=kind,
        what=what,
        measured=f"{value:.2f} {unit}",
        target=f"<= {target:.2f} {unit}",
        met=value <= target,
    )


def command_lines(
    kind: str, what: str, run: Measured, fixed: Measured, floor: float, target: float | None, rows: int
) -> Iterator[Line]:
    """What one command took on the big file, beside what it takes on a few rows."""
    if run.failure or fixed.failure:
        yield failed(kind, what, run if run.failure else fixed)
        return
    yield below(kind, f"{what}, fixed cost ({FEW_ROWS} rows)", fixed.seconds, FIXED_TARGET, "s")
    yield Line(kind=kind, what=f"{what}, wall time", measured=f"{run.seconds:.2f} s")
    yield below(kind, f"{what}, without fixed cost", (run.seconds - fixed.seconds) / floor, target, "x floor")
    yield memory_line(kind, what, run, rows)


def memory_line(kind: str, what: str, run: Measured, rows: int) -> Line:
    if run.peak is None or run.largest is None:
        return Line(kind=kind, what=f"{what}, peak memory", measured="not measured here (no /proc)")
    of_a_row = MEMORY_A_ROLLOUT + MEMORY_A_CHECK * CHECKS_A_ROW.get(kind, 0)
    allowed = MEMORY_A_PROCESS * run.processes + of_a_row * rows
    return Line(
        kind=kind,
        what=f"{what}, peak memory (PSS), working processes: {run.processes}",
        measured=f"{run.peak / 1e6:.0f} MB, largest {run.largest / 1e6:.0f} MB",
        target=f"<= {allowed / 1e6:.0f} MB",
        met=run.peak <= allowed,
    )


def growth_lines(bench: Bench, kind: str) -> Iterator[Line]:
    """Time and memory at half and at twice the size, and what a further rollout takes between them."""
    runs = []
    for times in GROWTH:
        with bench.file(kind, times=times) as (path, rows):
            run = measure(bench.command(path))
        gigabytes = bench.size * times / 1e9
        what = f"analyze, {gigabytes:g} GB, {rows} rows"
        if run.failure:
            yield failed(kind, what, run)
            return
        runs.append((rows, run))
        yield Line(kind=kind, what=what, measured=f"{run.seconds:.2f} s ({gigabytes / run.seconds:.2f} GB/s)")
        yield memory_line(kind, f"analyze, {gigabytes:g} GB", run, rows)
    (few, small), (many, large) = runs
    if small.peak is not None and large.peak is not None:
        slope = (large.peak - small.peak) / (many - few)
        yield Line(kind=kind, what="memory that a further rollout takes", measured=f"{slope:.0f} bytes")


def folder_lines(bench: Bench) -> Iterator[Line]:
    """Run folders of many small files: what it takes must grow with their number, and not with its square."""
    for shape, trials in FOLDERS:
        folder = bench.folder / f"{shape}-{trials}"
        try:
            files = folders.write(folder, shape, trials)
            run = timed(bench.command(folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        what = f"analyze, {files:,} small files"
        yield failed(shape, what, run) if run.failure else below(shape, what, run.seconds, FOLDER_TARGET, "s")


def all_lines(bench: Bench, kinds: list[str], growth_kinds: list[str], *, with_folders: bool) -> Iterator[Line]:
    yield help_line(bench)
    for kind in kinds:
        yield from kind_lines(bench, kind)
    for kind in growth_kinds:
        yield from growth_lines(bench, kind)
    if with_folders:
        yield from folder_lines(bench)


HEADINGS = ("kind", "what", "measured", "target", "")
WIDTHS = (13, 50, 30, 16, 7)


def print_row(cells: tuple[str, ...]) -> None:
    print("  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip(), flush=True)


def markdown(lines: list[Line], bench: Bench) -> str:
    rows = [HEADINGS, ("---",) * len(HEADINGS), *(line.cells() for line in lines)]
    table = "\n".join("| " + " | ".join(cells) + " |" for cells in rows)
    return (
        "# Speed and memory, measured\n\n"
        f"Written by `python perf/run.py --write`; {bench.size / 1e9:g} GB a file, {machine()}. Floor: one core, "
        "`orjson.loads` on every line. Memory: PSS, the sum over all processes.\n\n" + table + "\n"
    )


def machine() -> str:
    return f"{CORES} cores, {platform.machine()}, Python {platform.python_version()}"


def use_cores(count: int) -> None:
    """Keeps this process and all that it starts on a few cores, so that results compare between machines."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure BLADE against a bare decode.")
    parser.add_argument("--gb", type=float, default=1.0, help="size of a file (default 1)")
    parser.add_argument("--quick", action="store_true", help="0.1 GB, growth of one kind: a glance, not a measurement")
    parser.add_argument("--kinds", nargs="+", choices=generate.KINDS, default=list(generate.KINDS))
    parser.add_argument("--no-folders", action="store_true", help="leave out run folders of many small files")
    parser.add_argument("--compress", choices=("gz", "zst"))
    parser.add_argument("--folder", type=Path, default=HERE / "data", help="where files are made (default perf/data)")
    parser.add_argument("--blade", default=str(Path(sys.executable).with_name("blade")), help="the command to measure")
    parser.add_argument("--write", action="store_true", help="also write perf/results.md")
    return parser.parse_args()


def main() -> int:
    options = parse()
    blade = shlex.split(options.blade)
    if not shutil.which(blade[0]):
        print(f"error: no such command: {blade[0]}\nhint: make setup, or name it with --blade", file=sys.stderr)
        return 2
    use_cores(CORES)
    # An installed BLADE has its bytecode; a shell that keeps none would have each process compile every module again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    bench = Bench(
        blade=tuple(blade),
        folder=options.folder,
        size=int((0.1 if options.quick else options.gb) * 1e9),
        compress=options.compress,
    )
    growth = [kind for kind in GROWTH_KINDS if kind in options.kinds][: 1 if options.quick else None]
    lines = []
    print_row(HEADINGS)
    for line in all_lines(bench, options.kinds, growth, with_folders=not options.no_folders):
        print_row(line.cells())
        lines.append(line)
    with suppress(OSError):  # somebody else's files keep the folder
        bench.folder.rmdir()
    if options.write:
        (HERE / "results.md").write_text(markdown(lines, bench), encoding="utf-8")
    return int(any(line.met is False for line in lines))


if __name__ == "__main__":
    sys.exit(main())
