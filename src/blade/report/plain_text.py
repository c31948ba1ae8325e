"""What commands print of one task and of a rule on trial: plain text for people and agents."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from blade.model.diagnosis import Contrast, DeepDive, Divergence, Moment, RuleTrial, Sighting, TrialSlice
from blade.report.text import cut, printable

WIDTH = 110
LONGEST_DONE = 300
LONGEST_QUOTE = 160
MOST_SLICES = 6


def explanation(deep_dive: DeepDive, contrast: Contrast | None) -> list[str]:
    """The task in lines that fit a terminal."""
    lines = [*_wrapped(f"Task {deep_dive.task_id}: {deep_dive.why}"), *_wrapped(f"Expected: {deep_dive.due}"), ""]
    for one in deep_dive.repeats:
        lines += _wrapped(f"{one.location:<14} {one.outcome:<7} {cut(one.did, LONGEST_DONE)}", "    ")
    if contrast is not None:
        for divergence in contrast.divergences:
            lines += ["", *_divergence(divergence)]
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
        lines += _wrapped(f"  {side}, before: {moment.before.location} {_quoted(moment.before.quote)}", "      ")
    if moment.evidence is not None:
        lines += _wrapped(
            f"  {side}, {moment.did}: {moment.evidence.location} {_quoted(moment.evidence.quote)}", "      "
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


def trial_text(trials: Sequence[RuleTrial]) -> list[str]:
    """The trials in lines that fit a terminal."""
    lines: list[str] = []
    for number, trial in enumerate(trials):
        lines += [""] if number else []
        lines += [f"{trial.run}: {_trial_counts(trial)}", *_trial_support(trial), *_trial_slices(trial.slices)]
        lines += [line for one in trial.sightings for line in _sighting(one)]
        lines += [f"note: {note}" for note in trial.notes]
    return [printable(line) for line in lines]


def _trial_counts(trial: RuleTrial) -> str:
    said = f"holds in {trial.fired:,} of {trial.checked:,} rollouts ({trial.tasks:,} task{'' if trial.tasks == 1 else 's'})"
    return said + (f"; {trial.skipped:,} could not be looked at" if trial.skipped else "")


def _trial_support(trial: RuleTrial) -> list[str]:
    without_failed, without_passed = trial.failed - trial.fired_failed, trial.passed - trial.fired_passed
    with_, without = trial.fired_failed + trial.fired_passed, without_failed + without_passed
    said = (
        f"fails {trial.fired_failed:,} of {with_:,} where it holds, {without_failed:,} of {without:,} where it does not"
    )
    lines = [said] if trial.fired else []
    if trial.support is not None and trial.fired:
        lifted = f"{trial.support}"
        if trial.mixed_in:
            worse, better = trial.mixed_in
            lifted += f" (goes with failing in {worse}, with passing in {better})"
        if trial.risk_difference is not None and trial.p_value is not None:
            lifted += f": within a task {trial.risk_difference * 100:+.0f} points of failing (p {trial.p_value:.2g}, {trial.informative} tasks that tell)"
        elif trial.reason:
            lifted += f": {trial.reason}"
        lines.append(lifted)
    elif trial.reason and trial.fired:
        lines.append(f"no grade: {trial.reason}")
    return lines


def _trial_slices(slices: Sequence[TrialSlice]) -> list[str]:
    return [
        f"  {one.field} {one.value}: holds in {one.fired:,} of {one.checked:,}, "
        f"of which {one.fired_failed:,} fail ({one.failed:,} of all {one.checked:,})"
        for one in slices[:MOST_SLICES]
    ]


def _sighting(one: Sighting) -> list[str]:
    quote = f' "{cut(" ".join(one.evidence.quote.split()), LONGEST_QUOTE)}"' if one.evidence is not None else ""
    where = f" {one.evidence.field}" if one.evidence is not None and one.evidence.step is None else ""
    return textwrap.wrap(f"{one.location} {one.outcome}{where}{quote}", WIDTH, subsequent_indent="    ") or [
        one.location
    ]
