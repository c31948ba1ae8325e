"""What a row records of how its rollout went, by the roles of its fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from blade.ingest.logs.parse import parse_log
from blade.model.account import Account, LogText, Status
from blade.model.roles import FieldRole, Role, Roles


class Fields(Protocol):
    """A row whose fields are decoded when they are asked for."""

    def get(self, name: str, /) -> Any:
        """The value of a top-level field; None where there is none."""
        ...


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

_LOGS: Sequence[Role] = ("grader-log", "agent-log")

LONGEST_STATUS = 80
"""Characters of a value that names how a rollout ended."""


@lru_cache(maxsize=64)
def holds_account(names: tuple[str, ...], roles: Roles = DOCUMENTED_ROLES) -> bool:
    """Whether rows with these top-level fields can hold anything of an account: most can not."""
    asked = {path.partition(".")[0] for role in ("status", *_LOGS) for path in roles.paths(role)}
    return not asked.isdisjoint(names)


def account_of(row: Fields, roles: Roles = DOCUMENTED_ROLES) -> Account:
    """The account of a row; only the fields that have a role are asked for."""
    return Account(
        statuses=tuple(
            Status(field=path, value=value)
            for path, value in _texts(row, roles.paths("status"))
            if len(value) <= LONGEST_STATUS
        ),
        logs=tuple(
            LogText(field=path, text=text, of_agent=role == "agent-log", reader=parse_log)
            for role in _LOGS
            for path, text in _texts(row, roles.paths(role))
        ),
    )


def _texts(row: Fields, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        top, *inside = path.split(".")
        value = row.get(top)
        for name in inside:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, str) and value.strip():
            yield path, value
