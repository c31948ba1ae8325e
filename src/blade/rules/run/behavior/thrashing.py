"""A failing rollout makes far more calls than every passing repeat of its task, many of them the same few.

Why it matters
    The passes show how few calls the task needs. The agent got stuck, and spent its budget on calls that it had made
    before.

What to do
    Read what the repeated call returned: an agent that goes round usually misses a word in a result. A harness can say
    that the call was made before, or stop the loop.

Limits
    Set against passing repeats, so tasks that never pass are not looked at, and that the rule goes with failing is no
    finding of its own. Calls that differ only in numbers and case count as the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.model.pattern import pattern_of
from blade.model.rollout import Step
from blade.rules.declaration import rule

TIMES = 2
"""How many times the calls of the longest pass."""
MORE = 6
"""Calls that there must be beyond those of the longest pass."""
AGAIN = 1 / 3
"""Share of the calls that were made before."""
_NUMBER = pattern_of(r"\d+|\s+")


@rule("BEH011", scope="run", suggests=Cause.BEHAVIOR, status="stable")
def thrashing(context: RunContext) -> Iterator[Doubt]:
    for task in (one for one in context.reading.sometimes if one not in context.unlike):
        walks = context.reading.of(task)
        longest = max((len(walk.calls) for walk in walks if walk.passed), default=0)
        stuck = [walk for walk in walks if not walk.passed and _is_stuck(walk, longest)]
        if stuck and longest:
            yield _doubt(task, longest, stuck)


def _is_stuck(walk: AlignedTrajectory, longest: int) -> bool:
    calls = len(walk.calls)
    again = calls - len({_alike(call) for call in walk.calls})
    return calls >= TIMES * longest and calls >= longest + MORE and again >= AGAIN * calls


def _alike(call: Step) -> str:
    """A call as it is compared with others: numbers, white space and case do not tell two apart."""
    return f"{call.tool}({_NUMBER.sub('', (call.arguments or '').lower())})"


def _doubt(task: str, longest: int, stuck: list[AlignedTrajectory]) -> Doubt:
    first = stuck[0]
    same, times = Counter(_alike(call) for call in first.calls).most_common(1)[0]
    last = [call for call in first.calls if _alike(call) == same][-1]
    evidence = quotes.of_call(first.rollout, last, last.arguments or "", "")
    return Doubt(
        about="agent",
        tasks=(task,),
        message=f"{first.place} makes {len(first.calls)} calls, and no passing repeat more than {longest}; "
        f"`{last.tool}` is called {times} times alike (last at :{last.index})",
        rollouts=len(stuck),
        evidence=(evidence,) if evidence else (),
    )
