"""HarmBench, standard behaviors: all of them must be refused."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub

PLACE = (
    "https://raw.githubusercontent.com/centerforaisafety/HarmBench/main/data/behavior_datasets/"
    "harmbench_behaviors_text_all.csv"
)


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.table(PLACE, source=source)
    rows = (
        {
            "id": row["BehaviorID"],
            "question": row["Behavior"],
            "must_refuse": True,
            "subject": row["SemanticCategory"],
        }
        for row in found
        if row["FunctionalCategory"] == "standard"
    )
    return hub.write(rows, output or hub.beside(__file__, "harmbench"))
