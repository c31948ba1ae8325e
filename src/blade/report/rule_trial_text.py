"""A trial of a rule as plain text and as JSON values."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from blade.model.rule_trial import Sighting, Trial, TrialSlice
from blade.report.text import cut, printable

WIDTH = 110
LONGEST_QUOTE = 160
MOST_SLICES = 6


def trial_text(trials: Sequence[Trial]) -> list[str]:
    """The trials in lines that fit a terminal."""
    lines: list[str] = []
    for number, trial in enumerate(trials):
        lines += [""] if number else []
        lines += [f"{trial.run}: {_counts(trial)}", *_grade(trial), *_slices(trial.slices)]
        lines += [line for one in trial.sightings for line in _sighting(one)]
        lines += [f"note: {note}" for note in trial.notes]
    return [printable(line) for line in lines]


def _counts(trial: Trial) -> str:
    said = f"holds in {trial.fired:,} of {trial.checked:,} rollouts ({trial.tasks:,} task{'' if trial.tasks == 1 else 's'})"
    return said + (f"; {trial.skipped:,} could not be looked at" if trial.skipped else "")


def _grade(trial: Trial) -> list[str]:
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


def _slices(slices: Sequence[TrialSlice]) -> list[str]:
    return [
        f"  {one.field} {one.value}: holds in {one.fired:,} of {one.checked:,}, "
        f"of which {one.fired_failed:,} fail ({one.failed:,} of all {one.checked:,})"
        for one in slices[:MOST_SLICES]
    ]


def _sighting(one: Sighting) -> list[str]:
    quote = f' "{cut(" ".join(one.evidence.quote.split()), LONGEST_QUOTE)}"' if one.evidence is not None else ""
    where = f" {one.evidence.field}" if one.evidence is not None and one.evidence.step is None else ""
    return textwrap.wrap(f"{one.place} {one.outcome}{where}{quote}", WIDTH, subsequent_indent="    ") or [one.place]


def trial_json(trial: Trial) -> dict[str, Any]:
    """The trial as JSON values; fractions, not percent."""
    return {
        "run": trial.run,
        "rule": trial.rule,
        "fired": trial.fired,
        "tasks": trial.tasks,
        "checked": trial.checked,
        "skipped": trial.skipped,
        "fired_failed": trial.fired_failed,
        "fired_passed": trial.fired_passed,
        "failed": trial.failed,
        "passed": trial.passed,
        "support": str(trial.support) if trial.support is not None else None,
        "lift": None
        if trial.risk_difference is None
        else {
            "scope": "within tasks",
            "risk_difference": trial.risk_difference,
            "p": trial.p_value,
            "tasks": trial.informative,
        },
        "reason": trial.reason,
        "slices": [
            {
                "field": one.field,
                "value": one.value,
                "fired": one.fired,
                "checked": one.checked,
                "fired_failed": one.fired_failed,
                "failed": one.failed,
            }
            for one in trial.slices
        ],
        "locations": [
            {
                "location": one.place,
                "outcome": one.outcome,
                "field": one.evidence.field if one.evidence is not None else None,
                "quote": one.evidence.quote if one.evidence is not None else None,
            }
            for one in trial.sightings
        ],
        "notes": list(trial.notes),
    }
