"""What one failing rollout did and said, as a sentence with its quotes."""

from __future__ import annotations

from collections.abc import Sequence

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import QuotedSentence
from blade.evidence.contrast import DECLINING, due_ids, words_of
from blade.ingest.fields import BY_NAME
from blade.model.finding import Evidence
from blade.model.rollout import Rollout

LONGEST_ARGUMENTS = 70


def answer(rollout: Rollout) -> Evidence | None:
    """The answer as the row has it, under the name that the row gives it."""
    row = rollout.row
    for path in BY_NAME["answer"].paths:
        value = row.get(path)
        if isinstance(value, str) and value.strip() and value.startswith(rollout.answer or "\0"):
            return quotes.of_row(rollout, path, value.strip())
    return None


def closing(walk: AlignedTrajectory) -> Evidence | None:
    """What the agent said last, or thought last where it said nothing."""
    last = walk.message_after(walk.steps[-1].index) or walk.last_thought() if walk.steps else None
    return quotes.ending(walk.rollout, last) if last is not None else None


def short(evidence: Evidence) -> str:
    """A quote beside a place; arguments as code, and only where they are short enough to be read."""
    if evidence.field != "text":
        return f" `{evidence.quote}`" if len(evidence.quote) <= LONGEST_ARGUMENTS else ""
    return f' "{evidence.quote}"'


def failure_in_words(walk: AlignedTrajectory, name: str) -> QuotedSentence:
    """What a failing rollout did or said about the tool, check or field that is named."""
    step = next((one.step for one in walk.differs if one.name == name and one.step is not None), None)
    call = walk.call_at(step, name) if step is not None else None
    if call is not None:
        evidence = quotes.of_call(walk.rollout, call)
        before = walk.said_before(call.index, words_of(name))
        words = quotes.of_text(walk.rollout, before, words_of(name)) if before is not None else None
        said = f'; before it (:{words.step}) "{words.quote}"' if words else ""
        quote = short(evidence) if evidence else ""
        return f"{walk.place}:{call.index} calls `{call.tool}`{quote}{said}.", tuple(p for p in (evidence, words) if p)
    return _declined(walk, name) or ends(walk)


def _declined(walk: AlignedTrajectory, name: str) -> QuotedSentence | None:
    """What the agent said against doing it, about the very thing that was due."""
    about = (*due_ids(walk, name), *words_of(name))
    words = (*about, *DECLINING)
    spoken = walk.most_about(words, after=-1) if name else None
    evidence = quotes.of_text(walk.rollout, spoken, words) if spoken is not None else None
    said = evidence.quote.lower() if evidence is not None else ""
    if evidence is None or not any(word in said for word in DECLINING) or not _speaks_of(said, about):
        return None
    return f'{walk.place}:{evidence.step} says "{evidence.quote}".', (evidence,)


def _speaks_of(said: str, about: Sequence[str]) -> bool:
    return any(word.lower().removesuffix("s") in said for word in about)


def ends(walk: AlignedTrajectory) -> QuotedSentence:
    """How a rollout ends: its last call, and the end of the agent's last words."""
    last = walk.message_after(walk.steps[-1].index) if walk.steps else None
    evidence = quotes.ending(walk.rollout, last) if last is not None else None
    called = f" calls `{walk.calls[-1].tool}` last (:{walk.calls[-1].index}) and" if walk.calls else ""
    if evidence is None and walk.calls:
        given = quotes.of_call(walk.rollout, walk.calls[-1])
        return f"{walk.place}{called} ends there{f': `{given.quote}`' if given else ''}.", (given,) if given else ()
    if evidence is None:
        return _thinks(walk)
    return f'{walk.place}{called} ends with (:{evidence.step}) "{evidence.quote}".', (evidence,)


def _thinks(walk: AlignedTrajectory) -> QuotedSentence:
    """The end of a rollout in which nothing was said and nothing called."""
    last = walk.last_thought()
    evidence = quotes.ending(walk.rollout, last) if last is not None else None
    if evidence is None:
        return f"{walk.place} ends without a word.", ()
    return f'{walk.place} ends in its thoughts (:{evidence.step}): "{evidence.quote}".', (evidence,)
