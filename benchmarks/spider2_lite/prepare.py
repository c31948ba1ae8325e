"""Spider 2.0-Lite, local part: questions to SQLite databases, and the results that are due."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from blade.core.errors import RequestError
from blade.gym import databases as files
from blade.gym import hub

PLACE = "https://github.com/xlang-ai/Spider2/archive/refs/heads/main.zip"
_RESULT = re.compile(r"(local\w+?)(_[a-z])?\.csv")


def prepare(databases: str | None = None, source: str | None = None, output: str | None = None) -> Path:
    """Write the rows, and the databases beside them.

    `databases` is the archive or a folder of the `.sqlite` files; `source` a copy of the repository or of its archive.
    """
    if databases is None:
        raise RequestError(
            "the databases of Spider2 are published behind a page that a person has to confirm",
            hint="get local_sqlite.zip as spider2-lite/README.md of xlang-ai/Spider2 says, then: "
            "+prepare_script_args.databases=PATH",
        )
    target = Path(output or hub.beside(__file__, "spider2_lite"))
    schemas = {}
    for name, data in files.files_of("", (".sqlite", ".zip"), source=databases):
        if name.endswith(".sqlite"):
            kept = files.keep(data, target.parent / "databases" / Path(name).name)
            schemas[kept.stem.lower()] = (kept.name, files.schema(kept))
    published = _published(source)
    rows = [_row(row, published, schemas) for row in published.questions]
    return hub.write(rows, target)


class _Published:
    """What the repository holds of the local part."""

    def __init__(self) -> None:
        self.questions: list[dict[str, Any]] = []
        self.standards: dict[str, dict[str, Any]] = {}
        self.results: dict[str, list[list[list[str]]]] = {}
        self.documents: dict[str, str] = {}


def _published(source: str | None) -> _Published:
    found = _Published()
    for name, data in files.files_of(PLACE, (".jsonl", ".csv", ".md", ".txt"), source=source):
        path = PurePosixPath(name)
        if "spider2-lite" not in path.parts:
            continue
        result = _RESULT.fullmatch(path.name)
        if path.name == "spider2-lite.jsonl":
            rows = hub.json_lines(data, name)
            found.questions = [row for row in rows if str(row["instance_id"]).startswith("local")]
        elif path.name == "spider2lite_eval.jsonl" and path.parent.name == "gold":
            found.standards = {row["instance_id"]: row for row in hub.json_lines(data, name)}
        elif result and path.parts[-3:-1] == ("gold", "exec_result"):
            found.results.setdefault(result[1], []).append(_table(data))
        elif path.parent.name == "documents":
            found.documents[path.name] = data.decode("utf-8", errors="replace")
    if not found.questions or not found.standards:
        raise RequestError(
            f"{source or PLACE} has no spider2-lite.jsonl or no gold results",
            hint="the copy is a checkout of xlang-ai/Spider2, or its archive",
        )
    return found


def _table(data: bytes) -> list[list[str]]:
    """The rows below the head."""
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig", errors="replace"))))[1:]


def _row(row: Mapping[str, Any], published: _Published, schemas: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    key, named = str(row["instance_id"]), str(row["db"])
    standard, tables = published.standards.get(key, {}), published.results.get(key, [])
    if not tables or named.lower() not in schemas:
        what = f"database {named}.sqlite" if tables else "gold result"
        raise RequestError(f"{key} has no {what}", hint="is the copy whole?")
    database, schema = schemas[named.lower()]
    document = row.get("external_knowledge")
    return {
        "id": key,
        "question": row["question"],
        "evidence": published.documents.get(str(document), "") or "nothing more is known",
        "schema": schema,
        "database": database,
        "gold_tables": tables,
        "condition_cols": _columns(standard.get("condition_cols"), len(tables)),
        "ignore_order": bool(standard.get("ignore_order")),
        "domain": named,
    }


def _columns(given: Any, tables: int) -> list[list[int]]:
    """The columns that count, a list for each result: those of all where only one list is given."""
    listed = given if isinstance(given, list) else []
    if all(isinstance(one, list) for one in listed):
        return listed
    return [[one for one in listed if isinstance(one, int)]] * tables
