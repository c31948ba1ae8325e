"""Spider 2.0-Lite, local part: questions to SQLite databases, with the queries and results that are expected.

The prompt is the row's own, in the words of NeMo Gym's data set of this name: a system message, the schema, the question.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym import hub

PLACE = "https://github.com/xlang-ai/Spider2/archive/refs/heads/main.zip"
DATABASES = "https://drive.usercontent.google.com/download?id=1coEVsCZq-Xvj9p2TnhBFoFTsY-UoYGmG&export=download&authuser=0&confirm=t"
SYSTEM = (
    "You are a SQL expert. Given a database schema and a natural language question, "
    "generate a SQLite query that answers the question. Return only the SQL query "
    "inside a ```sql``` code block."
)
ASKED = "<DATABASE_SCHEMA>\n{schema}\n</DATABASE_SCHEMA>\n\n<QUESTION>\n{question}\n</QUESTION>"
_RESULT = re.compile(r"(local\w+?)(_[a-z])?\.csv")


def prepare(databases: str | None = None, source: str | None = None, output: str | None = None) -> Path:
    """Write the rows, and the databases beside them.

    `databases` is a copy of the archive of databases, or a folder of the `.sqlite` files; `source` a copy of the repository
    or of its archive.
    """
    target = Path(output or hub.beside(__file__, "spider2_lite"))
    published = _published(source)
    rows = [_row(key, published) for key in sorted(published.questions, key=_number)]
    kept = {
        hub.write_database(data, target.parent / "databases" / Path(name).name).stem
        for name, data in hub.archive_files(DATABASES, (".sqlite", ".zip"), source=databases)
        if name.endswith(".sqlite")
    }
    lost = sorted({row["db_id"] for row in rows} - kept)
    if lost:
        raise RequestError(
            f"the archive of databases has no {lost[0]}.sqlite",
            hint="get local_sqlite.zip as spider2-lite/README.md of xlang-ai/Spider2 says, then: "
            "+prepare_script_args.databases=PATH",
        )
    return hub.write(rows, target)


class _Published(msgspec.Struct, kw_only=True):
    """What the repository holds of the local part, by the id of the task, and schemas by database."""

    questions: dict[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)
    standards: dict[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)
    results: dict[str, dict[str, list[list[Any]]]] = msgspec.field(default_factory=dict)
    queries: dict[str, str] = msgspec.field(default_factory=dict)
    schemas: dict[str, str] = msgspec.field(default_factory=dict)


def _published(source: str | None) -> _Published:
    found = _Published()
    for name, data in hub.archive_files(PLACE, (".jsonl", ".csv", ".sql"), source=source):
        path = PurePosixPath(name)
        if "spider2-lite" in path.parts:
            _take(found, path, data)
    if not found.questions or not found.standards:
        raise RequestError(
            f"{source or PLACE} has no spider2-lite.jsonl or no gold results",
            hint="the copy is a checkout of xlang-ai/Spider2, or its archive",
        )
    return found


def _take(found: _Published, path: PurePosixPath, data: bytes) -> None:
    """Put one file of the repository where it belongs."""
    result = _RESULT.fullmatch(path.name)
    if path.name == "spider2-lite.jsonl":
        rows = hub.json_lines(data, str(path))
        found.questions = {row["instance_id"]: row for row in rows if str(row["instance_id"]).startswith("local")}
    elif path.parts[-2:] == ("gold", "spider2lite_eval.jsonl"):
        found.standards = {row["instance_id"]: row for row in hub.json_lines(data, str(path))}
    elif result and path.parts[-3:-1] == ("gold", "exec_result"):
        found.results.setdefault(result[1], {})[result[2] or ""] = _table(data)
    elif path.suffix == ".sql" and path.parts[-3:-1] == ("gold", "sql"):
        found.queries[path.stem] = data.decode("utf-8").strip()
    elif path.name == "DDL.csv" and path.parts[-3] == "sqlite":
        found.schemas[_plain(path.parts[-2])] = "\n\n".join(row["DDL"] for row in hub.csv_rows(data))


def _plain(name: str) -> str:
    """The name of a database as folders and tasks agree on it."""
    return name.lower().replace("-", "_")


def _number(key: str) -> int:
    return int("".join(re.findall(r"\d+", key)[:1]) or 0)


def _table(data: bytes) -> list[list[Any]]:
    """The rows below the head, numbers as numbers."""
    lines = list(csv.reader(io.StringIO(data.decode("utf-8-sig", errors="replace"))))[1:]
    return [[_value(cell) for cell in line] for line in lines]


def _value(cell: str) -> Any:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def _row(key: str, published: _Published) -> dict[str, Any]:
    task, standard = published.questions[key], published.standards.get(key)
    schema = published.schemas.get(_plain(str(task["db"])))
    results = _results(published.results.get(key, {}))
    if standard is None or schema is None or not results:
        what = "entry in spider2lite_eval.jsonl" if standard is None else "gold result" if schema else "DDL.csv"
        raise RequestError(f"{key} has no {what}", hint="is the copy whole?")
    asked = ASKED.replace("{schema}", schema).replace("{question}", str(task["question"]))
    query = {"gold_sql": published.queries[key]} if key in published.queries else {}
    return {
        "responses_create_params": {
            "input": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": asked}]
        },
        "instance_id": key,
        "db_id": task["db"],
        "question": task["question"],
        **query,
        "gold_result": results,
        "ignore_order": standard["ignore_order"],
        "condition_cols": standard.get("condition_cols", []),
    }


def _results(found: Mapping[str, list[list[Any]]]) -> list[list[list[Any]]]:
    """Those with a letter, in its order; else the only one."""
    lettered = [found[letter] for letter in sorted(found) if letter]
    return lettered or list(found.values())
