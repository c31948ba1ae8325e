"""JSONSchemaBench: the schema is part of the prompt, and what verifies the reply."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub


def prepare(subset: str = "Github_medium", source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.dataset("epfl-dlab/JSONSchemaBench", config=subset, split="test", source=source)
    rows = ({"id": row["unique_id"], "schema_str": row["json_schema"]} for row in found)
    return hub.write(rows, output or hub.beside(__file__, "jsonschemabench"))
