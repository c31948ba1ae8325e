"""What a row records of how its rollout went, by the roles of its fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from blade.ingest.logs.parse import parse_log
from blade.model.account import Account, LogText, Status
from blade.model.roles import FieldRole, Role, Roles

_FORMATS: Mapping[Role, Sequence[str]] = {
    "status": ("failure_mode", "exit_status", "exception_info.exception_type", "termination_reason", "stop_reason"),
    "grader-log": ("test_log", "test_output", "test_stdout", "test_stderr", "run_log"),
    "agent-log": ("agent_log", "exception_txt", "trial_log"),
}
"""Fields of the formats that BLADE reads natively."""

DOCUMENTED_ROLES = Roles(
    fields=tuple(
        FieldRole(path=path, role=role, why="the format defines it", decided_by="format")
        for role, paths in _FORMATS.items()
        for path in paths
    )
)

LONGEST_STATUS = 80
"""Characters of a value that names how a rollout ended."""


def account_of(row: Mapping[str, Any], roles: Roles = DOCUMENTED_ROLES) -> Account:
    """The account of a decoded row."""
    return Account(
        statuses=tuple(
            Status(field=path, value=value)
            for path, value in _texts(row, roles.paths("status"))
            if len(value) <= LONGEST_STATUS
        ),
        logs=tuple(
            LogText(field=path, text=text, parsed=parse_log(text))
            for path, text in _texts(row, (*roles.paths("grader-log"), *roles.paths("agent-log")))
        ),
    )


def _texts(row: Mapping[str, Any], paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        value: Any = row
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, str) and value.strip():
            yield path, value
