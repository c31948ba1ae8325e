"""A query gives the result that Spider 2.0-Lite expects, by the comparison of NeMo Gym's `spider2_lite`.

Every expected column must be among the columns that come back, whatever else does. NULL counts as 0, a text that reads as a
number is one, and numbers may differ by 0.01. The expected result is that of `gold_sql`; without one, any of `gold_result`.

Row
    `db_id`: the name of a SQLite file, without its ending; or `sql_context`, statements that make the database. `gold_sql`,
    `gold_result` (tables as lists of rows). `condition_cols`: positions of the columns that count, one list, or one for
    each table; none means all. `ignore_order`: default true.

Config
    `spider2_lite_dir`: the folder of the files. `sql_execution_timeout_s`: seconds of a query, default 30.

Fields
    `extracted_sql`, `execution_match`, `returned_rows`, `failure_reason`.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blade_gym.answers import shown
from blade_gym.environment import NoVerdict, Row, Verdict
from blade_gym.single_turn import Config
from blade_gym.verifier_kit.sql import LONGEST_SQL, MOST_ROWS, database, failed, judge_query, rows, task_database

CLOSE = 0.01
SECONDS = 30.0
_FENCED = re.compile(r"```sql\s*(.*?)\s*```", re.IGNORECASE | re.DOTALL)
_ANY_FENCE = re.compile(r"```\s*(.*?)\s*```", re.DOTALL)
_STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP)\s", re.IGNORECASE)
_BEGINS = re.compile(r"(?:SELECT|INSERT|UPDATE|DELETE|WITH)\s", re.IGNORECASE)
Table = Sequence[Sequence[Any]]


def gold(row: Row) -> str | None:
    """The row's own query in a fence, where it has one."""
    return f"```sql\n{row['gold_sql']}\n```" if row.get("gold_sql") else None


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when the query gives what is expected, else 0; raises NoVerdict for a row that expects nothing."""
    if not row.get("gold_sql") and not row.get("gold_result"):
        raise NoVerdict("the row has neither gold_sql nor gold_result", failure_class="skipped", terminal=True)
    query = extract(text)
    if query is None or len(query) > LONGEST_SQL:
        account = {"returned_rows": None, "failure_reason": "the query is too long" if query else "no query was found"}
    else:
        account = _compared(row, query, config)
    match = account["failure_reason"] is None
    return Verdict(reward=float(match), fields={"extracted_sql": shown(query), "execution_match": match, **account})


def extract(text: str) -> str | None:
    """The last block of SQL; else the last block that begins a statement; else from the first statement to the last `;`."""
    said = text[: 1 << 20]
    blocks = _FENCED.findall(said)
    if blocks:
        return str(blocks[-1]).strip() or None
    for block in reversed(_ANY_FENCE.findall(said)):
        if _STATEMENT.match(block):
            return str(block).strip()
    begun = _BEGINS.search(said)
    if begun is None:
        return None
    end = said.rfind(";")
    return said[begun.start() : end + 1 if end >= begun.start() else None].strip().rstrip(";") + ";"


def _compared(row: Row, query: str, config: Config) -> dict[str, Any]:
    where = {"database": f"{row['db_id']}.sqlite"} if "sql_context" not in row else {"sql_context": row["sql_context"]}
    settings = {
        **config,
        "database_dir": config.get("spider2_lite_dir"),
        "timeout": config.get("sql_execution_timeout_s") or SECONDS,
    }
    on = task_database(__name__, where, settings)
    expected = [row["gold_sql"], None] if row.get("gold_sql") else [None, row["gold_result"]]
    order = row.get("ignore_order", True)
    return judge_query(on, query, *expected, row.get("condition_cols"), bool(order))


def compare(
    script: str,
    file: str | None,
    query: str,
    seconds: float,
    gold_sql: str | None,
    gold_result: list[Table] | None,
    columns: list[Any] | None,
    any_order: bool,
) -> dict[str, Any]:
    """In the child: how many rows a query gives, and why they are not what is expected; raises where the key fails."""
    with database(script, file) as path:
        tables = [_gold_rows(path, gold_sql, seconds)] if gold_sql else list(gold_result or [])
        if any(len(table) > MOST_ROWS for table in tables):
            raise ValueError(f"the expected result has more than {MOST_ROWS} rows")
        try:
            found = rows(path, query, seconds)
        except (sqlite3.Error, sqlite3.Warning) as problem:
            return {"returned_rows": None, "failure_reason": failed(problem)}
    chosen = _chosen(columns, len(tables))
    same = any(same_result(table, found, places, any_order) for table, places in zip(tables, chosen, strict=False))
    return {"returned_rows": len(found), "failure_reason": None if same else "the result is another one"}


def _gold_rows(path: Path, query: str, seconds: float) -> Table:
    try:
        return rows(path, query, seconds)
    except (sqlite3.Error, sqlite3.Warning) as problem:
        raise ValueError(str(problem)) from problem


def _chosen(columns: list[Any] | None, tables: int) -> list[list[int]]:
    """The columns that count, for each table; tables beyond the lists that are given are left out, as they are published."""
    if not columns:
        return [[]] * tables
    if not all(isinstance(one, list) for one in columns):
        return [list(columns)] * tables
    return columns


def same_result(expected: Table, found: Table, places: Sequence[int], any_order: bool) -> bool:
    """Whether each expected column that counts is among those that came back."""
    if not expected or not found:
        return not expected and not found
    wanted = [place for place in places if place < len(expected[0])] or range(len(expected[0]))
    there = [_column(found, place) for place in range(len(found[0]))]
    return all(any(_match(_column(expected, place), other, any_order) for other in there) for place in wanted)


def _column(table: Table, place: int) -> list[Any]:
    return [_plain(row[place]) for row in table]


def _plain(value: Any) -> Any:
    """A number where the text reads as one; 0 where there is nothing."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                value = kind(value)
                break
            except ValueError:
                continue
    return 0 if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _match(one: list[Any], other: list[Any], any_order: bool) -> bool:
    if len(one) != len(other):
        return False
    if any_order:
        one, other = (
            sorted(values, key=lambda value: (str(value), isinstance(value, int | float))) for values in (one, other)
        )
    return all(map(_equal, one, other))


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(float(one), float(other), abs_tol=CLOSE)
    return bool(one == other)
