"""What `blade analyze` prints: a summary that is read in ten seconds."""

from __future__ import annotations

import textwrap

from blade.core.analysis import Analysis, RunAnalysis
from blade.core.run import Artifact
from blade.report.numbers import limits, plural, score
from blade.report.page_one import leading, lost_lines, name_of, page_one, shared_lines, title
from blade.report.text import cut

MOST_FILES = 4
MOST_RUNS = 12
LONGEST_LINE = 220


def taken(analysis: Analysis) -> str:
    """Which files were taken as which run; one line."""
    parts = []
    for one in analysis.runs[:MOST_RUNS]:
        files = [_file(one, a) for a in one.run.artifacts if a.role in ("rollouts", "failures") and a.rows]
        more = f" and {len(files) - MOST_FILES} more files" if len(files) > MOST_FILES else ""
        parts.append(f"{one.run.name} = {', '.join(files[:MOST_FILES]) or 'an earlier analysis'}{more}")
    more = f"; and {len(analysis.runs) - MOST_RUNS} more runs" if len(analysis.runs) > MOST_RUNS else ""
    return "; ".join(parts) + more


def _file(one: RunAnalysis, artifact: Artifact) -> str:
    mine = int((one.run.rollouts["artifact"] == artifact.path).sum())
    return (
        f"{artifact.path} ({mine:,} rows)"
        if mine == artifact.rows
        else f"{artifact.path} ({mine:,} of {artifact.rows:,} rows)"
    )


def summary(analysis: Analysis) -> list[str]:
    """Page one without its marks; with several runs, a line each."""
    if len(analysis.runs) == 1:
        one = analysis.runs[0]
        body = [_plain(line) for line in page_one(analysis)[1:] if line]
        return [title(one), "", *_wrapped(body), *_problems(one)]
    lines = [_line(one) for one in analysis.runs[:MOST_RUNS]]
    said = [_plain(line) for line in [*shared_lines(analysis), *lost_lines(analysis)]]
    return [*_aligned(lines), "", *_wrapped(said), *_problems_of_all(analysis)]


def _line(one: RunAnalysis) -> tuple[str, ...]:
    lead = leading(one)
    buckets = ", ".join(f"{count} {name.split('_')[0]}" for name, count in one.metrics.buckets.items() if count)
    return (
        cut(one.run.name, 48),
        f"{name_of(one.metrics.headline)} {score(lead.value)}",
        f"({limits(lead.interval)})",
        plural(lead.n, "task"),
        plural(one.metrics.counts["total_rollouts"] or 0, "rollout"),
        buckets,
    )


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _plain(line: str) -> str:
    return line.replace("**", "").replace("`", "").replace("\\", "")


def _wrapped(lines: list[str], width: int = 110) -> list[str]:
    return [
        part for line in lines for part in textwrap.wrap(line, width, subsequent_indent="  ", break_on_hyphens=False)
    ]


def _problems(one: RunAnalysis) -> list[str]:
    if not one.run.problem_count:
        return []
    first = one.run.problems[0]
    shown = f"{plural(one.run.problem_count, 'problem')} with the input, first: {first.source}: {first.reason}"
    return [cut(shown, LONGEST_LINE)]


def _problems_of_all(analysis: Analysis) -> list[str]:
    """Each problem once, whichever runs it touches; a few in full, the rest counted."""
    distinct = list(dict.fromkeys(problem for one in analysis.runs for problem in one.run.problems))
    lines = [
        cut(f"problem with the input: {each.source}: {each.reason}", LONGEST_LINE) for each in distinct[:MOST_FILES]
    ]
    more = len(distinct) - len(lines)
    return [*lines, *([f"and {plural(more, 'more problem')}, listed in the report"] if more > 0 else [])]
