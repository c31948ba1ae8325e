"""A rollout passed without a word or a call of the agent.

Why it matters
    The verifier rewards doing nothing, so other passes may mean as little.

What to do
    Have the verifier ask for something that only work can give.

Limits
    A trajectory that was not recorded is not told apart from an agent that did nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from blade.core.diagnosis import Doubt
from blade.core.finding import Cause
from blade.diagnose.context import Context
from blade.diagnose.rules._rule import run_rule


@run_rule("TSK010", suggests=Cause.TASK)
def silent_pass(context: Context) -> Iterator[Doubt]:
    run = context.run
    silent = run.rollouts.filter(
        (pl.col("outcome") == "passed") & (pl.col("agent_chars") == 0) & (pl.col("calls") == 0)
    )
    if silent.height:
        places = [f"{task}#{repeat}" for task, repeat in silent.select("task_id", "repeat").head(4).iter_rows()]
        yield Doubt(
            about="verifier",
            tasks=tuple(dict.fromkeys(silent["task_id"])),
            message=f"{silent.height} rollout{'s' if silent.height > 1 else ''} passed without a word or a call ({', '.join(places)})",
            rollouts=silent.height,
        )
