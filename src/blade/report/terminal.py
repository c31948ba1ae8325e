"""What `blade analyze` prints: a summary that is read in ten seconds."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from contextvars import ContextVar
from itertools import zip_longest

from blade.model.analysis import Analysis, RunAnalysis
from blade.model.pattern import pattern_of
from blade.model.run import Artifact
from blade.report.diagnosis import (
    MOST_DOUBTS,
    MOST_FINDINGS,
    causes_lines,
    issues_told,
    not_passed,
    passes_to_doubt_lines,
    responsible_lines,
    shown_modes,
    strength,
)
from blade.report.lost import LostInput, grouped
from blade.report.numbers import limits, plural, score
from blade.report.page_one import after_doubts, before_modes, leading, lost_lines, name_of, shared_lines, title
from blade.report.readers import readers_line
from blade.report.text import cut, cut_inside, printable, spans

MOST_FILES = 4
MOST_RUNS = 12
LONGEST_LINE = 220
WIDTH = 110
"""Columns of a paragraph that is not made for a terminal: the same bytes whoever reads them."""
NARROWEST = 12
"""Columns that a cell of a table keeps, however narrow the terminal is."""
columns: ContextVar[int | None] = ContextVar("columns", default=None)
"""Those of the terminal that the lines are for; None where they go elsewhere."""
_MARKS = pattern_of(
    r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)|\\(?P<escaped>.)|(?P<amp>&amp;)"
    r"|\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|`"
)
"""What Markdown does not show as it stands; first what says of other marks that they are none."""


def taken(analysis: Analysis) -> str:
    """Which files were taken as which run, in one line; and the rule book, in another, where one was used."""
    parts = []
    for one in analysis.runs[:MOST_RUNS]:
        files = [_file(one, a) for a in one.run.artifacts if a.role in ("rollouts", "failures") and a.rows]
        more = f" and {len(files) - MOST_FILES} more files" if len(files) > MOST_FILES else ""
        parts.append(f"{one.run.name} = {', '.join(files[:MOST_FILES]) or 'an earlier analysis'}{more}")
    more = f"; and {len(analysis.runs) - MOST_RUNS} more runs" if len(analysis.runs) > MOST_RUNS else ""
    books = dict.fromkeys(each.run.rule_book_name for each in analysis.runs if each.run.rule_book_name)
    return "\n".join(["; ".join(parts) + more, *(f"rule book: {book}" for book in books), *readers_lines(analysis)])


def readers_lines(analysis: Analysis) -> list[str]:
    """How many attributions of readers count, whose and from where; and which could not be used."""
    used = [one for each in analysis.runs for one in each.run.readings.used]
    unused = [one for each in analysis.runs for one in each.run.readings.unused]
    if not used and not unused:
        return []
    files = dict.fromkeys(name for each in analysis.runs for name in each.run.readings.files)
    counts = Counter(one.by for one in used)
    whose = f" ({', '.join(f'{by} {times:,}' for by, times in sorted(counts.items()))})" if used else ""
    lines = [f"readers: {plural(len(used), 'attribution')} used{whose}, from {', '.join(files)}"]
    lines += [f"readers: not used, {cut(one, LONGEST_LINE)}" for one in unused[:MOST_FILES]]
    more = len(unused) - MOST_FILES
    return [*lines, *([f"readers: and {more:,} more that could not be used"] if more > 0 else [])]


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
        body = [_plain(line) for line in before_modes(one)]
        issues, after = _wrapped(_issues(one)), _wrapped([_plain(line) for line in after_doubts(one)])
        between = [""] if issues else []
        return [title(one), "", *_wrapped(body), *_modes(one), *_findings(one), *issues, *between, *after]
    lines = [_line(one) for one in analysis.runs[:MOST_RUNS]]
    said = [_plain(line) for line in [*shared_lines(analysis), *lost_lines(analysis)]]
    failed = [line for one in analysis.runs[:MOST_RUNS] for line in _in_short(one)]
    return [*_aligned(lines), "", *_wrapped(said), *_wrapped(failed), *_problems_of_all(analysis)]


def _in_short(one: RunAnalysis) -> list[str]:
    """How a run's failures failed, and its first finding, in a line each."""
    if one.diagnosis is None or not one.metrics.counts["failed_rollouts"]:
        return []
    modes = "; ".join(f"{mode.rollouts:,} {_words(mode.name)}" for mode in shown_modes(one.diagnosis)[:3])
    whose = [_plain(line) for line in responsible_lines(one)]
    lines = [f"{one.run.name}: {' '.join([*whose, f'What went wrong: {modes}.'])}"]
    return [
        *lines,
        *(f"{one.run.name}, first: {_words(f.title)}. {_words(f.what)}" for f in one.diagnosis.findings[:1]),
    ]


