"""Synthetic text-to-SQL: the tasks whose tables, rows and gold query SQLite can run."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from blade_gym import hub


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("gretelai/synthetic_text_to_sql", split="test", source=source)
    rows = (_row(row) for row in found if _runs(row["sql_context"], row["sql"]))
    return hub.write(rows, output or hub.beside(__file__, "synthetic_text_to_sql"))


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": f"sql-{row['id']}",
        "question": row["sql_prompt"],
        "sql_context": row["sql_context"],
        "sql": row["sql"],
        "domain": row["domain"],
        "complexity": row["sql_complexity"],
    }


def _runs(context: str, query: str) -> bool:
    """Whether the gold query gives rows on a database made from the context."""
    if not query.lstrip().upper().startswith(("SELECT", "WITH")):
        return False
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.executescript(context)
            return database.execute(query).fetchone() is not None
    except (sqlite3.Error, sqlite3.Warning):
        return False
