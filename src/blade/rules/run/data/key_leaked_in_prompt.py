"""The prompt states the answer that the verifier wants.

Why it matters
    The task measures copying, and its passes count as much as others.

What to do
    Take the answer out of the prompt.

Limits
    Looks for an answer right behind words such as "answer:" only, or for an id that the key passes to a tool. A short
    answer, such as a letter or a small number, must end its line or sentence there, and stand behind such words once.
    Words that tasks with other keys have too are an example, and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from blade.evidence import provenance, quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Evidence
from blade.rules.declaration import rule
from blade.rules.run.data._given import given_texts

SHORTEST = 6
LONGEST = 200
MOST_VALUES = 12
_BEFORE = (
    r"(?:^|(?<=[.;:!?(\[{\"*#<>|/-])|(?<=[.;:!?(\[{\"*#<>|/-][ \t])|\b(?:the|correct|final|right|true|gold|reference|expected)[ \t]+)"
    r"(?:answer(?:[ \t]key)?|solution|key|label|target|expected(?:[ _](?:answer|output|result|value))?|ground[ _]truth"
    r"|gold(?:[ _]answer)?|(?:reference|correct)[ _](?:answer|value|result|option)"
    r"|(?:correct|right|true|gold|reference|expected)[ \t]answer(?:[ \t]\w+){0,3}[ \t](?=is|should|must)|answer[ \t]you[ \t]need[ \t](?=is))"
    r"[\"*`]{0,3}[ \t]*(?::|=|->|\u2192|\]|>|is|should[ \t]be|must[ \t]be)[ \t]*\n?[\"'`*$(\[\\]{0,3}"
)
_AFTER = r"(?![\w-])(?!\.\d)"
_ENDS = r"[\"'`*)\]$\\]{0,3}[ \t]*(?:[.;)\]>}](?!\w)|--|\*/|$)"
"""What must follow a short answer: the end of its line, its sentence or its brackets."""
_ANY_VALUE = r"[\"'`*$(\[\\]{0,3}([\w.,+-]*\w)"


class _Leak(Struct, frozen=True, kw_only=True):
    """An answer that stands in a prompt, and the words that give it away."""

    walk: AlignedTrajectory
    value: str
    words: str
    evidence: Evidence | None


@rule("DAT004", scope="run", suggests=Cause.DATA)
def key_leaked_in_prompt(context: RunContext) -> Iterator[Doubt]:
    firsts: dict[str, AlignedTrajectory] = {}
    for (task, _), walk in context.reading.walks.items():
        firsts.setdefault(task, walk)
    found = [leak for walk in firsts.values() if (leak := _leak(walk)) is not None]
    kept = [leak for leak in found if not _is_example(leak, list(firsts.values()))]
    if kept:
        first = kept[0]
        tasks = tuple(leak.walk.rollout.key.task_id for leak in kept)
        yield Doubt(
            about="task",
            tasks=tasks,
            message=f"the prompt of {len(tasks)} task{'s' if len(tasks) > 1 else ''} states the expected answer: {tasks[0]} expects "
            f'{quotes.shown(first.value)}, and its prompt says "{quotes.shown(first.words, 120)}"',
            rollouts=sum(len(context.reading.of(task)) for task in tasks),
            evidence=(first.evidence,) if first.evidence else (),
        )


def _leak(walk: AlignedTrajectory) -> _Leak | None:
    values = _wanted(walk)
    if not values:
        return None
    for path, text in given_texts(walk):
        for value in values:
            words = _stated(value, text)
            if words:
                return _Leak(walk=walk, value=value, words=words, evidence=quotes.of_row(walk.rollout, path, words))
    return None


def _stated(value: str, text: str) -> str:
    """The words of a text that give the value as the answer; empty where none do, or others give a short one too."""
    if value.casefold() not in text.casefold():
        return ""
    ends = _ENDS if len(value) < SHORTEST else ""
    match = re.search(f"{_BEFORE}{re.escape(value)}{_AFTER}{ends}", text, re.IGNORECASE | re.MULTILINE)
    if match is None:
        return ""
    given = {one.casefold() for one in re.findall(_BEFORE + _ANY_VALUE, text, re.IGNORECASE | re.MULTILINE)}
    return "" if ends and len(given) > 1 else match[0].strip()


def _wanted(walk: AlignedTrajectory) -> list[str]:
    """The answer, however short, or the ids that the key passes to tools."""
    answer = (walk.due.answer or "").strip()
    short = len(answer) < SHORTEST and any(letter.isalnum() for letter in answer)
    return [answer] if short else _distinctive(walk)


def _distinctive(walk: AlignedTrajectory) -> list[str]:
    """The answer, or the ids that the key passes to tools, where they are not found in a text by chance."""
    answer = (walk.due.answer or "").strip()
    wordy = len(answer.split()) > 1 or any(letter.isdigit() for letter in answer)
    if SHORTEST <= len(answer) <= LONGEST and wordy and any(letter.isalnum() for letter in answer):
        return [answer]
    named = [value for call in walk.due.calls or () for _, value in provenance.values_of(call)]
    return list(dict.fromkeys(str(value) for value in named if provenance.is_name(value)))[:MOST_VALUES]


def _is_example(leak: _Leak, walks: Sequence[AlignedTrajectory]) -> bool:
    """Whether the prompt of a task that wants something else has the same words; of a short answer also where all want it."""
    others = [walk for walk in walks if leak.value not in _wanted(walk)]
    if len(leak.value) < SHORTEST and not others:
        return True
    return any(leak.words in step.text for walk in others for step in walk.rollout.prompt)
