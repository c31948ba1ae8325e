"""A query on a task's database: found in a message, and run read-only with limits of time, memory and rows.

A database is made from the task's own script, or is a file in a folder that the config names.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from blade_gym.answers import fenced
from blade_gym.config.roots import search_roots
from blade_gym.environment import NoVerdict, Row
from blade_gym.sandbox.worker import OutOfBounds, Worker
from blade_gym.single_turn import Config

QUERY_SECONDS = 5.0
SECONDS = 12.0
"""For two queries and what goes on around them, when a query has `QUERY_SECONDS`."""
MOST_ROWS = 10_000
LONGEST_SQL = 20_000
LONGEST_VALUE = 1_000_000
MOST_BYTES = 100_000_000
"""Characters of a whole result."""
MOST_COLUMNS = 200
"""Of a result: where any column may hold the answer, a query with thousands could list every number."""
_HARMLESS = "SELECT 1"
_ALLOWED = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE))
_BEGINS = re.compile(r"\b(?:WITH|SELECT)\b", re.IGNORECASE)


class TaskDatabase(msgspec.Struct, frozen=True, kw_only=True):
    """Where the queries of a task run, and for how long."""

    worker: Worker
    script: str
    file: str | None
    seconds: float
    """Of one query."""


def task_database(module: str, row: Row, config: Config) -> TaskDatabase:
    """The child of a verifier's module that may read the task's database; raises NoVerdict where that is not there."""
    folder = _folder(config) if row.get("database") is not None else None
    seconds = float(config.get("timeout") or QUERY_SECONDS)
    worker = _worker(module, SECONDS + 2 * (seconds - QUERY_SECONDS), str(folder) if folder else None)
    return TaskDatabase(
        worker=worker, script=str(row.get("sql_context") or ""), file=_place(row, folder), seconds=seconds
    )


def judge_query(on: TaskDatabase, query: str, *key: object) -> dict[str, Any]:
    """What `compare` of the verifier's module says, in its worker; raises NoVerdict where the task itself fails.

    A query that takes more time or memory than it may has failed, but a task that does is no verdict on the query.
    """
    try:
        account: dict[str, Any] = _asked(on, query, *key)
    except OutOfBounds:
        _asked(on, _HARMLESS, *key)
        account = {"returned_rows": None, "failure_reason": "the query ran out of time or memory"}
    return account


def _asked(on: TaskDatabase, query: str, *key: object) -> Any:
    written = query.encode("utf-8", "replace").decode()  # SQLite knows no lone surrogates
    try:
        return on.worker.ask("compare", on.script, on.file, written, on.seconds, *key)
    except ValueError as problem:
        raise NoVerdict(f"the task's own database or query fails: {problem}", terminal=True) from problem


def extract(text: str) -> str | None:
    """The query in the last fence; without one, from the first SELECT or WITH on."""
    inside = fenced(text, "sql", "sqlite")
    if inside is None:
        found = _BEGINS.search(text[: LONGEST_SQL * 2])
        inside = text[found.start() :].partition(";")[0] if found else ""
    return inside.strip().rstrip(";").strip() or None


@lru_cache(maxsize=16)
def _worker(module: str, seconds: float, folder: str | None) -> Worker:
    return Worker(module, seconds=seconds, reads=[folder] if folder else [])


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


@contextmanager
def database(script: str, file: str | None) -> Iterator[Path]:
    """In the worker: the file, or one that the script makes. It is removed again: the worker's disk is small."""
    if file is not None:
        yield Path(file)
        return
    path = Path(f"{os.getpid()}.sqlite").resolve()
    path.unlink(missing_ok=True)  # of a process of the same number that was ended
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
            connection.commit()
        yield path
    finally:
        path.unlink(missing_ok=True)


def rows(path: Path, query: str, seconds: float) -> list[tuple[Any, ...]]:
    """In the worker: what a query returns, at most one row more than `MOST_ROWS`; raises sqlite3.Error."""
    # Immutable: a file in a folder that may only be read can have no journal beside it.
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    try:
        # The time of the processor: how busy the machine is must not decide what a query returns.
        deadline = time.process_time() + seconds
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.set_authorizer(_authorized)
        connection.set_progress_handler(lambda: time.process_time() > deadline, 10_000)
        return _bounded(connection.execute(query))
    finally:
        connection.close()


def _authorized(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Allow reading. Functions that return tables, such as json_each, declare them in the schema, which stays as it is."""
    declares = action == sqlite3.SQLITE_UPDATE and first in ("sqlite_master", "sqlite_schema")
    harmful = action == sqlite3.SQLITE_FUNCTION and second in ("fts3_tokenizer", "load_extension")
    return sqlite3.SQLITE_OK if (action in _ALLOWED or declares) and not harmful else sqlite3.SQLITE_DENY


def _bounded(cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
    if len(cursor.description or ()) > MOST_COLUMNS:
        raise sqlite3.DataError("the result has too many columns")
    found: list[tuple[Any, ...]] = []
    size = 0
    for row in islice(cursor, MOST_ROWS + 1):
        found.append(row)
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if size > MOST_BYTES:
            raise sqlite3.DataError("the result is too large")
    return found


def failed(problem: Exception) -> str:
    """Why a query gave nothing, in words."""
    if "interrupted" in str(problem):
        return "the query ran out of time"
    what = "does more than read" if "not authorized" in str(problem) else "failed"
    return f"the query {what}: {problem}"
