"""A person's verdicts on tasks: a file of one row a task, matched to runs by what the task is, not by its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from blade.files import write_lines
from blade.ingest.jsonl import Torn, records
from blade.model.diagnosis import Label
from blade.model.errors import ArtifactError, RequestError
from blade.model.finding import Cause
from blade.model.run import Run

_FIELDS = ("task_id", "cause", "note", "id_mark", "key_fp", "prompt_fp")


def read_labels(path: Path) -> tuple[Label, ...]:
    """The labels of a file, in its order; raises with file and line where one cannot be used."""
    try:
        return tuple(_label(record.data, f"{path}:{record.line}") for record in records(path) if record.data)
    except (OSError, Torn) as error:
        hint = "`blade label` writes such a file"
        raise ArtifactError(f"cannot read labels from {path}: {error}", hint=hint) from None


def _label(line: bytes, where: str) -> Label:
    try:
        row = json.loads(line)
        cause = Cause(row["cause"]) if row["cause"] is not None else None
        return Label(
            task_id=str(row["task_id"]),
            id_mark=row.get("id_mark"),
            key_fp=row.get("key_fp"),
            prompt_fp=row.get("prompt_fp"),
            cause=cause,
            note=str(row.get("note") or ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        hint = f"a row is {{task_id, cause, note}}; causes are {', '.join(map(str, Cause))}"
        raise ArtifactError(f"{where} is no label", hint=hint) from None


def label_of(run: Run, task_id: str, cause: Cause | None, note: str) -> Label:
    """A label for a task of a run, with the marks by which other runs know it."""
    rows = run.tasks.filter(pl.col("task_id") == task_id)
    if rows.is_empty():
        raise RequestError(f"run {run.name} has no task {task_id!r}", hint="`blade analyze` lists the tasks")
    task = rows.row(0, named=True)
    marks = {name: task[name] for name in ("id_mark", "key_fp", "prompt_fp")}
    return Label(task_id=task_id, cause=cause, note=note.encode(errors="replace").decode(), **marks)


def write_label(path: Path, label: Label) -> int:
    """Add a label to a file, in place of an earlier one of the same task; returns how many the file then has."""
    earlier = read_labels(path) if path.exists() else ()
    kept = [one for one in earlier if (one.task_id, one.key_fp) != (label.task_id, label.key_fp)]
    write_lines(path, [{name: getattr(each, name) for name in _FIELDS} for each in (*kept, label)])
    return len(kept) + 1


def labels_for(run: Run, labels: Sequence[Label]) -> dict[str, Label]:
    """The labels that are about tasks of a run: the same key, else the same prompt, else the same id where neither is known."""
    found: dict[str, Label] = {}
    if not labels:
        return found
    for task_id, id_mark, key, prompt in run.tasks.select("task_id", "id_mark", "key_fp", "prompt_fp").iter_rows():
        for label in labels:
            if _is_about(label, task_id, id_mark, key, prompt):
                found[task_id] = label
    return found


def _is_about(label: Label, task_id: str, id_mark: str | None, key: int | None, prompt: int | None) -> bool:
    if label.key_fp is not None and key is not None:
        return label.key_fp == key and (label.id_mark is None or id_mark is None or label.id_mark == id_mark)
    if label.prompt_fp is not None and prompt is not None:
        return label.prompt_fp == prompt
    return label.task_id == task_id
