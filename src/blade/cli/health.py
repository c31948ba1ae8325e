"""`blade health`: is the benchmark itself sound?"""

from __future__ import annotations

from pathlib import Path

from blade.cli.console import show, terminal_width
from blade.cli.options import Full, Out, RunPaths, ShortJson


def health(
    runs: RunPaths,
    out: Out = None,
    as_json: ShortJson = False,
    full: Full = False,
) -> None:
    """Six questions about a benchmark, its noise and floor, and the tasks that do not deserve trust, with reasons.

    Example: blade health runs/a.jsonl runs/b.jsonl -o out
    """
    from blade.benchmark_health.health import health as health_of
    from blade.benchmark_health.report import health_report, shortened, title
    from blade.files import json_line, json_text
    from blade.model.options import Options
    from blade.report.html import render
    from blade.report.terminal import columns, plain_table
    from blade.write import write_texts

    found = health_of(runs, Options())
    report = health_report(found)
    if out:
        texts = {
            "health.md": report,
            "health.html": render(report, title(found)),
            "health.json": json_text(found).decode(),
        }
        write_texts(Path(out), texts)
    if as_json:
        print(json_line(found if full else shortened(found)).decode(), end="")
    else:
        columns.set(terminal_width())
        show(plain_table(report))
        show(
            f"written: {Path(out) / 'health.html'}, health.md and health.json"
            if out
            else "nothing was written; -o DIR writes the report"
        )
