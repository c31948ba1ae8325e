"""The answer is the key in percent, or the key is the answer in percent, and it was rejected.

Why it matters
    A task that asks for a percentage and has 0.1 for a key rejects 10, which is what it asked for.

What to do
    Write the key in the unit that the task asks for, or say in the task which one is meant.

Limits
    Only where one number is a hundred times the other and the question speaks of a percentage; a task may mean the share
    all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.answer_forms import number_of
from blade.evidence.closings import final_text
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Evidence
from blade.model.pattern import pattern_of
from blade.rules.declaration import rule
from blade.rules.run.data._given import given_texts

_PERCENT = pattern_of(r"\bper ?cent(?:age)?\b|%")
_QUESTIONS = ("question", "problem")
LONGEST = 600
"""Characters at the end of a prompt in which its question is looked for: what stands before may be documents."""
_MODES = ("wrong-answer",)


@rule("TSK021", scope="run", suggests=Cause.TASK)
def percent_against_share(context: RunContext) -> Iterator[Doubt]:
    walks = context.read(context.in_mode(*_MODES))
    found = [(walk, asked) for walk in walks if _is_hundredfold(walk) and (asked := _asks(walk)) is not None]
    if not found:
        return
    first, asked = found[0]
    tasks = tuple(dict.fromkeys(walk.rollout.key.task_id for walk, _ in found))
    more = f" (and so in {len(tasks) - 1} more task{'s' if len(tasks) > 2 else ''})" if len(tasks) > 1 else ""
    yield Doubt(
        about="key",
        tasks=tasks,
        message=f"{first.place} answers {_given(first)}, expected {first.due.answer}; the task asks for a percentage: "
        f"one is the other in percent{more}",
        rollouts=len(found),
        places=tuple((walk.rollout.key.task_id, walk.repeat) for walk, _ in found),
        evidence=(asked,),
    )


def _given(walk: AlignedTrajectory) -> str:
    return (walk.rollout.answer or final_text(walk.steps)).strip()


def _is_hundredfold(walk: AlignedTrajectory) -> bool:
    key, given = number_of((walk.due.answer or "").strip()), number_of(_given(walk))
    return bool(key) and given is not None and key is not None and (given == 100 * key or key == 100 * given)


def _asks(walk: AlignedTrajectory) -> Evidence | None:
    """Where the question speaks of a percentage: in its own field, else at the end of the prompt."""
    named = [(name, value) for name in _QUESTIONS if isinstance(value := walk.row.get(name), str)]
    for where, text in named or list(given_texts(walk))[-1:]:
        found = _PERCENT.search(text[-LONGEST:])
        if found is not None:
            return quotes.of_row(walk.rollout, where, found[0])
    return None
