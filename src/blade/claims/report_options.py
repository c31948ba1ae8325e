"""What a report of ours says it was asked for: without it the same report cannot be made again."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LEFT_OUT = re.compile(r"Left out on request:(?:\*\*)? (?P<what>.+?)\.(?:\s|$)")
_WISH = re.compile(r"(infra|suspect|(?:task|rollout|code):\S+) \(\d+ rollouts\)")
_THRESHOLD = re.compile(r"(?:a pass is a reward of at least|Pass: reward at least) (\d+(?:\.\d+)?)")
_EXPECTED = re.compile(r"- Expected ([\d,]+) rollouts? \(from: \w+\)")
_PACKAGE = re.compile(r"- Rules of the package: `+([^`\n]+)`+\.")


@dataclass(frozen=True)
class Asked:
    """The wishes behind a report."""

    exclude: tuple[str, ...]
    pass_threshold: float | None
    """None where the report does not say, or says two things."""
    metrics_only: bool
    package: str | None
    """File and hash of the package whose rules were used."""
    grouped: bool
    """Intervals rest on groups of tasks."""
    expects: int | None
    """Rollouts that were expected of the first run."""
    labelled: bool
    """People's verdicts were counted."""


def asked(text: str) -> Asked:
    """The wishes that the text of a report names; none for a report that is not ours."""
    left_out = _LEFT_OUT.search(text)
    wishes = _WISH.findall(left_out.group("what").replace("\\", "")) if left_out else []
    expected = _EXPECTED.search(text)
    package = _PACKAGE.search(text)
    stated = {float(value) for value in _THRESHOLD.findall(text)}
    return Asked(
        exclude=tuple(wishes),
        pass_threshold=stated.pop() if len(stated) == 1 else None,
        package=package.group(1) if package else None,
        grouped=" over groups, 95 %" in text,
        expects=int(expected.group(1).replace(",", "")) if expected else None,
        labelled=" labelled by a person; of " in text,
        metrics_only="trajectories were not read (--metrics-only)" in text,
    )
