"""The one definition of infrastructure: scores, funnel, causes, comparison, gate and `--exclude infra` read this."""

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
