"""Writes the example runs: `python examples/generate.py [--out FOLDER] [--seed N]`.

The files are made by scripts, not by models; README.md in this folder says what is planted in them. The same seed
gives the same bytes. Only the standard library is used.
"""

from __future__ import annotations

import argparse
import heapq
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aggregate import aggregate_metrics
from arithmetic import arithmetic_rows
from desk_policy import AGENT, CLOCK, PROFILES, Profile, dumps, input_row, rollout
from desk_tasks import TASKS

Row = dict[str, Any]

REPEATS = 4
IN_PARALLEL = 8


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An attempt that died in the machinery; it is written to the failures file only."""

    model: str
    task_id: str
    repeat: int
    attempt: int
    failure_class: str
    error: str
    terminal: bool = False  # never tried again, so the rollout is missing


FAILURES = (
    Failure(
        model="sparrow-8b",
        task_id="mail-1",
        repeat=0,
        attempt=0,
        failure_class="transient",
        error="ConnectionResetError: the model server closed the connection",
    ),
    Failure(
        model="sparrow-8b",
        task_id="tickets-2",
        repeat=3,
        attempt=0,
        failure_class="timeout_exceeded",
        error="TimeoutError: no reply from the model server within 600 s",
        terminal=True,
    ),
    Failure(
        model="heron-70b",
        task_id="directory-5",
        repeat=2,
        attempt=0,
        failure_class="transient",
        error="HTTPStatusError: 502 Bad Gateway from the model server",
    ),
    Failure(
        model="heron-70b",
        task_id="directory-5",
        repeat=2,
        attempt=1,
        failure_class="transient",
        error="HTTPStatusError: 502 Bad Gateway from the model server",
    ),
)


def failures_of(model: str, task_id: str, repeat: int) -> list[Failure]:
    place = (model, task_id, repeat)
    return [failure for failure in FAILURES if (failure.model, failure.task_id, failure.repeat) == place]


def failure_row(failure: Failure) -> Row:
    index = [task.task_id for task in TASKS].index(failure.task_id)
    row = input_row(TASKS[index], index, failure.repeat) | {"reward": 0.0, "_ng_failure_class": failure.failure_class}
    if failure.attempt:
        row["_ng_attempt_index"] = failure.attempt
    if failure.terminal:
        row["_ng_failure_terminal"] = True
    return row | {"error": failure.error}


def rollout_rows(profile: Profile, seed: int) -> list[Row]:
    """The rows of a run in the order in which they finish: first the run, then what was tried again."""
    first, again = [], []
    for index, task in enumerate(TASKS):
        for repeat in range(REPEATS):
            failures = failures_of(profile.model, task.task_id, repeat)
            if any(failure.terminal for failure in failures):
                continue
            row = rollout(profile, index, repeat, seed)
            if failures:
                again.append(row | {"_ng_attempt_index": len(failures)})
            else:
                first.append(row)
    return in_order_of_completion(first, CLOCK) + in_order_of_completion(again, CLOCK + 3600)


def in_order_of_completion(rows: list[Row], clock: float) -> list[Row]:
    """What a pool of workers would finish first comes first; each row is stamped with its start."""
    free = [float(clock)] * IN_PARALLEL
    finished = []
    for row in rows:
        start = heapq.heappop(free)
        end = start + row["agent_run_time"]
        heapq.heappush(free, end)
        row["response"]["created_at"] = float(int(start))
        finished.append((end, row["_ng_task_index"], row["_ng_rollout_index"], row))
    return [row for *_, row in sorted(finished, key=lambda entry: entry[:3])]


def write_jsonl(path: Path, rows: list[Row]) -> None:
    path.write_text("".join(dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_run(folder: Path, profile: Profile, seed: int) -> None:
    """The rollouts of one agent and the sidecars that NeMo Gym would leave beside them."""
    rows = rollout_rows(profile, seed)
    stem = f"{profile.model}_rollouts"
    inputs = [input_row(task, index, repeat) for index, task in enumerate(TASKS) for repeat in range(REPEATS)]
    failed = [failure_row(failure) for failure in FAILURES if failure.model == profile.model]
    metrics = [{"agent_ref": {"name": AGENT["name"]}, **aggregate_metrics(rows)}]
    write_jsonl(folder / f"{stem}.jsonl", rows)
    write_jsonl(folder / f"{stem}_materialized_inputs.jsonl", inputs)
    write_jsonl(folder / f"{stem}_failures.jsonl", failed)
    (folder / f"{stem}_aggregate_metrics.json").write_text(json.dumps(metrics, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the example runs.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder to write into")
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args()
    desk, plain = options.out / "desk_assistant", options.out / "arithmetic"
    for folder in (desk, plain):
        folder.mkdir(parents=True, exist_ok=True)
    for profile in PROFILES:
        write_run(desk, profile, options.seed)
    write_jsonl(plain / "arithmetic.jsonl", arithmetic_rows(options.seed))


if __name__ == "__main__":
    main()
