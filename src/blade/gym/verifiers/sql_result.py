"""A query gives the rows that the gold query gives, on a database made from the task's own script.

Both run on a SQLite file that is opened read-only, in a process with limits of time, memory and rows. The order of rows
counts where the gold query orders them; names of columns never do.

Row
    `sql_context`: statements that make the database. `sql`: the gold query.

Fields
    `extracted_sql`, `sql`, `expected_rows`, `returned_rows` (counts), `failure_reason`.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from pathlib import Path
from typing import Any

from blade.gym.answers import fenced, shown
from blade.gym.environment import NoVerdict, Row, Verdict
from blade.gym.sandbox.worker import OutOfBounds, Worker
from blade.gym.single_turn import Config

SECONDS = 12.0
QUERY_SECONDS = 5.0
MOST_ROWS = 10_000
LONGEST_SQL = 20_000
LONGEST_VALUE = 1_000_000
CLOSE = 1e-6
_WORKER = Worker(__name__, seconds=SECONDS)
_ALLOWED = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE))
_BEGINS = re.compile(r"\b(?:WITH|SELECT)\b", re.IGNORECASE)
_ORDERED = re.compile(r"\border\s{1,20}by\b(?![^()]*\))", re.IGNORECASE)


def gold(row: Row) -> str:
    """The gold query in a fence."""
    return f"```sql\n{row['sql']}\n```"


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for the same rows, else 0. A gold query or script that fails gives no verdict."""
    query = extract(text)
    account = {"expected_rows": None, "returned_rows": None, "failure_reason": "no query was found in the last message"}
    if query is not None and len(query) > LONGEST_SQL:
        account["failure_reason"] = "the query is too long"
    elif query is not None:
        account = _asked(str(row["sql_context"]), str(row["sql"]), query)
    fields = {"extracted_sql": shown(query), "sql": row["sql"], **account}
    return Verdict(reward=float(account["failure_reason"] is None), fields=fields)


def extract(text: str) -> str | None:
    """The query in the last fence; without one, from the first SELECT or WITH on."""
    inside = fenced(text, "sql", "sqlite")
    if inside is None:
        found = _BEGINS.search(text[: LONGEST_SQL * 2])
        inside = text[found.start() :].partition(";")[0] if found else ""
    return inside.strip().rstrip(";").strip() or None


def _asked(context: str, right: str, query: str) -> dict[str, Any]:
    try:
        account: dict[str, Any] = _WORKER.ask("compare", context, right, query)
    except OutOfBounds:
        return {
            "expected_rows": None,
            "returned_rows": None,
            "failure_reason": "the query ran out of time or memory",
        }
    except ValueError as problem:
        raise NoVerdict(f"the task's own database or query fails: {problem}", terminal=True) from problem
    return account


def compare(context: str, right: str, query: str) -> dict[str, Any]:
    """In the child: how the rows of two queries differ; raises where the gold query or the script fails."""
    path = _database(context)
    expected = _rows(path, right)
    account: dict[str, Any] = {"expected_rows": len(expected), "returned_rows": None, "failure_reason": None}
    try:
        returned = _rows(path, query)
    except (sqlite3.Error, sqlite3.Warning) as problem:
        told = "the query ran out of time" if "interrupted" in str(problem) else f"the query failed: {problem}"
        return account | {"failure_reason": told}
    return account | {"returned_rows": len(returned), "failure_reason": _difference(expected, returned, right)}


def _database(context: str) -> Path:
    """The file that a script makes; made once for each script."""
    path = Path(f"{hashlib.sha256(context.encode()).hexdigest()[:20]}.sqlite").resolve()
    if not path.exists():
        making = path.with_suffix(".making")
        making.unlink(missing_ok=True)
        connection = sqlite3.connect(making)
        try:
            connection.executescript(context)
            connection.commit()
        finally:
            connection.close()
        making.rename(path)
    return path


def _rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        deadline = time.monotonic() + QUERY_SECONDS
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY)
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
        return connection.execute(query).fetchmany(MOST_ROWS + 1)
    finally:
        connection.close()


def _difference(expected: list[tuple[Any, ...]], returned: list[tuple[Any, ...]], right: str) -> str | None:
    """None for the same rows; else what is different, the plainest first."""
    if expected and returned and len(expected[0]) != len(returned[0]):
        return f"the query gives {len(returned[0])} columns, not {len(expected[0])}"
    if len(expected) != len(returned):
        much = "many" if len(returned) > len(expected) else "few"
        return f"too {much} rows came back: {len(returned)}, not {len(expected)}"
    if _same(expected, returned):
        return None
    if _same(sorted(expected, key=_order), sorted(returned, key=_order)):
        return "the rows are right and their order is not" if _ORDERED.search(right) else None
    return "as many rows, and other values in them"


def _same(first: list[tuple[Any, ...]], second: list[tuple[Any, ...]]) -> bool:
    pairs = zip(first, second, strict=True)
    return all(len(one) == len(other) and all(map(_equal, one, other)) for one, other in pairs)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or abs(one - other) <= CLOSE * max(1.0, abs(one))
    return bool(one == other)


def _order(row: tuple[Any, ...]) -> tuple[tuple[str, float, str], ...]:
    return tuple(
        ("n", round(float(value), 6), "") if isinstance(value, int | float) else (type(value).__name__, 0.0, str(value))
        for value in row
    )
