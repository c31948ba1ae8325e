"""Verbatim slices: the words of a step or of a row that show a point best, and where they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from blade.model.finding import Evidence
from blade.model.pattern import pattern_of
from blade.model.rollout import Rollout, Step

LONGEST = 180
"""Characters of a quote; evidence may hold 300, but a line of a report should be read at a glance."""

SENTENCE = pattern_of(r"[^.!?\n]+(?:[.!?](?=\d)[^.!?\n]*)*[.!?]?")
"""A sentence of a text; the point of a number ends none."""
_NUMBER = pattern_of(r"[-+]?[$€£]?\d[\d.,/]{0,30}%?")
_STATING = pattern_of(r"\\boxed\s*\{|(?:final )?answer(?: is|:)", re.IGNORECASE)
_REASONS = pattern_of(
    r"\b(?:since|because|eligible|not|cannot|can't|unable|policy|therefore|however|unfortunately|instead|assume|must|need)\b",
    re.IGNORECASE,
)


def of_text(rollout: Rollout, step: Step, words: Sequence[str] = ()) -> Evidence | None:
    """The sentence of a step that says most about `words` or gives a reason; None when the step has no text."""
    quote = telling_sentence(step.text, words)
    return Evidence(key=rollout.key, step=step.index, field="text", quote=quote) if quote else None


def unlike(rollout: Rollout, step: Step, other: str) -> Evidence | None:
    """The first sentence of a step that `other` does not hold; what it says best where `other` holds them all."""
    sentences = (match[0].strip() for match in SENTENCE.finditer(step.text))
    first = next((one for one in sentences if len(one) > 3 and one not in other), None)
    if first is None or len(step.text.strip()) <= LONGEST:
        return of_text(rollout, step)
    return Evidence(key=rollout.key, step=step.index, field="text", quote=_at_a_word(first))


def stating(rollout: Rollout, step: Step) -> Evidence | None:
    """Where a text states its answer, the last time it does; its end where it does not."""
    found = list(_STATING.finditer(step.text))
    if not found:
        return ending(rollout, step)
    quote = _at_a_word(step.text[found[-1].start() :].strip())
    return Evidence(key=rollout.key, step=step.index, field="text", quote=quote)


def ending(rollout: Rollout, step: Step) -> Evidence | None:
    """The end of a step's text, from a line or a word on."""
    text = step.text.rstrip()
    if not text.strip():
        return None
    start = max(0, len(text) - LONGEST)
    if start:
        line, space = text.find("\n", start, len(text) - LONGEST // 3), text.find(" ", start, len(text) - LONGEST // 2)
        start = line + 1 if line >= 0 else space + 1 if space >= 0 else start
    return Evidence(key=rollout.key, step=step.index, field="text", quote=text[start:].strip())


def of_call(rollout: Rollout, step: Step, value: object = None, name: str = "") -> Evidence | None:
    """The part of a call's arguments that holds `value`, else their beginning; the tool's name when there are none."""
    text = step.arguments or ""
    quote = around(text, name, value) or text[:LONGEST].strip()
    if quote and quote not in ("{}", "null"):
        return Evidence(key=rollout.key, step=step.index, field="arguments", quote=quote)
    return Evidence(key=rollout.key, step=step.index, field="tool", quote=step.tool) if step.tool else None


def of_row(rollout: Rollout, field: str, quote: str) -> Evidence | None:
    """A slice of a value of the row."""
    return Evidence(key=rollout.key, step=None, field=field, quote=quote[:LONGEST]) if quote.strip() else None


def holding(rollout: Rollout, step: Step, value: str) -> Evidence | None:
    """The words around `value` in a step's text."""
    match = re.search(re.escape(value), step.text, re.IGNORECASE)
    if match is None or not match[0].strip():
        return None
    start, end = max(0, match.start() - 50), min(len(step.text), match.end() + 50)
    quote = _trimmed(step.text, start, end, match.start(), match.end())
    return Evidence(key=rollout.key, step=step.index, field="text", quote=quote)


def _trimmed(text: str, start: int, end: int, first: int, last: int) -> str:
    """A slice cut at white space or a line's end, which still holds what it is about."""
    before, after = text[start:first], text[last:end]
    if start > 0 and (space := max(before.rfind("\n"), before.find(" "))) >= 0:
        start += space + 1
    cut = after.find("\n") if "\n" in after else after.rfind(" ") if end < len(text) else -1
    end = last + cut if cut >= 0 else end
    return text[start:end].strip()


def telling_sentence(text: str, words: Sequence[str]) -> str:
    """A verbatim slice of at most `LONGEST` characters; empty for a blank text."""
    if len(text.strip()) <= LONGEST:
        return text.strip()
    sentences = [match for match in SENTENCE.finditer(text) if len(match[0].strip()) > 3]
    if not sentences:
        return _at_a_word(text.strip())
    best = max(sentences, key=lambda match: (weight(match[0], words), -match.start()))
    return _at_a_word(best[0].strip())


def best_sentence(text: str, words: Sequence[str]) -> int:
    """How many reasons and how much about `words` the best sentence of a text holds, in whole points."""
    sentences = [match[0] for match in SENTENCE.finditer(text[:4_000])]
    return max((int(weight(sentence, words)) for sentence in sentences), default=0)


def _at_a_word(text: str) -> str:
    """The beginning of a text, cut between words where that loses little."""
    if len(text) <= LONGEST:
        return text
    space = text.rfind(" ", LONGEST // 2, LONGEST)
    return text[: space if space > 0 else LONGEST].strip()


def reasons(text: str) -> int:
    """Words that give a reason, two at most."""
    return min(2, len(_REASONS.findall(text)))


def weight(sentence: str, words: Sequence[str]) -> float:
    """How much a text speaks of `words` and gives reasons."""
    lowered = sentence.lower()
    about = sum(word.lower() in lowered for word in words if word)
    return 2 * about + reasons(sentence) + min(len(sentence), 60) / 1000


def around(text: str, name: str, value: object) -> str:
    """`"payment_id": "x"` as the text has it, or the bare value."""
    if value is None:
        return ""
    written = re.escape(json.dumps(value, ensure_ascii=False))
    for key in filter(None, (name, "")):
        match = re.search(rf'"{re.escape(key)}"\s*:\s*{written}', text)
        if match is not None:
            return match[0][:LONGEST]
    found = json.dumps(value, ensure_ascii=False)
    return found[:LONGEST] if found in text else ""


def worded(text: str, width: int = 60) -> str:
    """An answer in a sentence: a number as it is, words in quotation marks, on one line and cut to `width`."""
    flat = " ".join(text.split())
    return flat if _NUMBER.fullmatch(flat) else f'"{shown(flat, width)}"'


def shown(value: object, width: int = 60) -> str:
    """A value in a sentence: text as it is, anything else as JSON, cut to `width`."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= width else text[: width - 3] + "..."
