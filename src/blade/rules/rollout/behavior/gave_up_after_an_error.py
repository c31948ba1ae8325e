"""The agent's last call failed, and it admitted that and ended without another call.

Why it matters
    Most tools say in their errors what to change, and another try costs little. An agent that reports the error
    instead leaves the task undone.

What to do
    Tell the agent to read the error, mend the call and try again before it reports; where the error names nothing that
    could be mended, make it say more.

Limits
    Stopping is right where the error says that what was asked for cannot be done, and where only the user could go on.
    An agent that does not admit the failure is the business of BEH002; words that may be meant as admitting or not, such
    as *instead*, are the business of neither.
"""

from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout
from blade.rules.closing import admits
from blade.rules.declaration import rule


@rule(
    "BEH005",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.tool_errors > 0,
    status="stable",
)
def gave_up_after_an_error(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    last = next((place for place in reversed(range(len(steps))) if steps[place].kind in ("call", "result")), None)
    if last is None or not steps[last].failed:
        return
    error = steps[last]
    said = [
        step for step in steps[last + 1 :] if step.party == "agent" and step.kind == "message" and step.text.strip()
    ]
    found = admits(said[0].text) if said else None
    if found is None:
        return
    if error.text.strip():
        yield Evidence(key=rollout.key, step=error.index, field="text", quote=error.text.strip()[:LONGEST_QUOTE])
    begin = max(0, found.start() - LONGEST_QUOTE // 2)
    quote = said[0].text[begin : begin + LONGEST_QUOTE].strip()
    yield Evidence(key=rollout.key, step=said[0].index, field="text", quote=quote)
