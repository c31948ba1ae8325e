"""What a rollout concludes with: the last message that says more than that the talk is over, and the passage that carries an answer.

Talks of several agents end with a word that closes them ("TERMINATE"), alone or below the conclusion; that word is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from blade.model.pattern import pattern_of
from blade.model.rollout import Step

WITHIN = 4
"""Messages from the end in which the one that closes the talk stands: others may only agree after it."""
LONGEST = 200
"""Characters of a passage; a quote's own limit."""
_CLOSES = pattern_of(
    r"[\W_]*(?:terminated?|done|stop|end|exit|quit|finish(?:ed)?|completed?|task[_ ]completed?|over)[\W_]*",
    re.IGNORECASE,
)
_SENTENCE = pattern_of(r"(?<=[^\d\s.][.!?])\s+|(?<=\w\w[.!?])\s+(?=[A-Z])")
_STRONGLY = pattern_of(
    r"\b(?:answer|conclu\w+|therefore|thus|hence|results?|final|totals?|in summary|output)\b", re.IGNORECASE
)
_STATES = pattern_of(r"\b(?:is|are|was|were|equals?|has|have|gives?|found|identified)\b|[=:]", re.IGNORECASE)
_SMALL_TALK = pattern_of(
    r"\?\s*$|\b(?:please|let (?:me|us|'s)|let's|if (?:there|any|every|you|all)|we can (?:now )?(?:conclude|terminate|end|close)|task is (?:now )?complete"
    r"|no (?:further|objections)|can be (?:terminated|closed)|terminate|next steps?|will now|i agree|have been (?:verified|followed|fulfilled))\b",
    re.IGNORECASE,
)
"""What closes a talk and carries no answer."""
_NUMBER = pattern_of(r"\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|none)\b", re.IGNORECASE)
_NAME = pattern_of(r"\*\*|[\"“`$]|(?<=[a-z,:] )[A-Z][a-z]|:[\s\W]{0,4}\w")
"""What an answer of the kind of the expected one looks like."""
_LISTED = pattern_of(r"^\W*\d+[.)]\s")
_INSTRUCTS = pattern_of(
    r".*\?[\s*_\"']*\Z|[\s\d.)*-]*\[[^\]\n]*\]\(http\S*\Z|[\s#*]*(?:\d+[.)]|[-\u2022]|step \d+\W)[\s*_]*(?:go|visit|open|use|find|locate|search|look|check|verify|validate|identify|determine|calculate"
    r"|compute|extract|collect|gather|review|navigate|click|enter|download|access|confirm|analy[sz]e|count|compare|run|provide|retrieve"
    r"|read|parse|filter|scrape|watch|follow|ensure|consider)\b",
    re.IGNORECASE,
)
"""A question, a bare link, and a step that somebody is told to take conclude nothing."""
_CODE = pattern_of(r"```\w*\n.*?(?:```|\Z)", re.DOTALL)


def closes(text: str) -> bool:
    """Whether the last line of a message is a word that ends the talk."""
    return _CLOSES.fullmatch(text.rstrip().rpartition("\n")[2]) is not None


def without_closing(text: str) -> str:
    """A message without the word that ends the talk below it."""
    head, _, last = text.rstrip().rpartition("\n")
    return (head.rstrip() if head.strip() else "") if _CLOSES.fullmatch(last) is not None else text


def concluding(steps: Sequence[Step] | None) -> Step | None:
    """The message that a rollout concludes with; None where the agent said nothing."""
    said = [step for step in steps or () if step.kind == "message" and step.party == "agent" and step.text.strip()]
    if not said or not closes(said[-1].text):
        return said[-1] if said else None
    # Before the word that ends it others may agree, or a terminal say that it has nothing to run.
    ended = (step for step in reversed(said[-WITHIN:]) if closes(step.text) and without_closing(step.text))
    spoken = (step for step in reversed(said) if without_closing(step.text))
    return next(ended, None) or next(spoken, None) or said[-1]


def final_text(steps: Sequence[Step] | None) -> str:
    """The last thing that the agent said, beside that it is done."""
    known = _latest[0]
    if known[0] is not steps:  # several ask for that of one rollout, one after the other
        last = concluding(steps)
        known = _latest[0] = steps, "" if last is None else without_closing(last.text) or last.text
    return known[1]


_latest: list[tuple[Sequence[Step] | None, str]] = [(None, "")]
"""Steps, and what was said last in them."""


def carrying(steps: Sequence[Step] | None, key: str) -> tuple[Step, str] | None:
    """The message near the end, and the sentence in it, that most likely carry the answer; None where none does."""
    last = concluding(steps)
    if last is None:
        return None
    before = (s for s in reversed(steps or ()) if s.kind == "message" and s.party == "agent" and s.index < last.index)
    for step in (last, *islice(before, WITHIN)):
        if found := passage(without_closing(step.text), key):
            return step, found
    return None


def passage(text: str, key: str) -> str:
    """The sentence of a conclusion that most likely carries its answer, word for word; empty where none does.

    It holds a value of the kind of the expected one: a number, a name or something set off.
    """
    value = _NUMBER if any(map(str.isdigit, key)) else _NAME
    best, found = 0.0, ""
    pieces = list(_pieces(text))
    for place, piece in enumerate(pieces):
        if value.search(_LISTED.sub("", piece)) is None or any(map(_INSTRUCTS.match, piece.split("\n"))):
            continue
        score = 2.0 * (_STRONGLY.search(piece) is not None) + (_STATES.search(piece) is not None)
        score += ("**" in piece or "\\boxed" in piece) - 2.0 * (_SMALL_TALK.search(piece) is not None)
        score += 1.5 + place / len(pieces)
        if score > best:
            best, found = score, piece
    return found[:LONGEST].strip() if best >= LEAST else ""


def _pieces(text: str) -> Iterator[str]:
    """The sentences outside of code; a line that announces something goes with what it announces."""
    plain = text
    for code in _CODE.findall(text):
        plain = plain.replace(code, "\n\n")
    lines = [line for line in plain.split("\n") if any(map(str.isalnum, line)) and not line.lstrip().startswith("#")]
    for place, line in enumerate(lines):
        if line.rstrip().rstrip("*_ ").endswith(":") and place + 1 < len(lines):
            after = text.find(lines[place + 1], text.find(line) + len(line))
            joined = text[text.find(line) : after + len(lines[place + 1])] if after != -1 else ""
            if 0 < len(joined) <= LONGEST:
                yield joined.strip()
                continue
        yield from (piece for piece in _SENTENCE.split(line.strip()) if piece)


LEAST = 2.0
"""Below it a sentence neither concludes nor states."""
