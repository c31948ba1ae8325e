"""Small inputs for tests, in the fewest words: rows as a harness writes them, files of rows, runs read from them."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import zstandard

from blade.ingest.artifacts import find
from blade.ingest.load import load_found
from blade.ingest.steps import read_steps
from blade.model.finding import Detect
from blade.model.limits import DEFAULT_LIMITS
from blade.model.options import Options
from blade.model.rollout import Step
from blade.model.run import Run

Row = dict[str, Any]


def rollout(
    task: str | None = None,
    *,
    passed: bool = False,
    repeat: int | None = None,
    index: int | None = None,
    prompt: str | None = None,
    output: object = None,
    model: str | None = None,
    agent: str | None = None,
    **more: Any,
) -> Row:
    """A row of NeMo Gym; what is not given is not in it, and `more` is put on top."""
    row: Row = {"reward": 1.0 if passed else 0.0, "response": response(output, model=model)}
    row |= {"_ng_task_index": index} if index is not None else {}
    row |= {"_ng_rollout_index": repeat} if repeat is not None else {}
    row |= {"task_id": task} if task is not None else {}
    row |= {"agent_ref": {"name": agent}} if agent is not None else {}
    row |= {"responses_create_params": {"input": prompt}} if prompt is not None else {}
    return row | more


def response(output: object = None, *, model: str | None = None, **more: Any) -> Row:
    """A response whose output is one message, or the items given."""
    items = [said("done")] if output is None else [said(output)] if isinstance(output, str) else output
    return {"output": items} | ({"model": model} if model is not None else {}) | more


def said(text: str, role: str = "assistant") -> Row:
    """A message item."""
    return {"type": "message", "role": role, "content": [{"type": "output_text", "text": text}]}


def call(tool: str, arguments: str = "{}", call_id: str | None = "c1") -> Row:
    """A call of a tool."""
    return {"type": "function_call", "name": tool, "arguments": arguments, "call_id": call_id}


def result(text: object, call_id: str | None = "c1", **more: Any) -> Row:
    """What a tool gave back."""
    return {"type": "function_call_output", "call_id": call_id, "output": text} | more


def without(row: Row, *names: str) -> Row:
    """The row without some of its fields."""
    return {name: value for name, value in row.items() if name not in names}


def write_jsonl(path: Path, rows: Iterable[object]) -> Path:
    """A file of rows; a name that ends in `.gz` or `.zst` is compressed."""
    return write_bytes(path, b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def write_bytes(path: Path, data: bytes) -> Path:
    """A file of bytes, compressed by its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".zst":
        data = zstandard.compress(data)
    path.write_bytes(data)
    return path


def write_eval(path: Path, header: Mapping[str, Any], samples: Sequence[Row]) -> Path:
    """An Inspect archive."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
    return path


def sample(task: str | int, *, epoch: int = 1, value: object = "C", **more: Any) -> Row:
    """A sample of an Inspect log."""
    messages = [{"role": "user", "content": f"Question {task}?"}, {"role": "assistant", "content": "Answer."}]
    score = {"match": {"value": value, "answer": "Answer."}}
    return {"id": task, "epoch": epoch, "input": f"Question {task}?", "messages": messages, "scores": score} | more


def load(*paths: Path | str, detect: Detect | None = None, **options: Any) -> list[Run]:
    """The runs of some paths, under options of these names."""
    limits = options.get("limits", DEFAULT_LIMITS)
    found = find([str(path) for path in paths], options.get("format"), limits=limits)
    return list(load_found(found, Options(workers=1, **options), detect))


def load_rows(folder: Path, *rows: object, **options: Any) -> Run:
    """The one run of some rows, written to `folder/run.jsonl`."""
    (run,) = load(write_jsonl(folder / "run.jsonl", rows), **options)
    return run


def outcomes(run: Run) -> list[str]:
    """Outcomes in order of task and repeat."""
    return run.rollouts["outcome"].to_list()


def places(run: Run, *columns: str) -> list[tuple[Any, ...]]:
    """Task, repeat and other columns of every rollout, in order."""
    return run.rollouts.select("task_id", "repeat", *columns).rows()


def kept_places(run: Run) -> list[tuple[str, int]]:
    """Task and repeat of every rollout that has a row."""
    return run.rollouts.filter(pl.col("artifact").is_not_null()).select("task_id", "repeat").rows()


def reasons(run: Run) -> list[str]:
    """Each problem as `file:line: reason`."""
    return [f"{problem.source}: {problem.reason}" for problem in run.problems]


def task(run: Run, task_id: str) -> Row:
    """One row of the tasks table."""
    return run.tasks.row(by_predicate=pl.col("task_id") == task_id, named=True)


def slice_names(run: Run) -> list[str]:
    """The fields that cut the run's tasks, in order."""
    return [name.removeprefix("slice.") for name in run.tasks.columns if name.startswith("slice.")]


def steps(*items: object) -> tuple[Step, ...]:
    """The steps of a trajectory with these items."""
    return read_steps(json.dumps(list(items)).encode())


def gym_row(task: int, repeat: int, reward: object, *, agent: str = "a", usage: Row | None = None, **more: Any) -> Row:
    """A rollout as NeMo Gym's collector stamps it, with a response that holds only its usage."""
    stamps = {"_ng_task_index": task, "_ng_rollout_index": repeat, "agent_ref": {"name": agent}}
    return {"response": {"usage": usage}, "reward": reward} | more | stamps


def gym_input(task: int, repeat: int, *, agent: str = "a", **more: Any) -> Row:
    """A materialized input."""
    stamps = {"_ng_task_index": task, "_ng_rollout_index": repeat, "agent_ref": {"name": agent}}
    return {"responses_create_params": {"input": f"question {task}"}} | more | stamps


def gym_run(folder: Path, rewards: Sequence[Sequence[object]], name: str = "r", agent: str = "a") -> Path:
    """Rollouts with these rewards, task by task, and their materialized inputs beside them; the rollouts' path."""
    keys = [(task, repeat) for task, mine in enumerate(rewards) for repeat in range(len(mine))]
    write_jsonl(folder / f"{name}_materialized_inputs.jsonl", [gym_input(*key, agent=agent) for key in keys])
    return write_jsonl(
        folder / f"{name}.jsonl", [gym_row(task, repeat, rewards[task][repeat], agent=agent) for task, repeat in keys]
    )
