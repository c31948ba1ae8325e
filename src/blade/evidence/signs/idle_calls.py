"""Calls that were to change a field and whose result shows the old value: `tool:old-value`, in passes too.

Its subject is `tool.argument`, its quote the value that the result shows. The value that was asked for stands nowhere in the
result, and the one that is shown stood in an earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from blade.evidence.actions import carried_out, changes, parsed
from blade.evidence.provenance import can_be_traced, holds, is_name
from blade.model.finding import Sign
from blade.model.rollout import Step

LONGEST_SUBJECT = 120
MOST = 4


def idle_calls(steps: Sequence[Step]) -> Iterator[Sign]:
    """Arguments of changes that were carried out, which the result shows as they were before."""
    done = changes(carried_out(steps))
    if not done:
        return
    results = {step.answers: step for step in steps if step.kind == "result" and step.answers is not None}
    found = (
        Sign(
            kind="tool:old-value",
            subject=f"{made.tool}.{name}"[:LONGEST_SUBJECT],
            quote=old,
            field="text",
            step=result.index,
        )
        for made in done
        if (result := results.get(made.step.index)) is not None and result.text.lstrip().startswith("{")
        for name, old in _unchanged(made.arguments, result, steps)
    )
    yield from islice(found, MOST)


def _unchanged(arguments: Mapping[str, object], result: Step, steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    text = result.text
    asked = [
        name
        for name, wanted in arguments.items()
        if isinstance(wanted, str) and _may_name(text, name) and not is_name(wanted) and not holds(text, wanted)
    ]
    state = _state(text) if asked else {}
    for name in asked:
        shown = state.get(name)
        if not isinstance(shown, str) or not can_be_traced(shown) or shown not in text or len(shown) > LONGEST_SUBJECT:
            continue
        if any(step.kind == "result" and step.index < result.index and holds(step.text, shown) for step in steps):
            yield name, shown


def _may_name(text: str, name: str) -> bool:
    """Whether a record may have a field: most results do not repeat what was asked for, and need not be decoded."""
    return f'"{name}"' in text or "\\" in text or not _plain.fullmatch(name)


_plain = re.compile(r'[^"\\\x00-\x1f]+')
"""Names that JSON has as they are, where nothing is escaped."""


def _state(text: str) -> Mapping[str, object]:
    """The fields of a record, and of a record inside it: tools wrap what they show in `order` or `data`."""
    found = parsed(text)
    inner = [value for value in found.values() if isinstance(value, dict)]
    return {**{name: value for one in inner for name, value in one.items()}, **found}
