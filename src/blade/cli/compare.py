"""`blade compare`: why did the score change."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.console import show, terminal_width
from blade.cli.help import ADVANCED
from blade.cli.options import Baseline, Exclude, Full, Margin, Out, PassThreshold, ShortJson
from blade.model.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from blade.comparison.values import Comparison


def compare(
    baseline: Baseline,
    candidates: Annotated[list[str], typer.Argument(metavar="CAND...", help="The run or runs to set against it.")],
    out: Out = None,
    as_json: ShortJson = False,
    full: Full = False,
    exclude: Exclude = None,
    pass_threshold: PassThreshold = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TERM",
            help="Print the score after this step of the ledger, and nothing else.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    margin: Margin = 2.0,
) -> None:
    """Why did the score change: verdict, a ledger that adds up, tasks that flipped, what was held fixed.

    Example: blade compare runs/base.jsonl runs/new.jsonl -o out
    """
    from blade.comparison.compare import compare as compare_inputs
    from blade.comparison.report import story, title
    from blade.model.options import Options
    from blade.report.terminal import columns, plain_lines

    options = Options(exclude=tuple(exclude or ()), pass_threshold=pass_threshold)
    found = compare_inputs([baseline, *candidates], options, margin / 100)
    if at is not None:
        print("\n".join(_at(one, at) for one in found))
        return
    written = _write(found, out)
    if as_json:
        sys.stdout.write(_json(found, full=full))
        print(written, file=sys.stderr)
        return
    columns.set(terminal_width())
    for one in found:
        show([title(one), "", *plain_lines(story(one)), ""])
    show(written)


def _at(one: Comparison, term: str) -> str:
    """The score after a step; all terms are named when it is none of them."""
    known = {each.term: each for each in one.ledger}
    if term not in known:
        raise RequestError(f"the ledger has no term {term!r}", hint=f"terms: {', '.join(known)}")
    return repr(known[term].score_after)


def _json(found: Sequence[Comparison], *, full: bool) -> str:
    from blade.comparison.document import document, shortened
    from blade.files import json_line

    documents = [document(one) if full else shortened(one) for one in found]
    return json_line(documents[0] if len(documents) == 1 else documents).decode()


def _write(found: Sequence[Comparison], out: str | None) -> str:
    if out is None:
        return "nothing was written; -o DIR writes report.md, report.html and comparison.json"
    from blade.comparison.document import document
    from blade.comparison.report import comparison_report, several, title
    from blade.comparison.scores import letters_of_runs
    from blade.files import json_text
    from blade.report.html import render
    from blade.write import write_texts

    runs = [found[0].baseline, *(one.candidate for one in found)]
    report = comparison_report(found[0]) if len(found) == 1 else several(found, letters_of_runs(runs))
    documents = [document(one) for one in found]
    write_texts(
        Path(out),
        {
            "report.md": report,
            "report.html": render(report, title(found[0])),
            "comparison.json": json_text(documents[0] if len(documents) == 1 else documents).decode(),
        },
    )
    return f"written: {Path(out) / 'report.html'}, report.md and comparison.json"
