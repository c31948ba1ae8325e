"""Ordered stages and how many rollouts reach each; a stage that cannot apply is left out."""

from __future__ import annotations

from itertools import pairwise

from blade.core.analysis import Stage
from blade.core.run import Run
from blade.metrics.counts import JUDGED, PASSED, PRESENT


def funnel(run: Run) -> tuple[Stage, ...]:
    """Stages from expected to passed; `share` is of those that reached the stage before."""
    rows = run.rollouts
    reached = [("expected", rows)] if run.expected_from is not None else []
    reached.append(("started", rows := rows.filter(PRESENT)))
    reached.append(("judged by the verifier", rows := rows.filter(JUDGED)))
    reached.append(("passed", rows.filter(PASSED)))
    counts = [frame.height for _, frame in reached]
    shares = [None, *(after / before if before else None for before, after in pairwise(counts))]
    return tuple(
        Stage(name=name, rollouts=frame.height, share=share)
        for (name, frame), share in zip(reached, shares, strict=True)
    )
