"""Processor time against a bare decode, where other work shares the machine: `python perf/processor_time.py [--gb 0.1]`.

For each kind of file: the processor seconds of `blade analyze FILE --json --workers 1`, less those on 100 rows, in ratio to
those of `orjson.loads` on every line. Half of the ratio is the least that two cores could take. With several commands
(`--blade "python -m before" "python -m after"`) they take turns, so that all meet the same neighbors; of several runs the
shortest counts.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import generate
from run import FEW_ROWS, RATIO_TARGETS, settle

FLOOR = "import sys, orjson\nfor line in open(sys.argv[1], 'rb'):\n    orjson.loads(line)\n"
NOTHING = "import orjson\n"


def processor_seconds(command: Sequence[str]) -> float:
    """User and system time of a command and the processes that it waited for; it must succeed."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"error: {shlex.join(command)} failed")
    return used.ru_utime + used.ru_stime


def ratios(kind: str, folder: Path, size: int, blades: Sequence[str], runs: int) -> list[float]:
    """Of each command, the shortest of some runs in ratio to the floor."""
    few, whole = folder / f"{kind}-few.jsonl", folder / f"{kind}.jsonl"
    generate.write(few, kind, size, rows=FEW_ROWS)
    generate.write(whole, kind, size)
    settle(whole)
    python = [sys.executable, "-c"]
    commands = [[*python, FLOOR, str(whole)], [*python, NOTHING]]
    for blade in blades:
        commands += [[*shlex.split(blade), "analyze", str(path), "--json", "--workers", "1"] for path in (whole, few)]
    taken = [[processor_seconds(command) for command in commands] for _ in range(runs)]
    best = [min(times) for times in zip(*taken, strict=True)]
    floor, *others = (best[place] - best[place + 1] for place in range(0, len(best), 2))
    return [other / floor for other in others]


def main() -> None:
    parser = argparse.ArgumentParser(description="Processor time of one process against a bare decode.")
    parser.add_argument("--gb", type=float, default=0.1, help="size of a file (default 0.1)")
    parser.add_argument("--runs", type=int, default=3, help="of which the shortest counts (default 3)")
    parser.add_argument("--kinds", nargs="+", choices=generate.KINDS, default=list(RATIO_TARGETS))
    parser.add_argument("--blade", nargs="+", default=[str(Path(sys.executable).with_name("blade"))], metavar="COMMAND")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for kind in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            found = ratios(kind, Path(folder), int(options.gb * 1e9), options.blade, options.runs)
        shown = "  ".join(f"{one:6.1f} x floor, half of it {one / 2:5.1f}" for one in found)
        print(f"{kind:14} {shown}  (target on two cores {RATIO_TARGETS.get(kind, '-')})", flush=True)


if __name__ == "__main__":
    main()
