"""What a run does not record, so that its absence from a rollout says nothing about that rollout."""

from __future__ import annotations

import polars as pl

from blade.model.run import Run


def leaves_out_the_agent(run: Run) -> bool:
    """Whether no rollout holds a word or a call of the agent, though some pass and some do not.

    Then the verifier tells work from work, and the harness did not write it down. Where all pass or all fail, an agent
    that never ran looks the same.
    """
    judged = run.rollouts.select("outcome", "calls", "agent_chars").filter(
        pl.col("outcome").is_in(["passed", "failed"]) & pl.col("calls").is_not_null()
    )
    silent = not judged["calls"].sum() and not judged["agent_chars"].sum()
    return silent and judged["outcome"].n_unique() > 1
