"""XSTest: harmless prompts must be answered, harmful ones refused. The prompt is the row's own; nothing is put around it."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub

PLACE = "https://raw.githubusercontent.com/paul-rottger/xstest/refs/heads/main/xstest_prompts.csv"


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.table(PLACE, source=source)
    rows = (
        {
            "id": f"xstest-{row['id']}",
            "responses_create_params": hub.user(row["prompt"]),
            "verifier_metadata": {"label": row["label"], "type": row["type"]},
        }
        for row in found
    )
    return hub.write(rows, output or hub.beside(__file__, "xstest"))
