"""The six things that each row of a run should have, counted."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from blade.model.run import Run

TASK_ID_NAMES = ("task_id", "instance_id", "problem_id", "question_id", "sample_id", "uuid", "id", "task_name")
_VERIFIER = re.compile(
    r"verif|verdict|judg|reward_|_reward|scor|correct|pass|fail|test|check|eval|result|status|match|error|feedback|grad"
    r"|rubric|accura|extract|predict|parse|exit|std(?:err|out)|terminat|truncat|resolved|detail|info$|^hit$|^f1$|^wer"
    r"|rouge|bleu|meteor|num_",
    re.IGNORECASE,
)
_NOT_OF_THE_VERIFIER = ("key", "expected", "index", "repeat", "id", "seconds", "cost", "trajectory", "prompt", "reward")
_OF_THE_TASK = ("key", "expected", "script", "slice candidate")


@dataclass(frozen=True, kw_only=True)
class Part:
    """In how many rows something stands, and under which fields."""

    rows: int
    of: int
    fields: tuple[str, ...] = ()

    @property
    def everywhere(self) -> bool:
        return self.rows == self.of > 0

    def __str__(self) -> str:
        said = f"{self.rows:,} of {self.of:,} rows"
        return said + (f" ({', '.join(self.fields[:4])})" if self.fields else "")


@dataclass(frozen=True, kw_only=True)
class RowParts:
    """What the rows of a run have."""

    task_id: Part
    repeat: Part
    repeats: bool
    """Some task has several rows."""
    reward: Part
    output: Part
    verifier: Part
    metadata: Part


def row_parts(run: Run) -> RowParts:
    """The counts of a run, over the rows that could be read."""
    # Rollouts that a sidecar of failures gave are no rows of the file.
    files = [artifact.path for artifact in run.artifacts if artifact.role == "rollouts"]
    rows = run.rollouts.filter(pl.col("artifact").is_in(files))
    read = rows.height
    total = max((field.rows for field in run.schema), default=read)
    shown = (
        (pl.col("steps").fill_null(0) > 0) | pl.col("answer").is_not_null() | (pl.col("agent_chars").fill_null(0) > 0)
    )
    return RowParts(
        task_id=_named(run, total, ("id", "index"), TASK_ID_NAMES),
        repeat=_named(run, total, ("repeat",), ("rollout_id",)),
        repeats=bool(read) and rows["task_id"].n_unique() < total,
        reward=Part(rows=rows["reward"].count(), of=read, fields=_taken_as(run, "reward")),
        output=Part(rows=rows.filter(shown).height, of=read, fields=_taken_as(run, "trajectory")),
        verifier=_verifier(run, read),
        metadata=_most(run, read, _metadata_fields(run)),
    )


def _taken_as(run: Run, *names: str) -> tuple[str, ...]:
    """Fields of the rows that were read as something, by how often they stand."""
    found = [field for field in run.schema if any(_is(field.taken_as, name) for name in names)]
    return tuple(field.path for field in sorted(found, key=lambda field: (-field.seen, field.path)))


def _is(taken: str, name: str) -> bool:
    return any(part == name or part.endswith(f" as {name}") for part in re.split(r"[,;] ", taken))


def _named(run: Run, total: int, roles: tuple[str, ...], names: tuple[str, ...]) -> Part:
    """Rows with a top-level field of those roles or names; a nested one counts where tasks are known by it."""
    seen = {field.path: field.seen for field in run.schema}
    wanted = [name for name in (*_direct(run, roles), *names) if name in seen]
    best = max((seen[name] for name in wanted), default=0)
    if not best and "id" in roles and (run.tasks["id_kind"] == "id").any():
        return Part(rows=total, of=total, fields=("responses_create_params.metadata",))
    return Part(rows=min(best, total), of=total, fields=tuple(dict.fromkeys(wanted)))


def _direct(run: Run, roles: tuple[str, ...]) -> list[str]:
    return [field.path for field in run.schema if any(part in roles for part in field.taken_as.split(", "))]


def verifier_fields(run: Run) -> tuple[str, ...]:
    """Fields of the rows that the verifier is taken to have written, in order of name."""
    return tuple(
        field.path
        for field in run.schema
        if _VERIFIER.search(field.path) and not any(_is(field.taken_as, one) for one in _NOT_OF_THE_VERIFIER)
    )


def _verifier(run: Run, total: int) -> Part:
    judged = run.checks.select("task_id", "repeat").unique().height if run.checks.height else 0
    part = _most(run, total, verifier_fields(run))
    return part if part.rows >= judged else Part(rows=judged, of=total, fields=("tests",))


def _metadata_fields(run: Run) -> tuple[str, ...]:
    return tuple(
        field.path
        for field in run.schema
        if any(_is(field.taken_as, one) for one in _OF_THE_TASK)
        or (not field.taken_as and not _VERIFIER.search(field.path))
    )


def _most(run: Run, total: int, fields: tuple[str, ...]) -> Part:
    """Rows with the commonest of some fields."""
    seen = {field.path: field.seen for field in run.schema}
    ordered = tuple(sorted(fields, key=lambda name: (-seen[name], name)))
    return Part(rows=min(max((seen[name] for name in ordered), default=0), total), of=total, fields=ordered)
