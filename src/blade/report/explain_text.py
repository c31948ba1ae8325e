"""One task as plain text: due, repeats side by side, where they part."""

from __future__ import annotations

import textwrap

from blade.model.diagnosis import Contrast, DeepDive, Divergence, Moment
from blade.report.diagnosis import place
from blade.report.text import cut, printable

WIDTH = 110
LONGEST_DONE = 300


def explanation(deep_dive: DeepDive, contrast: Contrast | None) -> list[str]:
    """The task in lines that fit a terminal."""
    lines = [*_wrapped(f"Task {deep_dive.task_id}: {deep_dive.why}"), *_wrapped(f"Due: {deep_dive.due}"), ""]
    for where, outcome, did in deep_dive.repeats:
        lines += _wrapped(f"{where:<14} {outcome:<7} {cut(did, LONGEST_DONE)}", "    ")
    if contrast is not None:
        for one in contrast.divergences:
            lines += ["", *_divergence(one)]
        lines += ["", *_sides(contrast)]
    else:
        lines += ["", *(part for line in deep_dive.lines for part in _wrapped(f"- {line}"))]
    return [printable(line.replace("`", "")) for line in lines]


def _divergence(one: Divergence) -> list[str]:
    fail, win = f"{one.task_id}#{one.failing}", f"{one.task_id}#{one.passing}"
    head = f"{fail} against {win}: {one.shared} calls in common, then the {one.party}: {one.what}"
    return [*_wrapped(head), *_moment("failing", one.failed), *_moment("passing", one.passed)]


def _moment(side: str, moment: Moment) -> list[str]:
    lines = []
    if moment.before is not None:
        lines += _wrapped(f"  {side}, before: {place(moment.before)} {_quoted(moment.before.quote)}", "      ")
    if moment.evidence is not None:
        lines += _wrapped(
            f"  {side}, {moment.did}: {place(moment.evidence)} {_quoted(moment.evidence.quote)}", "      "
        )
    return lines


def _quoted(quote: str) -> str:
    return f'"{" ".join(quote.split())}"'


def _sides(contrast: Contrast) -> list[str]:
    lines = []
    if contrast.only_passing:
        lines += _wrapped(f"Only passing repeats have: {', '.join(contrast.only_passing)}")
    if contrast.only_failing:
        lines += _wrapped(f"Only failing repeats have: {', '.join(contrast.only_failing)}")
    if contrast.lucky:
        places = ", ".join(f"{contrast.task_id}#{repeat}" for repeat in contrast.lucky)
        lines += _wrapped(f"Lucky: {places} passes with less than any failure did")
    return lines


def _wrapped(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False) or [""]
