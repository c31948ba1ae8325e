"""One of the agent's last calls failed, and what it said next does not mention it.

Why it matters
    The answer rests on something that did not happen: a look-up that returned nothing, a change that was not made.

What to do
    Show the agent that the call failed, in words and in a fixed place, and tell it to retry or to report.

Limits
    Whether a result is an error is told from its first words; one without a mark counts where the call was to change
    something. An agent that admits the failure in unusual words, or in another language, is counted; one that calls any
    tool afterwards is not, though that call may be about something else.
"""

from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.model.tools import changes_state
from blade.rules.closing import may_admit
from blade.rules.declaration import rule
from blade.rules.error_words import error_words


@rule(
    "BEH002",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.tool_errors > 0 or f.long_results < f.results,
    status="stable",
)
def tool_error_ignored(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    last = next((place for place in reversed(range(len(steps))) if steps[place].kind == "call"), -1)
    for place, step in enumerate(steps[last + 1 :], last + 1):
        if step.kind == "result" and _is_error(step) and step.text.strip() and _ignored(steps[place + 1 :]):
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=step.text.strip()[:LONGEST_QUOTE])


def _is_error(step: Step) -> bool:
    """Whether a result is an error by its mark, or by its form where it answers a change: what a look-up finds is content."""
    return step.failed or (changes_state(step.tool or "") and bool(error_words(step)))


def _ignored(later: tuple[Step, ...]) -> bool:
    """Whether the agent goes on to say something, and its next message admits nothing."""
    said = (step.text for step in later if step.party == "agent" and step.kind == "message" and step.text.strip())
    following = next(said, None)
    return following is not None and not may_admit(following)
