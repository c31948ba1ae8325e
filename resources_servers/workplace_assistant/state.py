"""The records of the company as they stand in one rollout."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

Record = dict[str, Any]
Table = dict[str, Record]

ID_NAMES: Mapping[str, str] = {
    "emails": "email_id",
    "events": "event_id",
    "tasks": "task_id",
    "customers": "customer_id",
    "plots": "plot_id",
}
"""Tables that tools may change, with the name of each one's id."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Tables by id; visits are never changed and are shared between rollouts."""

    people: tuple[str, ...]
    """E-mail addresses of the company's directory."""
    visits: tuple[Record, ...]
    tables: dict[str, Table]

    def copy(self) -> State:
        """A state whose changes reach nobody else."""
        tables = {name: {key: dict(record) for key, record in table.items()} for name, table in self.tables.items()}
        return State(people=self.people, visits=self.visits, tables=tables)

    def add(self, table: str, record: Record) -> str:
        """Put a record under the next free id of eight digits; gives the id."""
        rows = self.tables[table]
        key = f"{max((int(known) for known in rows), default=-1) + 1:08d}"
        rows[key] = {ID_NAMES[table]: key, **record}
        return key


def effects(state: State, before: State) -> dict[str, Any]:
    """What became different, as it is compared: fields of known records by id, new records by content.

    Texts are compared without case and spacing, and the ids of new records not at all.
    """
    found: dict[str, Any] = {}
    for name, table in state.tables.items():
        known = before.tables[name]
        changed: dict[str, Any] = {key: {"deleted": True} for key in known if key not in table}
        changed |= {
            key: _changed(record, known[key]) for key, record in table.items() if record != known.get(key, record)
        }
        fresh: dict[str, Any] = {}
        for key, record in table.items():
            if key not in known:
                content = {field: value for field, value in _plain(record).items() if field != ID_NAMES[name]}
                fresh[_unused(json.dumps(content, sort_keys=True), fresh)] = content
        found[name] = {key: changed[key] for key in sorted(changed) if changed[key]}
        found[f"new {name}"] = fresh
    return found


def _changed(record: Record, before: Record) -> Record:
    old = _plain(before)
    return {name: value for name, value in _plain(record).items() if value != old.get(name)}


def _plain(record: Record) -> Record:
    return {
        name: " ".join(value.split()).casefold() if isinstance(value, str) else value for name, value in record.items()
    }


def _unused(mark: str, taken: Mapping[str, Any]) -> str:
    """The same record twice is two records."""
    number = 1
    while (named := mark if number == 1 else f"{mark} ({number})") in taken:
        number += 1
    return named
