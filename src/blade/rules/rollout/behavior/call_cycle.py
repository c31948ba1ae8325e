"""The same few calls, with the same arguments, are made in the same order three times or more in a row.

Why it matters
    Each round returns what the agent already knows, so budget is spent without progress, and the loop often lasts
    until a limit ends the rollout.

What to do
    Read what the calls return: an agent that goes back and forth usually misses a word in a result. A harness can
    stop the loop by saying that the call was made before.

Limits
    Polling that takes two calls (wait, look) is legitimate, and is not told apart. A cycle of more than six calls, or one
    whose arguments change a little from round to round, is not seen; one call repeated alone is BEH001.
"""

from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout
from blade.rules.declaration import rule

ROUNDS = 3
LONGEST_CYCLE = 6
"""Calls of a round; a longer plan that is walked again is rather a fresh start."""
SHORTEST_CYCLE = 2


@rule(
    "BEH004",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.calls >= ROUNDS * SHORTEST_CYCLE,
    status="stable",
)
def call_cycle(rollout: Rollout) -> Iterator[Evidence]:
    arguments = [step.arguments for step in rollout.steps or () if step.kind == "call"]
    # Every round after the first repeats the arguments of the first.
    if len(set(arguments)) > len(arguments) - (ROUNDS - 1) * SHORTEST_CYCLE:
        return
    calls = rollout.calls
    made = [(call.tool or "", call.arguments or "") for call in calls]
    cycle = _first_cycle(made)
    if cycle is None:
        return
    start, length = cycle
    for call in calls[start + (ROUNDS - 1) * length : start + ROUNDS * length]:
        field, words = ("arguments", call.arguments) if call.arguments else ("tool", call.tool)
        if words:
            yield Evidence(key=rollout.key, step=call.index, field=field, quote=words[:LONGEST_QUOTE])


def _first_cycle(made: list[tuple[str, str]]) -> tuple[int, int] | None:
    """Where the first cycle begins and how many calls a round has; the shortest round where several fit."""
    for length in range(SHORTEST_CYCLE, LONGEST_CYCLE + 1):
        same = 0
        for place in range(length, len(made)):
            same = same + 1 if made[place] == made[place - length] else 0
            start = place + 1 - ROUNDS * length
            if same >= (ROUNDS - 1) * length and len(set(made[start : start + length])) > 1:
                return start, length
    return None