def _modes(one: RunAnalysis) -> list[str]:
    """The partition as aligned lines, between blank ones."""
    failed = one.diagnosis.responsibility.failures if one.diagnosis is not None else 0
    if one.diagnosis is None or not failed:
        return []
    rows = [
        (
            f"{m.rollouts:>6,}",
            f"in {plural(m.tasks, 'task')}",
            cut(_words(m.name) + (f" ({m.note})" if m.note else ""), 84),
        )
        for m in shown_modes(one.diagnosis)
    ]
    causes = [_plain(line) for line in [*responsible_lines(one), *readers_line(one), *causes_lines(one)]]
    return [
        "",
        f"What went wrong in the {not_passed(one, failed)} (each counted once):",
        *_aligned(rows),
        *_wrapped(causes),
        "",
    ]


def _findings(one: RunAnalysis) -> list[str]:
    """Each finding with one example."""
    lines: list[str] = []
    for number, f in enumerate(one.diagnosis.findings[:MOST_FINDINGS] if one.diagnosis else (), start=1):
        sure = f" [{strength(f)}]" if strength(f) else ""
        lines += _wrapped([_words(f"{number}. {f.title.rstrip('.')}. {f.what}{sure}")])
        lines += _wrapped([_words(f"   {f.against}")] if f.against else [], indent="   ")
        lines += _wrapped([_words(f"   Do ({f.owner}): {f.fix}.")] if f.fix else [], indent="   ")
        lines.append("")
    return lines


def _issues(one: RunAnalysis) -> list[str]:
    found = issues_told(one.diagnosis)[:MOST_DOUBTS] if one.diagnosis else ()
    told = [f"- {about}: {_words(text)}." for about, text in found]
    passes = [_plain(line) for line in passes_to_doubt_lines(one)]
    return [*(["Benchmark issues:", *told] if told else []), *passes]


def _line(one: RunAnalysis) -> tuple[str, ...]:
    lead = leading(one)
    buckets = ", ".join(f"{count} {name.split('_')[0]}" for name, count in one.metrics.buckets.items() if count)
    return (
        cut_inside(one.run.name, 48),
        f"{name_of(one.metrics.headline)} {score(lead.value)}",
        f"({limits(lead.interval)})",
        plural(lead.n, "task"),
        plural(one.metrics.counts["total_rollouts"] or 0, "rollout"),
        buckets,
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    room = columns.get()
    while room is not None and sum(widths) + 2 * (len(widths) - 1) > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    if room is not None:
        wrapped = [[textwrap.wrap(cell, width) for cell, width in zip(row, widths, strict=True)] for row in rows]
        rows = [line for cells in wrapped for line in zip_longest(*cells, fillvalue="")]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def plain_lines(lines: Sequence[str]) -> list[str]:
    """Lines of Markdown without its marks, wrapped for a terminal."""
    return [printable(line) for line in _wrapped([_plain(line) for line in lines])]


def plain_table(markdown: str) -> list[str]:
    """Markdown as a terminal shows it: tables with aligned columns, other lines without their marks."""
    lines: list[str] = []
    rows: list[list[str]] = []
    for line in [*markdown.rstrip("\n").split("\n"), ""]:
        if line.startswith("|"):
            if not line.startswith("| ---") and set(line) - set("|- "):
                rows.append([_plain(cell.strip()) for cell in line.strip("|").split(" | ")])
            continue
        lines += _aligned(rows) if rows else []
        rows = []
        lines += [_plain(line.removeprefix("# "))] if line else []
    return [printable(line) for line in lines]


def _plain(line: str) -> str:
    return _MARKS.sub(_shown, line)


def _shown(mark: re.Match[str]) -> str:
    if mark["code"] is not None:
        return mark["code"].replace("\\|", "|")
    return "&" if mark["amp"] else mark["escaped"] or ""


def _words(text: str) -> str:
    """A sentence of a finding, which is no Markdown but for names between backticks."""
    return "".join(_named(part) if kind == "name" else part for kind, part in spans(text))


def _named(name: str) -> str:
    """A name as a terminal shows it: one of several words would run into the sentence."""
    return f'"{name}"' if " " in name and '"' not in name else name


def _wrapped(lines: list[str], indent: str = "  ") -> list[str]:
    width = columns.get() or WIDTH
    return [
        part for line in lines for part in textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
    ]


def _problems_of_all(analysis: Analysis) -> list[str]:
    """Each problem once, whichever runs it touches; a few in full, the rest counted."""
    distinct = grouped(dict.fromkeys(problem for one in analysis.runs for problem in one.run.problems))
    lines = [cut(f"problem with the input: {_lost(each)}", LONGEST_LINE) for each in distinct[:MOST_FILES]]
    more = sum(each.count for each in distinct[MOST_FILES:])
    return [*lines, *([f"and {plural(more, 'more problem')}, listed in the report"] if more > 0 else [])]


def _lost(lost: LostInput) -> str:
    again = f" in {lost.count:,} places, first" if lost.count > 1 else ""
    return f"{lost.reason}{again}: {lost.first}" if again else f"{lost.first}: {lost.reason}"
