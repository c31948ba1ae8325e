"""A query gives the rows that the gold query gives, on a database of the task.

Both run on a SQLite file that is opened read-only, in a process with limits of time, memory and rows. The order of rows
counts where the gold query orders them; names of columns never do.

Row
    `sql`: the gold query. `sql_context`: statements that make the database; or `database`: the name of a SQLite file.

Config
    `database_dir`: the folder of the files that `database` names. `timeout`: seconds of a query, default 5. `compare`:
    `set` takes no notice of the order of rows and of rows that are there twice; default `rows`.

Fields
    `extracted_sql`, `sql`, `expected_rows`, `returned_rows` (counts), `failure_reason`.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from blade.gym.answers import fenced, shown
from blade.gym.config.roots import search_roots
from blade.gym.environment import NoVerdict, Row, Verdict
from blade.gym.sandbox.worker import OutOfBounds, Worker
from blade.gym.single_turn import Config

QUERY_SECONDS = 5.0
SECONDS = 12.0
"""For both queries and what goes on around them, when a query has `QUERY_SECONDS`."""
MOST_ROWS = 10_000
LONGEST_SQL = 20_000
LONGEST_VALUE = 1_000_000
CLOSE = 1e-6
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
        account = _asked(row, query, config)
    fields = {"extracted_sql": shown(query), "sql": row["sql"], **account}
    return Verdict(reward=float(account["failure_reason"] is None), fields=fields)


def extract(text: str) -> str | None:
    """The query in the last fence; without one, from the first SELECT or WITH on."""
    inside = fenced(text, "sql", "sqlite")
    if inside is None:
        found = _BEGINS.search(text[: LONGEST_SQL * 2])
        inside = text[found.start() :].partition(";")[0] if found else ""
    return inside.strip().rstrip(";").strip() or None


@lru_cache(maxsize=16)
def _worker(seconds: float, folder: str | None) -> Worker:
    return Worker(__name__, seconds=seconds, reads=[folder] if folder else [])


def _folder(config: Config) -> Path | None:
    """The folder of the config's databases, under the first search root that has it."""
    name = config.get("database_dir")
    if not name:
        return None
    roots = config.get("search_roots") or search_roots()
    found = [path for root in roots if (path := Path(root) / str(name)).is_dir()]
    if not found:
        raise NoVerdict(
            f"the databases are not there: {name}; `gym eval prepare --force` makes them", failure_class="skipped"
        )
    return found[0]


def _place(row: Row, folder: Path | None) -> str | None:
    """The task's database file; None where it brings a script. Names that lead elsewhere are none."""
    name = row.get("database")
    if name is None:
        return None
    path = folder / str(name) if folder is not None and Path(str(name)).name == name else None
    if path is None or not path.is_file():
        raise NoVerdict(f"the task's database is not there: {name}", failure_class="skipped")
    return str(path)


def _asked(row: Row, query: str, config: Config) -> dict[str, Any]:
    folder = _folder(config) if row.get("database") is not None else None
    place = _place(row, folder)
    each = float(config.get("timeout") or QUERY_SECONDS)
    worker = _worker(SECONDS + 2 * (each - QUERY_SECONDS), str(folder) if folder else None)
    whole = config.get("compare") != "set"
    try:
        account: dict[str, Any] = worker.ask(
            "compare", str(row.get("sql_context") or ""), place, str(row["sql"]), query, each, whole
        )
    except OutOfBounds:
        return {
            "expected_rows": None,
            "returned_rows": None,
            "failure_reason": "the query ran out of time or memory",
        }
    except ValueError as problem:
        raise NoVerdict(f"the task's own database or query fails: {problem}", terminal=True) from problem
    return account


def compare(context: str, place: str | None, right: str, query: str, seconds: float, whole: bool) -> dict[str, Any]:
    """In the child: how the rows of two queries differ; raises where the gold query or the script fails."""
    path = Path(place) if place else _database(context)
    expected = _rows(path, right, seconds)
    account: dict[str, Any] = {"expected_rows": len(expected), "returned_rows": None, "failure_reason": None}
    try:
        returned = _rows(path, query, seconds)
    except (sqlite3.Error, sqlite3.Warning) as problem:
        told = "the query ran out of time" if "interrupted" in str(problem) else f"the query failed: {problem}"
        return account | {"failure_reason": told}
    counted = account | {"returned_rows": len(returned)}
    if not whole:
        expected, returned = (sorted(set(rows), key=_order) for rows in (expected, returned))
    return counted | {"failure_reason": _difference(expected, returned, right)}


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


def _rows(path: Path, query: str, seconds: float) -> list[tuple[Any, ...]]:
    # Immutable: a file in a folder that may only be read can have no journal beside it.
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    try:
        deadline = time.monotonic() + seconds
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
