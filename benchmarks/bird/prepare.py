"""BIRD, dev: questions with their hints and gold queries, and the databases that they are about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym import hub

PLACE = "https://bird-bench.oss-cn-beijing.aliyuncs.com/dev.zip"


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows, and the databases beside them; `source` is a copy of the archive, or a folder of what it holds."""
    target = Path(output or hub.beside(__file__, "bird"))
    questions: list[dict[str, Any]] = []
    schemas: dict[str, str] = {}
    for name, data in hub.archive_files(PLACE, (".json", ".sqlite", ".zip"), source=source):
        if Path(name).name == "dev.json":
            questions = json.loads(data)
        elif name.endswith(".sqlite"):
            kept = hub.write_database(data, target.parent / "databases" / Path(name).name)
            schemas[kept.name] = hub.database_schema(kept)
    lost = sorted({row["db_id"] for row in questions if f"{row['db_id']}.sqlite" not in schemas})
    if not questions or lost:
        raise RequestError(
            f"{source or PLACE} has no {', '.join(lost) or 'dev.json'}",
            hint="the copy is dev.zip, or a folder with dev.json and the .sqlite files",
        )
    return hub.write((_row(row, schemas) for row in questions), target)


def _row(row: Mapping[str, Any], schemas: Mapping[str, str]) -> dict[str, Any]:
    database = f"{row['db_id']}.sqlite"
    return {
        "id": f"bird-{row['question_id']}",
        "question": row["question"],
        "evidence": row.get("evidence") or "nothing more is known",
        "schema": schemas[database],
        "database": database,
        "sql": row["SQL"],
        "difficulty": row.get("difficulty"),
        "domain": row["db_id"],
    }
