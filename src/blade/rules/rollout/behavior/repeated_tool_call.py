"""The same tool is called with the same arguments three times or more in a row.

Why it matters
    A repeated call returns what the agent already knows, so budget is spent without progress.
    It usually means that the agent did not take in the tool's result.

What to do
    Show the tool's error more plainly, or stop the loop in the harness.

Limits
    Polling a long job is legitimate, and is not told apart from thrashing. A loop of two calls that alternate is
    not seen, nor are calls whose arguments differ only in white space.
"""

from collections.abc import Iterator
from itertools import groupby

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout
from blade.rules.declaration import rule

REPEATS = 3


@rule(
    "BEH001",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.longest_repeat >= REPEATS,
    status="stable",
)
def repeated_tool_call(rollout: Rollout) -> Iterator[Evidence]:
    for (tool, arguments), group in groupby(rollout.calls, key=lambda step: (step.tool or "", step.arguments or "")):
        same = list(group)
        if len(same) >= REPEATS and (tool or arguments):
            field = "arguments" if arguments else "tool"
            quote = (arguments or tool)[:LONGEST_QUOTE]
            yield Evidence(key=rollout.key, step=same[REPEATS - 1].index, field=field, quote=quote)
