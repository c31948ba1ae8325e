"""The one definition of infrastructure, and of failures that are not the agent's.

Scores, funnel, causes, comparison, gate and `--exclude infra` read this.
"""

from __future__ import annotations

import polars as pl

PARTIES = ("harness", "environment", "verifier")
SETTLED = ("proven", "likely")

INFRA = (
    ~pl.col("valid")
    & pl.col("party").is_in(PARTIES)
    & pl.col("confidence").is_in(SETTLED)
    & (pl.col("outcome") != "passed")
).fill_null(value=False)
"""Not validly graded, put down to harness, environment or verifier, and proven or likely."""

OTHERS = (*PARTIES, "task", "tool", "user_simulator")
"""Who has to act where it is neither the agent nor a limit, which somebody has to decide."""

NOT_AGENTS = (
    pl.col("party").is_in(OTHERS) & pl.col("confidence").is_in(SETTLED) & (pl.col("outcome") != "passed")
).fill_null(value=False)
"""A rollout that did not pass for a reason that is proven or likely to lie outside the agent."""

PROVEN_NOT_AGENTS = NOT_AGENTS & (pl.col("confidence") == "proven").fill_null(value=False)
