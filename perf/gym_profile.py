"""Measures `gym eval profile` against the method of the reference, on the same rows: `python perf/gym_profile.py`.

5,000 tasks x 16 rollouts are made in perf/data and removed afterwards. Measured in one run and one process, in CPU seconds:

- ours: from rows to statistics, and with reading
- the reference's method where pandas is at hand: a groupby with a function a task that describes every field and makes
  a histogram of it; with reading by orjson. pandas is no dependency: where it is missing, this is said
- the same statistics by a plain loop over tasks, without pandas, for scale

The target is 50 times the reference itself, which took 56.7 s for these 5,000 x 16 rollouts (rows in memory, two cores);
that is printed beside, since another machine's seconds are only a guide. The method alone, without the objects that the
reference makes of each histogram, is the lower bound that can be measured here. The exit code is 1 if both are missed.
"""

from __future__ import annotations

import argparse
import gc
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from blade_gym.profile.groups import in_order
from blade_gym.profile.profile import TWICE, of_rows, profile, read_plan
from blade_gym.profile.rows import read_rollouts

HERE = Path(__file__).parent
TARGET = 50.0
REFERENCE = 56.7
"""Seconds that the reference itself took for 5,000 tasks x 16 rollouts."""
SEED = 7


def write_run(folder: Path, tasks: int, repeats: int) -> tuple[Path, Path]:
    """Rollouts in the order in which a collector finishes them, and their inputs."""
    chance = random.Random(SEED)
    keys = [(task, repeat) for task in range(tasks) for repeat in range(repeats)]
    inputs = folder / "r_materialized_inputs.jsonl"
    inputs.write_bytes(b"".join(orjson.dumps(planned(*key)) + b"\n" for key in keys))
    easy = [chance.random() for _ in range(tasks)]
    lines = [orjson.dumps(rollout(*key, easy[key[0]], chance)) + b"\n" for key in keys]
    chance.shuffle(lines)
    rollouts = folder / "r.jsonl"
    rollouts.write_bytes(b"".join(lines))
    return rollouts, inputs


def planned(task: int, repeat: int) -> dict[str, Any]:
    asked = {"input": [{"role": "user", "content": f"question {task}"}]}
    stamps = {"_ng_task_index": task, "_ng_rollout_index": repeat, "agent_ref": {"name": "simple_agent"}}
    return {"responses_create_params": asked, "expected_answer": str(task), **stamps}


def rollout(task: int, repeat: int, easy: float, chance: random.Random) -> dict[str, Any]:
    passed = chance.random() < easy
    tokens = {"input_tokens": chance.randrange(100, 900), "output_tokens": chance.randrange(10, 400)}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"answer {repeat}"}]}
    usage = tokens | {"total_tokens": sum(tokens.values())}
    mine = {"response": {"output": [said], "usage": usage}, "reward": float(passed), "correct": passed}
    return planned(task, repeat) | mine | {"seconds": chance.random() * 60}


def decoded(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def numbers(row: dict[str, Any]) -> dict[str, Any]:
    whole = row | (row["response"].get("usage") or {})
    return {name: value + 0 for name, value in whole.items() if isinstance(value, int | float)}


def by_pandas(rows: list[dict[str, Any]]) -> object:
    """Statistics and histograms by one call of Python a group and field, and the light rows, as the reference does."""
    import numpy as np
    import pandas as pd

    def describe(group: Any) -> Any:
        histograms = group.apply(lambda column: [np.histogram(column.dropna(), bins=64)], axis=0)
        parts = [group.mean(), group.max(), group.min(), group.median(), group.std(), histograms.iloc[0]]
        return pd.DataFrame(parts, index=["mean", "max", "min", "median", "std", "histogram"]).stack()

    def records(by: str, dropped: str) -> list[dict[str, Any]]:
        made = table.drop(columns=["_ng_rollout_index", dropped]).groupby(by).apply(describe).to_dict("records")
        return [
            {name: value for name, value in one.items() if isinstance(value, tuple) or pd.notna(value)} for one in made
        ]

    ordered = sorted(rows, key=lambda row: (row["_ng_task_index"], row["_ng_rollout_index"]))
    light = [numbers(row) | {"agent": row["agent_ref"]["name"]} for row in ordered]
    infos: dict[int, list[dict[str, Any]]] = {}
    for row in light:
        infos.setdefault(int(row["_ng_task_index"]), []).append(dict(row))
    table = pd.DataFrame.from_records(light)
    return records("_ng_task_index", "agent"), records("agent", "_ng_task_index"), infos


def by_loop(rows: list[dict[str, Any]]) -> object:
    """The five statistics of every field of every task, with nothing but lists."""
    tasks: dict[int, dict[str, list[float]]] = {}
    for row in rows:
        mine = tasks.setdefault(row["_ng_task_index"], {})
        for name, value in numbers(row).items():
            mine.setdefault(name, []).append(value)
    return [{name: list(five(values)) for name, values in mine.items()} for mine in tasks.values()]


def five(values: list[float]) -> Iterator[float]:
    yield statistics.fmean(values)
    yield max(values)
    yield min(values)
    yield statistics.median(values)
    yield statistics.stdev(values)


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """CPU time of the quickest of some runs: what else the machine does is not counted."""
    taken = []
    for _ in range(times):
        gc.collect()
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def measure(rollouts: Path, inputs: Path) -> bool | None:
    """Prints every line; whether the target is met, None where the reference's method cannot be run here."""
    rows, _ = in_order(read_rollouts([rollouts]), TWICE)
    plan = read_plan(inputs, [], rows)
    ours = seconds(lambda: of_rows(rows, plan, Counter(), 1.0), 3)
    whole = seconds(lambda: profile(rollouts, inputs), 3)
    print(f"ours, from rows: {ours:.2f} s; with reading: {whole:.2f} s")
    itself = REFERENCE * len(rows) / 80_000
    print(f"the reference itself, elsewhere, scaled to these rows: {itself:.1f} s, {itself / ours:.0f} times ours")
    raw = decoded(rollouts)
    loop = seconds(lambda: by_loop(raw))
    print(f"a plain loop over tasks, from rows: {loop:.2f} s, {loop / ours:.1f} times ours")
    if find_spec("pandas") is None:
        print("the reference's method: not measured, pandas is not at hand")
        return None
    reading = seconds(lambda: (decoded(rollouts), decoded(inputs)))
    theirs = seconds(lambda: by_pandas(raw))
    print(f"the reference's method, from rows: {theirs:.1f} s, {theirs / ours:.0f} times ours (target {TARGET:.0f})")
    print(f"with reading: {theirs + reading:.1f} s, {(theirs + reading) / whole:.0f} times ours")
    return max(theirs, itself) / ours >= TARGET


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure gym eval profile against the reference's method.")
    parser.add_argument("--tasks", type=int, default=5_000)
    parser.add_argument("--repeats", type=int, default=16)
    options = parser.parse_args()
    (HERE / "data").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=HERE / "data"))
    try:
        rollouts, inputs = write_run(folder, options.tasks, options.repeats)
        print(f"{options.tasks} tasks x {options.repeats} rollouts, {rollouts.stat().st_size / 1e6:.0f} MB")
        return int(measure(rollouts, inputs) is False)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
