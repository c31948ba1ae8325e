"""The arguments of a call are not valid JSON, and the call failed or was never answered.

Why it matters
    The tool could not be used as the agent meant it. Models that write such calls often do it again, and lose turns
    on every task that needs a tool with long or quoted arguments.

What to do
    Decode with a schema (constrained output), or return the parser's message to the agent.

Limits
    Arguments that are valid JSON but break the tool's schema are not seen. A call that was cut off by a token limit is
    counted too. A harness that repairs arguments before it records them hides the symptom.
"""

import json
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout
from blade.rules.declaration import rule


@rule(
    "BEH003",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.tool_errors > 0 or f.orphan_calls > 0,
    status="stable",
)
def malformed_arguments(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    worked = {(step.answers, step.call_id) for step in steps if step.kind == "result" and not step.failed}
    for call in steps:
        if call.kind == "call" and worked.isdisjoint(((call.index, None), (call.index, call.call_id))):
            arguments = (call.arguments or "").strip()
            if arguments and _is_malformed(arguments):
                yield Evidence(key=rollout.key, step=call.index, field="arguments", quote=arguments[:LONGEST_QUOTE])


def _is_malformed(arguments: str) -> bool:
    with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
        # Stricter than what decides, and quicker.
        msgspec.json.decode(arguments)
        return False
    try:
        json.loads(arguments)
    except json.JSONDecodeError:
        return True
    except (ValueError, RecursionError):
        # A number too long or a nesting too deep for this reader is not the agent's mistake.
        return False
    return False
