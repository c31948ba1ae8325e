"""In every repeat of a never-pass task the agent declines what the key wants with a sentence of its instructions.

Why it matters
    The key may go against the rules that the agent was given.

What to do
    Set the key against the instructions, and correct the one that is wrong.

Limits
    Words are compared, not meaning: a rule that is cited where it does not apply looks the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from blade.core.diagnosis import Doubt
from blade.core.finding import Cause, Differs, Evidence
from blade.diagnose import quotes
from blade.diagnose.context import Context
from blade.diagnose.examples import failure_in_words
from blade.diagnose.rules._rule import run_rule
from blade.diagnose.walks import Walk

FEWEST_WORDS = 5
CITED = 0.5
"""Share of the words of a refusal that one sentence of the instructions must hold."""
_WORD = re.compile(r"[a-z]{4,}")


@run_rule("TSK006", suggests=Cause.TASK, status="stable")
def refusal_by_rule(context: Context) -> Iterator[Doubt]:
    found = []
    for task in context.reading.never:
        cited = [_cited(walk) for walk in context.reading.of(task)]
        if cited and all(one is not None for one in cited):
            found += [(task, one) for one in cited[:1] if one is not None]
    if found:
        _, (evidence, rule) = found[0]
        yield Doubt(
            about="key",
            tasks=tuple(task for task, _ in found),
            message=f"in {len(found)} never-pass task{'s' if len(found) > 1 else ''} the agent declines what the key "
            f'wants and cites its instructions: {evidence.key}:{evidence.step} "{evidence.quote}" (instructions: "{rule}")',
            rollouts=len(found),
            places=tuple((task, one.repeat) for task, _ in found for one in context.reading.of(task)),
            evidence=(evidence,),
        )


def _cited(walk: Walk) -> tuple[Evidence, str] | None:
    """The agent's refusal of a change that was due, and the sentence of the prompt that it repeats."""
    due = next((one.name for one in walk.differs if one.kind in (Differs.NOT_MADE, Differs.MISSING)), None)
    text, found = failure_in_words(walk, due) if due is not None else ("", ())
    if not found or " says " not in text:
        return None
    words = set(_WORD.findall(found[0].quote.lower()))
    for step in walk.rollout.prompt:
        for sentence in re.split(r"(?<=[.!?])\s+|\n", step.text if step.party == "system" else ""):
            shared = words & set(_WORD.findall(sentence.lower()))
            if len(shared) >= FEWEST_WORDS and len(shared) >= CITED * len(words):
                return found[0], quotes.telling_sentence(sentence, ())
    return None
