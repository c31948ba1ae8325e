"""Calls that the agent tried and that came to nothing, where a change of the key is missing.

`call:unreadable` (the arguments are no JSON) and `call:refused` (the tool answered with an error, which is quoted): each with
the tool as its subject, and only where no call of that tool was carried out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress

from blade.evidence.actions import Made
from blade.model.expected import DueCall
from blade.model.finding import Sign
from blade.model.rollout import Rollout, Step

LONGEST = 200
"""Characters of a quote; the sign's own limit."""
LONGEST_SUBJECT = 120


def tries(rollout: Rollout, due: Sequence[DueCall], made: Sequence[Made]) -> Iterator[Sign]:
    """The last failed try of each required tool that was never carried out."""
    steps = rollout.steps or ()
    worked = {one.tool for one in made}
    lacking = dict.fromkeys(call.tool for call in due if call.tool not in worked)
    if not lacking:
        return
    errors = {
        step.answers: step for step in steps if step.kind == "result" and step.failed and step.answers is not None
    }
    calls = [step for step in steps if step.kind == "call" and step.party == "agent"]
    for tool in lacking:
        last = next((step for step in reversed(calls) if step.tool == tool), None)
        if last is not None:
            yield from _of_try(tool, last, errors.get(last.index))


def _of_try(tool: str, call: Step, error: Step | None) -> Iterator[Sign]:
    arguments = (call.arguments or "").strip()
    if arguments and not _is_json(arguments):
        yield _sign("call:unreadable", tool, call, "arguments", arguments)
    elif error is not None:
        yield _sign("call:refused", tool, error, "text", error.text.strip())


def _is_json(text: str) -> bool:
    with suppress(ValueError, RecursionError):
        json.loads(text)
        return True
    return False


def _sign(kind: str, tool: str, step: Step, field: str, words: str) -> Sign:
    quote = words[:LONGEST].strip()
    return Sign(kind=kind, subject=tool[:LONGEST_SUBJECT], quote=quote, field=field if quote else "", step=step.index)
