"""A tool says yes, and its result shows the old value of a field that it was asked to change.

Why it matters
    The agent tells the user that something was done that was not, and the verifier may replay the same tool.

What to do
    Repair the tool, or have it refuse what it does not do.

Limits
    Looks only where the result shows the field; a result that echoes nothing cannot be looked at. Three calls are
    needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from blade.core.diagnosis import Doubt
from blade.core.finding import Cause
from blade.core.rollout import Step
from blade.diagnose import quotes
from blade.diagnose.actions import carried_out, parsed
from blade.diagnose.context import Context
from blade.diagnose.rules._rule import run_rule
from blade.diagnose.walks import Walk

FEWEST_CALLS = 3


@run_rule("TSK002", suggests=Cause.TASK, status="stable")
def idle_tool(context: Context) -> Iterator[Doubt]:
    asked: Counter[tuple[str, str]] = Counter()
    changed: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], tuple[Walk, Step, str, str]] = {}
    rollouts: dict[tuple[str, str], list[str]] = {}
    for walk in context.reading.walks.values():
        for call, name, wanted, shown in _asked_changes(walk):
            what = (call.tool or "", name)
            asked[what] += 1
            if str(shown).lower() == str(wanted).lower():
                changed[what] += 1
            else:
                first.setdefault(what, (walk, call, str(wanted), str(shown)))
                rollouts.setdefault(what, []).append(walk.place)
    for what in sorted(asked):
        if asked[what] >= FEWEST_CALLS and not changed[what]:
            yield _idle(what, asked[what], first[what], rollouts[what])


def _asked_changes(walk: Walk) -> Iterator[tuple[Step, str, object, object]]:
    """Calls that ask for another value of a field than an earlier result about the same thing shows."""
    if not walk.changes:
        return
    states: list[tuple[Step, Mapping[str, object]]] = []
    results = {step.answers: step for step in walk.steps if step.kind == "result" and step.answers is not None}
    for made in carried_out(walk.steps):
        result = results.get(made.step.index)
        state = parsed(result.text) if result is not None and result.text.lstrip().startswith("{") else {}
        for name, wanted in made.arguments.items():
            if not isinstance(wanted, str) or name.endswith("id") or name not in state:
                continue
            before = _earlier(states, made.arguments, name)
            if before is not None and str(before).lower() != wanted.lower():
                yield made.step, name, wanted, state[name]
        if state:
            states.append((made.step, state))


def _earlier(
    states: Sequence[tuple[Step, Mapping[str, object]]], arguments: Mapping[str, object], name: str
) -> object | None:
    """The value of a field in the last result that shares an id with a call."""
    ids = [(key, value) for key, value in arguments.items() if key.endswith("id") and isinstance(value, str)]
    for _, state in reversed(states):
        if name in state and any(state.get(key) == value for key, value in ids):
            return state[name]
    return None


def _idle(what: tuple[str, str], times: int, first: tuple[Walk, Step, str, str], places: list[str]) -> Doubt:
    tool, name = what
    walk, call, wanted, shown = first
    result = walk.result_of(call)
    evidence = [quotes.of_call(walk.rollout, call, wanted, name)]
    evidence += [quotes.holding(walk.rollout, result, shown)] if result is not None else []
    return Doubt(
        about="tool",
        tasks=tuple(dict.fromkeys(place.rpartition("#")[0] for place in places)),
        message=f"`{tool}` never changes `{name}`: {times} of {times} calls that ask for another return the old "
        f"({walk.place}:{call.index} asks {quotes.shown(wanted)}, "
        f":{result.index if result is not None else '?'} shows {quotes.shown(shown)})",
        rollouts=len(set(places)),
        evidence=tuple(one for one in evidence if one is not None),
    )
