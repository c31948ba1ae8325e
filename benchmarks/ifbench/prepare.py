"""IFBench: prompts with one or two constraints of 57 kinds."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub

COMMIT = "c6767a19bd82ac0536cab950f2f8f6bcc6fabe7c"
"""Of the checkers that judge the answers; later data goes with later checkers."""
PLACE = f"https://raw.githubusercontent.com/allenai/IFBench/{COMMIT}/data/IFBench_test.jsonl"


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.json_lines(hub.fetch(PLACE), PLACE) if source is None else hub.local_rows(source)
    rows = (
        {
            "id": number,
            "instruction_id_list": row["instruction_id_list"],
            "prompt": row["prompt"],
            "kwargs": row["kwargs"],
            "grading_mode": "fraction",
        }
        for number, row in enumerate(found)
    )
    return hub.write(rows, output or hub.beside(__file__, "ifbench"))
