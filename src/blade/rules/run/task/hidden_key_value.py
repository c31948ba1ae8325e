"""The key wants a value that nothing visible to the agent contains, while a record shows another.

Why it matters
    No agent can give a value that it cannot see. Such a task fails however good the agent is.

What to do
    Look the value up in the benchmark's data; correct the key or the record.

Limits
    Looks only where a record that was looked up shows another value for that field; it may show several where nothing
    else in the call differs from the key. A value that must be worked out is not told apart from one that is hidden unless
    it holds letters or digits of an id.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from blade.evidence import provenance, quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.model.pattern import pattern_of
from blade.model.rollout import Step
from blade.model.tools import changes_state
from blade.rules.declaration import rule

_PROSE = pattern_of(r"\s\S+\s\S+\s")
_LISTS = pattern_of(r"(?:^|_)(?:search|list|find|query|browse)(?:_|$)")


@rule("TSK001", scope="run", suggests=Cause.TASK, status="stable")
def hidden_key_value(context: RunContext) -> Iterator[Doubt]:
    for task in (*context.reading.sometimes, *context.reading.never):
        walks = context.reading.of(task)
        seen: list[str] = []
        for walk in (one for one in walks if not one.passed):
            for wrong in walk.pairing.wrong:
                for argument in wrong.names:
                    name, due, made = provenance.first_difference(
                        argument, wrong.due.arguments.get(argument), wrong.made.arguments.get(argument)
                    )
                    if name in seen or not _is_hidden(due, walks, context.reading.walks.values()):
                        continue
                    seen.append(name)
                    shown = _shown_elsewhere(name, made, walks, alone=len(wrong.names) == 1)
                    if shown is not None:
                        yield _hidden(task, name, due, made, shown, walks)


def _is_hidden(value: object, walks: Sequence[AlignedTrajectory], everywhere: Collection[AlignedTrajectory]) -> bool:
    """Whether no result or message of any rollout read holds the value, nor the task's prompt or script."""
    if not isinstance(value, str) or not provenance.can_be_traced(value) or _PROSE.search(value):
        return False
    heard = any(provenance.source(walk.rollout, value) is not None for walk in everywhere)
    given = any(provenance.in_prompt(w.rollout, value) or value.lower() in (w.due.script or "").lower() for w in walks)
    return not heard and not given


def _shown_elsewhere(
    name: str, made: object, walks: Sequence[AlignedTrajectory], *, alone: bool
) -> tuple[AlignedTrajectory, Step] | None:
    """A record that was looked up and has the field once, with the value that the agent gave; not a list to choose from.

    Where that value is `alone` in differing from the key, the record is the one that the key is about, and may hold others.
    """
    pattern = re.compile(rf'"{re.escape(name)}"\s*:\s*"?([^",}}]+)')
    records = ((w, s) for w in walks for s in w.steps if s.kind == "result" and _is_record(s.tool or ""))
    for walk, step in records if made is not None else ():
        values = set(pattern.findall(step.text))
        if str(made) in values and (alone or len(values) == 1):
            return walk, step
    return None


def _is_record(tool: str) -> bool:
    """Whether a tool's result is the record of one thing, looked up and not changed."""
    return _LISTS.search(tool) is None and not changes_state(tool)


def _hidden(
    task: str,
    name: str,
    due: object,
    made: object,
    shown: tuple[AlignedTrajectory, Step],
    walks: Sequence[AlignedTrajectory],
) -> Doubt:
    walk, step = shown
    evidence = quotes.holding(walk.rollout, step, str(made))
    failing = [one for one in walks if not one.passed]
    alike = sum(str(made) in (call.arguments or "") for one in failing for call in one.calls[-4:])
    return Doubt(
        about="key",
        tasks=(task,),
        message=f"Task {task}: the expected `{name}` {quotes.shown(due)} appears in nothing that the agent can see; "
        f"{f'`{step.tool}`' if step.tool else 'a result'} says {quotes.shown(made)} ({walk.place}:{step.index}), "
        f"and {min(alike, len(failing))} of {len(failing)} failing repeats use that",
        rollouts=len(failing),
        places=tuple((task, one.repeat) for one in failing),
        evidence=(evidence,) if evidence else (),
    )
