"""A query gives the columns of a table that is known to be right, whatever other columns it gives.

For tasks whose key is a result and not a query. Columns are found by their values, not by their names; numbers may differ
by 0.01, and a text that reads as a number is one, as in a table that was written to a file.

Row
    `gold_tables`: tables as lists of rows, of which any will do. `condition_cols`: for each of them the places of the
    columns that count; none means all. `ignore_order`: whether the order of rows does not matter. `sql_context`:
    statements that make the database; or `database`: the name of a SQLite file. `sql`: a query that is right, for proving.

Config
    `database_dir`: the folder of the files that `database` names. `timeout`: seconds of a query, default 5.

Fields
    `extracted_sql`, `expected_rows` (of the first table), `returned_rows` (counts), `columns_found`, `columns_wanted` (of
    the table that comes closest), `failure_reason`.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from typing import Any

from blade.gym.answers import shown
from blade.gym.environment import NoVerdict, Row, Verdict
from blade.gym.single_turn import Config
from blade.gym.sql_asking import LONGEST_SQL, MOST_ROWS, asking, database, extract, failed, rows

CLOSE = 0.01
_NOTHING = frozenset(("", "nan", "null", "none", "na", "n/a", "<na>"))
Value = float | str | None
Column = list[Value]


def gold(row: Row) -> str | None:
    """The row's own query in a fence, where it has one."""
    return f"```sql\n{row['sql']}\n```" if row.get("sql") else None


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when every column that counts is among those that came back, else 0."""
    query = extract(text)
    wanted = _wanted(row)
    if query is None or len(query) > LONGEST_SQL:
        why = "the query is too long" if query else "no query was found in the last message"
        account = _none(wanted, why)
    else:
        account = _asked(row, query, wanted, config)
    fields = {"extracted_sql": shown(query), "expected_rows": len(row["gold_tables"][0]), **account}
    return Verdict(reward=float(account["failure_reason"] is None), fields=fields)


def _none(wanted: list[list[Column]], why: str) -> dict[str, Any]:
    return {"returned_rows": None, "columns_found": 0, "columns_wanted": len(wanted[0]), "failure_reason": why}


def _wanted(row: Row) -> list[list[Column]]:
    """The columns that count, of each table; raises NoVerdict for a key that holds none."""
    tables, chosen = row["gold_tables"], row.get("condition_cols") or []
    found = []
    for number, table in enumerate(tables):
        columns = _columns(table)
        places = chosen[number] if number < len(chosen) else []
        found.append([columns[place] for place in places if place < len(columns)] if places else columns)
    if not found or not all(found):
        raise NoVerdict("the task's key holds an empty table", failure_class="skipped", terminal=True)
    return found


def _asked(row: Row, query: str, wanted: list[list[Column]], config: Config) -> dict[str, Any]:
    on = asking(__name__, row, config)
    any_order = bool(row.get("ignore_order"))
    try:
        account: dict[str, Any] = on.worker.ask("compare", on.script, on.file, query, on.seconds, wanted, any_order)
    except ValueError as problem:
        raise NoVerdict(f"the task's own database fails: {problem}", terminal=True) from problem
    return account


def compare(
    script: str, file: str | None, query: str, seconds: float, wanted: list[list[Column]], any_order: bool
) -> dict[str, Any]:
    """In the child: which of the columns a query gives, for the table that comes closest; raises where the script fails."""
    with database(script, file) as path:
        try:
            found = rows(path, query, seconds)
        except (sqlite3.Error, sqlite3.Warning) as problem:
            return _none(wanted, failed(problem))
    there = _columns(found)
    met = [sum(any(_match(column, other, any_order) for other in there) for column in table) for table in wanted]
    best = max(range(len(wanted)), key=lambda number: met[number] / len(wanted[number]))
    counts = {"returned_rows": len(found), "columns_found": met[best], "columns_wanted": len(wanted[best])}
    return {**counts, "failure_reason": _reason(wanted[best], met[best], len(found))}


def _reason(table: list[Column], met: int, returned: int) -> str | None:
    expected = min(len(table[0]), MOST_ROWS + 1)
    if met == len(table):
        return None
    if returned != expected:
        return f"too {'many' if returned > expected else 'few'} rows came back: {returned}, not {expected}"
    return f"{len(table) - met} of {len(table)} columns did not come back"


def _columns(table: Sequence[Sequence[Any]]) -> list[Column]:
    plain = [[_plain(value) for value in row] for row in table[: MOST_ROWS + 1]]
    return [list(column) for column in zip(*plain, strict=True)] if plain else []


def _plain(value: Any) -> Value:
    """A number where it reads as one, None where it reads as nothing."""
    if value is None or isinstance(value, bytes):
        return None if value is None else value.hex()
    text = str(value).strip()
    if text.lower() in _NOTHING:
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _match(one: Column, other: Column, any_order: bool) -> bool:
    if any_order:
        one, other = sorted(one, key=_order), sorted(other, key=_order)
    return len(one) == len(other) and all(map(_equal, one, other))


def _order(value: Value) -> tuple[bool, bool, float, str]:
    number = isinstance(value, float)
    return value is None, not number, value if isinstance(value, float) else 0.0, "" if number else str(value)


def _equal(one: Value, other: Value) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, abs_tol=CLOSE)
    return one == other
