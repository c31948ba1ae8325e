"""In every repeat of a never-pass task the agent declines what the key wants with a sentence of its instructions.

Why it matters
    The key may go against the rules that the agent was given.

What to do
    Set the key against the instructions, and correct the one that is wrong.

Limits
    Words are compared, not meaning: a rule that is cited where it does not apply looks the same. A message that declines
    in no usual words counts where two repeats or more have most words of one prohibition, and deny as that does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext
from blade.evidence.in_words import failure_in_words
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Differs, Evidence
from blade.model.pattern import pattern_of
from blade.rules.declaration import rule

FEWEST_WORDS = 5
FEWEST_OF_A_BAN = 4
CITED = 0.5
"""Share of the words of a refusal that one sentence of the instructions must hold."""
_WORD = pattern_of(r"[a-z]{4,}")
_ENDING = pattern_of(r"(?:ing|ed|es|s)$")
_DENIES = pattern_of(r"\b(?:not|never|no|cannot|only|forbidden|prohibited|nor)\b|n['\u2019]t\b", re.IGNORECASE)
_SENTENCE = pattern_of(r"(?<=[.!?])\s+|\n")


@rule("TSK006", scope="run", suggests=Cause.TASK, status="stable")
def refusal_by_rule(context: RunContext) -> Iterator[Doubt]:
    found = []
    for task in context.reading.never:
        walks = context.reading.of(task)
        cited = [_cited(walk) or (_ban(walk) if len(walks) > 1 else None) for walk in walks]
        if cited and None not in cited and len({one[1] for one in cited if one is not None}) == 1:
            found += [(task, one) for one in cited[:1] if one is not None]
    if found:
        _, (evidence, rule) = found[0]
        yield Doubt(
            about="key",
            tasks=tuple(task for task, _ in found),
            message=f"in {len(found)} never-pass task{'s' if len(found) > 1 else ''} the agent declines a required action "
            f'and cites its instructions: {evidence.key}:{evidence.step} "{evidence.quote}" (instructions: "{rule}")',
            rollouts=len(found),
            places=tuple((task, one.repeat) for task, _ in found for one in context.reading.of(task)),
            evidence=(evidence,),
        )


def _cited(walk: AlignedTrajectory) -> tuple[Evidence, str] | None:
    """The agent's refusal of a change that was due, and the sentence of the prompt that it repeats."""
    due = next((one.name for one in walk.differs if one.kind in (Differs.NOT_MADE, Differs.MISSING)), None)
    if due is None:
        return None
    text, found = failure_in_words(walk, due)
    rule = _rule(walk, found[0].quote, FEWEST_WORDS) if found and " says " in text else None
    return (found[0], rule) if rule is not None else None


def _ban(walk: AlignedTrajectory) -> tuple[Evidence, str] | None:
    """A sentence of the agent that repeats a prohibition of its instructions, denial and all, where no change was made."""
    if walk.changes or all(one.kind not in (Differs.NOT_MADE, Differs.MISSING) for one in walk.differs):
        return None
    for step in reversed([one for one in walk.steps if one.party == "agent" and one.kind == "message"]):
        for sentence in _SENTENCE.split(step.text):
            denies = _DENIES.search(sentence) is not None and "?" not in sentence
            rule = _rule(walk, sentence, FEWEST_OF_A_BAN) if denies else None
            evidence = (
                quotes.holding(walk.rollout, step, sentence.strip()[: quotes.LONGEST]) if rule is not None else None
            )
            if rule is not None and evidence is not None and _repeats(sentence, rule):
                return evidence, rule
    return None


def _rule(walk: AlignedTrajectory, said: str, fewest: int) -> str | None:
    """Of the sentences of the instructions that deny something and have most of the words said, the nearest.

    A word that few sentences of the instructions hold says more about which of them is meant.
    """
    words = _stems(said)
    prompts = (step.text for step in walk.rollout.prompt if step.party == "system")
    sentences = {one: _stems(one) & words for text in prompts for one in _SENTENCE.split(text)}
    times = Counter(word for shared in sentences.values() for word in shared)
    near = [one for one, shared in sentences.items() if len(shared) >= max(fewest, CITED * len(words))]
    denying = [one for one in near if _DENIES.search(one)]
    best = max(denying, key=lambda one: sum(1 / times[word] for word in sorted(sentences[one])), default=None)
    return quotes.telling_sentence(best, ()) if best is not None else None


def _repeats(sentence: str, rule: str) -> bool:
    """Whether a sentence has the better part of a rule's words."""
    words = _stems(rule)
    return len(words & _stems(sentence)) >= CITED * len(words)


def _stems(text: str) -> set[str]:
    return {_ENDING.sub("", word) for word in _WORD.findall(text.lower())}
