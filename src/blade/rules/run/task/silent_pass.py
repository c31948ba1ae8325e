"""A rollout passed without work: the agent said and called nothing, or called nothing where the key wants a change.

Why it matters
    The verifier rewards doing nothing, so other passes may mean as little.

What to do
    Have the verifier ask for something that only work can give.

Limits
    A trajectory that was not recorded is told apart from an agent that did nothing only where none of the run is
    recorded, and some rollouts fail.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from blade.evidence.context import RunContext
from blade.evidence.differences import leaves_out_the_agent
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.rules.declaration import rule


@rule("TSK010", scope="run", suggests=Cause.TASK, status="stable")
def silent_pass(context: RunContext) -> Iterator[Doubt]:
    run = context.run
    if leaves_out_the_agent(run):
        return
    due = run.tasks.filter(pl.col("key_expects").is_in(["one change", "several changes"]))["task_id"].to_list()
    rows = run.rollouts.select("task_id", "repeat", "outcome", "calls", "agent_chars")
    idle = rows.filter((pl.col("outcome") == "passed") & (pl.col("calls") == 0))
    silent = idle.filter((pl.col("agent_chars") == 0) | pl.col("task_id").is_in(due))
    if silent.height:
        places = [f"{task}#{repeat}" for task, repeat in silent.select("task_id", "repeat").head(4).iter_rows()]
        mute = not silent["agent_chars"].sum()
        how = "without a word or a call" if mute else "without a call, though a change is expected"
        yield Doubt(
            about="verifier",
            tasks=tuple(dict.fromkeys(silent["task_id"])),
            message=f"{silent.height} rollout{'s' if silent.height > 1 else ''} passed {how} ({', '.join(places)})",
            rollouts=silent.height,
        )
