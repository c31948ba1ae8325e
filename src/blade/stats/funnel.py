"""Ordered stages and how many rollouts reach each; a stage that cannot apply is left out and named."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import polars as pl

from blade.model.analysis import Funnel, FunnelStage
from blade.model.run import Run
from blade.stats.counts import JUDGED, PASSED, PRESENT


def funnel(run: Run, custom: Sequence[str] = ()) -> Funnel:
    """Stages from expected to passed, each counted among those that reached the one before.

    The core action is a change, a patch or an answer; feedback is a tool or test result after it. A package's own
    stages (`taught`) stand in place of these two.
    """
    rows = run.rollouts.select("outcome", "attempted", "feedback", "reached", "steps")
    between = [(name, _reached(rows, name), "no rollout has a trajectory") for name in custom]
    attempted = ("attempted the core action", _flag(rows, "attempted", True), "no trajectory shows what was attempted")
    feedback = "no rollout changes anything, so no result can come back"
    stages: list[tuple[str, pl.Expr | None, str]] = [
        ("started", PRESENT, ""),
        *(between or [attempted]),
        ("reached the verifier", JUDGED, ""),
        *([] if between else [("received feedback", _flag(rows, "feedback", True), feedback)]),
        ("passed", PASSED, ""),
    ]
    reached = [("expected", rows.height)] if run.expected_from is not None else []
    known = {name: condition.fill_null(False) for name, condition, _ in stages if condition is not None}
    there = pl.repeat(True, rows.height, eager=True)
    for flag in rows.select(**known):
        there &= flag
        reached.append((flag.name, int(there.sum())))
    counts = [count for _, count in reached]
    shares = [None, *(after / before if before else None for before, after in pairwise(counts))]
    return Funnel(
        stages=tuple(FunnelStage(name=n, rollouts=c, share=s) for (n, c), s in zip(reached, shares, strict=True)),
        left_out=tuple(f"{name} ({why})" for name, condition, why in stages if condition is None),
        passed_otherwise=int(flag.sum()) - counts[-1],
    )


def _reached(rows: pl.DataFrame, name: str) -> pl.Expr | None:
    """Whether a rollout reached a stage of the package; None when no rollout can show it."""
    if rows["steps"].null_count() == rows.height:
        return None
    return pl.col("reached").list.contains(name).fill_null(False) | pl.col("steps").is_null()


def _flag(rows: pl.DataFrame, name: str, unknown: bool) -> pl.Expr | None:
    """Whether a flag is set, taken as `unknown` where a rollout cannot show it; None when none can."""
    if rows[name].null_count() == rows.height:
        return None
    return pl.col(name).fill_null(unknown)
