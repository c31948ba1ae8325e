"""SimpleQA."""

from __future__ import annotations

from pathlib import Path

from blade.gym import hub

PLACE = "https://openaipublic.blob.core.windows.net/simple-evals/simple_qa_test_set.csv"


def prepare(source: str | None = None, output: str | None = None) -> Path:
    """Write the rows; `source` is a copy of the published file."""
    found = hub.table(PLACE, source=source)
    rows = (
        {"id": f"simpleqa-{index}", "question": row["problem"], "expected_answer": row["answer"]}
        for index, row in enumerate(found)
    )
    return hub.write(rows, output or hub.beside(__file__, "simpleqa"))
