"""A query gives the rows that the gold query gives, on a database of the task.

Both run on a SQLite file that is opened read-only, in a process with limits of processor time, memory and rows. The order of rows
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

import re
import sqlite3
from typing import Any

from blade_gym.answers import shown
from blade_gym.environment import Row, Verdict
from blade_gym.single_turn import Config
from blade_gym.verifier_kit.sql import LONGEST_SQL, database, extract, failed, judge_query, rows, task_database

CLOSE = 1e-6
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
        whole = config.get("compare") != "set"
        account |= judge_query(task_database(__name__, row, config), query, str(row["sql"]), whole)
    fields = {"extracted_sql": shown(query), "sql": row["sql"], **account}
    return Verdict(reward=float(account["failure_reason"] is None), fields=fields)


def compare(script: str, file: str | None, query: str, seconds: float, right: str, whole: bool) -> dict[str, Any]:
    """In the worker: how the rows of two queries differ; raises where the gold query or the script fails."""
    with database(script, file) as path:
        expected = rows(path, right, seconds)
        account: dict[str, Any] = {"expected_rows": len(expected), "returned_rows": None, "failure_reason": None}
        try:
            returned = rows(path, query, seconds)
        except (sqlite3.Error, sqlite3.Warning) as problem:
            return account | {"failure_reason": failed(problem)}
    counted = account | {"returned_rows": len(returned)}
    if not whole:
        expected, returned = (sorted(set(one), key=_order) for one in (expected, returned))
    return counted | {"failure_reason": _difference(expected, returned, right)}


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
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or abs(one - other) <= CLOSE * max(1.0, abs(one))
    return bool(one == other)


def _order(row: tuple[Any, ...]) -> tuple[tuple[str, float, str], ...]:
    return tuple(
        ("n", round(float(value), 6), "") if isinstance(value, int | float) else (type(value).__name__, 0.0, str(value))
        for value in row
    )
