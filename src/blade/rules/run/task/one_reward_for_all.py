"""Every rollout has one and the same reward, and nothing in the files says what was judged.

Why it matters
    An agent that always fails and an environment that gives no reward look the same. A score of 0 then says nothing about
    the model.

What to do
    Send an answer that is known to be right through the verifier. If it gets the same reward, the verifier gives none.

Limits
    Only where no rollout passes and neither a key nor a word of the verifier is there; five rollouts are needed.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence.context import RunContext
from blade.model.attribution import UNATTRIBUTED
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Differs
from blade.rules.declaration import rule
from blade.stats.counts import JUDGED

FEWEST = 5


@rule("TSK020", scope="run", suggests=Cause.TASK)
def one_reward_for_all(context: RunContext) -> Iterator[Doubt]:
    rows = context.run.rollouts.select("task_id", "outcome", "reward").filter(JUDGED)
    same = rows.height >= FEWEST and rows["reward"].n_unique() == 1 and (rows["outcome"] == "failed").all()
    spoken = (context.partition.differences["kind"] == Differs.SAID).any()
    silent = not spoken and (context.partition.table["mode"] == UNATTRIBUTED).all()
    keyless = context.run.tasks["expected"].null_count() == context.run.tasks.height
    if same and silent and keyless:
        yield Doubt(
            about="verifier",
            tasks=tuple(rows["task_id"].unique(maintain_order=True)),
            message=f"each of the {rows.height:,} rewards is {rows['reward'][0]:g}, and nothing in the files "
            f"says why: an agent that always fails and an environment that gives no reward look the same",
            rollouts=rows.height,
        )
