"""Writing an analysis: everything is made in a temporary folder beside its place and moved there at the end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from blade.ingest.saved import save
from blade.model.analysis import Analysis
from blade.model.errors import RequestError
from blade.report import as_json, documents
from blade.report.html import page
from blade.report.sections import report

FILES = {"metrics.json", "tasks.jsonl", "findings.json", "rollouts.parquet", "tasks.parquet", "checks.parquet"}
"""What the folder of a run holds."""


def write(analysis: Analysis, out: Path) -> None:
    """Write the report and a folder for each run; an interrupt leaves what was there before."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".blade-", dir=out) as staging:
            _fill(analysis, Path(staging), out)
            _clear(out, {one.run.name for one in analysis.runs})
            _move(Path(staging), out)
    except OSError as error:
        raise RequestError(
            f"cannot write to {out}: {error.strerror or error}", hint="give a folder that can be written"
        ) from None


def write_texts(out: Path, texts: Mapping[str, str]) -> None:
    """Write files by name; an interrupt leaves what was there before."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".blade-", dir=out) as staging:
            for name, text in texts.items():
                (Path(staging) / name).write_text(text, encoding="utf-8")
            _move(Path(staging), out)
    except OSError as error:
        raise RequestError(
            f"cannot write to {out}: {error.strerror or error}", hint="give a folder that can be written"
        ) from None


def _fill(analysis: Analysis, staging: Path, out: Path) -> None:
    (staging / "report.md").write_text(report(analysis), encoding="utf-8")
    (staging / "report.html").write_text(page(analysis), encoding="utf-8")
    for one in analysis.runs:
        folder = staging / one.run.name
        folder.mkdir()
        (folder / "metrics.json").write_text(as_json.dump(documents.metrics(one)), encoding="utf-8")
        (folder / "tasks.jsonl").write_text(
            as_json.dump_lines(documents.task(row) for row in one.tasks), encoding="utf-8"
        )
        (folder / "findings.json").write_text(as_json.dump(documents.findings(one)), encoding="utf-8")
        save(one.run, folder, at=out / one.run.name)


def _clear(out: Path, staying: set[str]) -> None:
    """Folders of runs that an earlier analysis left here, and nothing else, give way: the folder holds one analysis."""
    for table in sorted(out.glob("*/rollouts.parquet")):
        folder = table.parent
        if folder.name not in staying and {path.name for path in folder.iterdir()} == FILES:
            shutil.rmtree(folder)


def _move(staging: Path, out: Path) -> None:
    for path in sorted(staging.iterdir()):
        target = out / path.name
        if path.is_dir():
            target.mkdir(exist_ok=True)
            for inner in sorted(path.iterdir()):
                inner.replace(target / inner.name)
            shutil.rmtree(path)
        else:
            path.replace(target)
