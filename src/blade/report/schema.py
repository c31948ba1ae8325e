"""What the fields of a run were taken for, as a person reads it and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from blade.model.roles import FieldRole
from blade.model.run import Run

_LABELS = {"format": "documented", "content": "by content", "name": "by name", "user": "you said so"}
_WIDEST_PATH = 44


def schema_text(run: Run) -> list[str]:
    """One line a field: its role, why, an example and in how many rows; then what is not used, and what is undecided."""
    roles = run.roles
    used = [field for field in roles.fields if field.role is not None]
    unused = [field for field in roles.fields if field.role is None]
    rows = max((field.rows for field in run.schema), default=run.rollouts.height)
    lines = [f"{run.name}: {len(roles.fields)} fields in {rows:,} rows; {roles.sampled:,} rows were looked at"]
    for role in dict.fromkeys(field.role for field in sorted(used, key=lambda field: str(field.role))):
        lines.append("")
        lines.append(f"{role}")
        lines += [_line(field) for field in used if field.role == role]
    phases = [f"  {one.name}: from {one.start} to {one.end}" for one in roles.phases]
    lines += ["", "phases of time", *phases] if phases else []
    slices = [name.removeprefix("slice.") for name in run.tasks.columns if name.startswith("slice.")]
    lines += ["", f"slices: {', '.join(slices)}"] if slices else []
    lines += ["", "not used", *map(_line, unused)] if unused else []
    lines += ["", "not decided", *(f"  {text}" for text in roles.undecided)] if roles.undecided else []
    return lines


def _line(field: FieldRole) -> str:
    part = f" ({field.part})" if field.part else ""
    why = f"{_LABELS[field.decided_by]}: {field.why}{part}" if field.role is not None else field.why
    return f"  {field.path:<{_WIDEST_PATH}} {field.rows:>4} of {field.of:<4} {why}; e.g. {field.example}"


def schema_json(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The same of several runs, for programs."""
    return [{"run": run.name, **msgspec.to_builtins(run.roles)} for run in runs]
