"""Writing an analysis, or texts by name, into a folder: all that is new appears there together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from blade.files import replacing_in
from blade.ingest.saved import save, save_table
from blade.model.analysis import Analysis
from blade.report import as_json, documents
from blade.report.html import page
from blade.report.sections import report

FILES = (
    "metrics.json",
    "tasks.jsonl",
    "findings.json",
    "rollouts.parquet",
    "tasks.parquet",
    "checks.parquet",
    "attributions.parquet",
)
"""What the folder of a run holds."""


def write(analysis: Analysis, out: Path) -> None:
    """Write the report and a folder for each run.

    Folders of runs that an earlier analysis left in `out`, and nothing else, give way: the folder holds one analysis.
    """

    def obsolete(out: Path) -> Iterator[str]:
        staying = {each.run.name for each in analysis.runs}
        for table in sorted(out.glob("*/rollouts.parquet")):
            folder = table.parent
            if folder.name not in staying and {path.name for path in folder.iterdir()} <= set(FILES):
                yield from (f"{folder.name}/{name}" for name in FILES)

    with replacing_in(out, obsolete) as staging:
        (staging / "report.md").write_text(report(analysis), encoding="utf-8")
        (staging / "report.html").write_text(page(analysis), encoding="utf-8")
        for each in analysis.runs:
            folder = staging / each.run.name
            folder.mkdir()
            (folder / "metrics.json").write_text(as_json.dump(documents.metrics(each)), encoding="utf-8")
            tasks = as_json.dump_lines(documents.task(row) for row in each.tasks)
            (folder / "tasks.jsonl").write_text(tasks, encoding="utf-8")
            (folder / "findings.json").write_text(as_json.dump(documents.findings(each)), encoding="utf-8")
            if each.attributions is not None:
                save_table(each.attributions.table, folder / "attributions.parquet")
            save(each.run, folder, at=out / each.run.name)


def write_texts(out: Path, texts: Mapping[str, str]) -> None:
    """Write files by name."""
    with replacing_in(out) as staging:
        for name, text in texts.items():
            (staging / name).write_text(text, encoding="utf-8")
