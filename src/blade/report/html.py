"""The report as one page that opens from disk: rendered Markdown, cleaned, with its style and a picture of the outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import nh3
from markdown_it import MarkdownIt

from blade.model.analysis import Analysis, RunAnalysis, TaskResult
from blade.report.page_one import heading
from blade.report.sections import report

MOST_TASKS = 400
"""Columns that can still be told apart; a run with more has no picture."""
MOST_SQUARES = 6_000
"""Squares of a page that still opens at once."""
_SIDE = 10
_WIDEST = 80
"""Columns side by side; the rest stands below them."""
_GAP = 8

_TAGS = set("h1 h2 h3 p table thead tbody tr th td ul ol li strong em code blockquote hr br".split())  # noqa: SIM905

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d8dee6; --paper: #ffffff; --band: #f5f7fa; --mark: #0b6e4f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ee; --soft: #9aa5b4; --line: #38414d; --paper: #14181e; --band: #1c222a; --mark: #57c99a; }
}
body { margin: 0 auto; max-width: 64rem; padding: 2rem 1.25rem 5rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 1rem; text-wrap: balance; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .8rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .5rem; color: var(--mark); }
p, li { max-width: 48rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; margin: .6rem 0 1.2rem; font-size: .9rem; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .32rem .8rem .32rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  font-variant-numeric: tabular-nums; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
code { background: var(--band); padding: .1em .35em; border-radius: 3px; font-size: .88em; overflow-wrap: anywhere; }
td:first-child code { overflow-wrap: break-word; }
figure { margin: 0 0 1.4rem; }
figure svg { max-width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: .85rem; }
.passed { fill: var(--mark); }
.failed { fill: #d1603d; }
.unjudged { fill: var(--soft); }
.missing { fill: none; stroke: var(--soft); }
blockquote { margin: .5rem 0; padding: .2rem 1rem; border-left: 3px solid var(--line); color: var(--soft); }
"""


def page(analysis: Analysis) -> str:
    """The report of an analysis as one page."""
    return render(report(analysis), heading(analysis), "".join(map(task_map, analysis.runs)))


def render(markdown: str, title: str, pictures: str = "") -> str:
    """One self-contained HTML page; whatever stands in the artifacts reaches it as text only.

    `pictures` are trusted: they are put under the title as they are.
    """
    body = nh3.clean(
        MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown), tags=_TAGS, attributes={}
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body.replace('</h1>', '</h1>' + pictures, 1)}</body>\n</html>\n"
    )


def task_map(one: RunAnalysis) -> str:
    """An inline figure whose squares are the rollouts that were expected; empty where it could not be read."""
    tasks = sorted(one.tasks, key=lambda task: -_share(task))
    tallest = max((len(_squares(task)) for task in tasks), default=0)
    few = 2 <= len(tasks) <= MOST_TASKS and 0 < len(tasks) * tallest <= MOST_SQUARES
    if not few or one.metrics.headline != "pass_at_1":
        return ""
    lines = [tasks[at : at + _WIDEST] for at in range(0, len(tasks), _WIDEST)]
    width = _SIDE * min(len(tasks), _WIDEST)
    height = len(lines) * (tallest * _SIDE + _GAP) - _GAP
    columns = "".join(
        _column(task, x * _SIDE, y * (tallest * _SIDE + _GAP))
        for y, line in enumerate(lines)
        for x, task in enumerate(line)
    )
    said = escape(_caption(one, tasks))
    return (
        f'<figure><svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{said}">'
        f"{columns}</svg><figcaption>{said}</figcaption></figure>\n"
    )


def _share(task: TaskResult) -> float:
    return task.score if task.score is not None else -1.0


def _squares(task: TaskResult) -> list[str]:
    """The kind of each square, from top to bottom."""
    return [kind for kind, count in _counted(task) for _ in range(count)]


def _counted(task: TaskResult) -> Iterator[tuple[str, int]]:
    yield "passed", task.passed
    yield "failed", task.failed
    yield "unjudged", task.errored + task.unscored
    yield "missing", task.missing or 0


def _column(task: TaskResult, x: int, y: int) -> str:
    squares = "".join(
        f'<rect class="{kind}" x="{x}" y="{y + place * _SIDE}" width="{_SIDE - 1}" height="{_SIDE - 1}"/>'
        for place, kind in enumerate(_squares(task))
    )
    told = ", ".join(f"{count} {kind}" for kind, count in _counted(task) if count)
    return f"<g><title>{escape(task.task_id)}: {told}</title>{squares}</g>"


def _caption(one: RunAnalysis, tasks: Sequence[TaskResult]) -> str:
    names = ("passed", "failed", "unjudged", "missing")
    counts = [sum(dict(_counted(task))[name] for task in tasks) for name in names]
    told = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True) if count)
    return f"{one.run.name}: a column a task ({len(tasks)}), a square a rollout ({told})."
