"""`blade health`: is the benchmark itself sound?"""

from __future__ import annotations

import json
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
    from blade.benchmark_health import load
    from blade.benchmark_health.report import health_json, health_report, health_short, title
    from blade.model.options import Options
    from blade.report.as_json import dump
    from blade.report.html import render
    from blade.report.terminal import columns, plain_table
    from blade.write import write_texts

    found = load.health(runs, Options())
    report = health_report(found)
    if out:
        texts = {
            "health.md": report,
            "health.html": render(report, title(found)),
            "health.json": dump(health_json(found)),
        }
        write_texts(Path(out), texts)
    if as_json:
        print(json.dumps(health_json(found) if full else health_short(found), ensure_ascii=False))
    else:
        columns.set(terminal_width())
        show(plain_table(report))
        show(
            f"written: {Path(out) / 'health.html'}, health.md and health.json"
            if out
            else "nothing was written; -o DIR writes the report"
        )
