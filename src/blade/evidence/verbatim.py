"""Whether words stand in a rollout word for word, and where; else which words of it come nearest."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator, Sequence

from msgspec import Struct

from blade.model.rollout import Rollout, Step

_TRAJECTORY = ("response", "output", "messages", "trajectory", "traj", "steps")
"""Fields of a row that hold the steps, which are looked in one by one."""
_PLAIN = (("\u2019", "'"), ("\u2018", "'"), ("\u201c", '"'), ("\u201d", '"'), ("\u2026", "..."), ("`", ""))
ALIKE = 0.5
"""Share of the words of a quotation that a passage must have to be offered in its place."""
LONGEST_PASSAGE = 200


class NearestWords(Struct, frozen=True, kw_only=True):
    """The passage of a rollout that shares most words with a quotation; `step` is None in the row."""

    step: int | None
    text: str


def flat(text: str) -> str:
    """Words in one line, with plain quotation marks; case is kept."""
    for fancy, simple in _PLAIN:
        text = text.replace(fancy, simple)
    return " ".join(text.split())


def pieces(words: str) -> list[str]:
    """A quotation cut at its dots; what is left must stand in order."""
    cut = flat(words).replace("[...]", "...").split("...")
    return [part.strip() for part in cut if len(part.strip()) > 1]


def in_order(parts: Sequence[str], text: str) -> bool:
    """Whether the pieces of a quotation stand in a flat text, one after the other."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            found = text.find(part.rstrip(".,;:!?"), at)
        if found < 0:
            return False
        at = found + 1
    return True


def texts_of(rollout: Rollout) -> Iterator[tuple[int | None, str]]:
    """The flat text of each step, then that of the row beside its steps, under None."""
    for step in rollout.steps or ():
        parts = (step.text, step.tool, step.arguments, _decoded(step.arguments))
        yield step.index, flat(" \n ".join(filter(None, parts)))
    beside = _beside(rollout)
    around = [*(step.text for step in rollout.prompt), *_strings(beside), rollout.answer or "", rollout.expected or ""]
    yield None, flat(" \n ".join([*around, json.dumps(beside, ensure_ascii=False, default=str)]))


def standing(rollout: Rollout, words: str) -> Iterator[tuple[int | None, str]]:
    """Every step and field in which the words stand; then a path of the row, or an empty one where they cross fields."""
    parts = pieces(words)
    if not parts:
        return
    for step in rollout.steps or ():
        if (field := _field(step, parts)) is not None:
            yield step.index, field
    *_, (_, row) = texts_of(rollout)
    if in_order(parts, row):
        leaves = _leaves("", _beside(rollout))
        yield None, next((path for path, text in leaves if in_order(parts, flat(text))), "")


def _field(step: Step, parts: Sequence[str]) -> str | None:
    arguments = step.arguments or ""
    fields = (("text", step.text), ("arguments", arguments), ("arguments", _decoded(arguments)), ("tool", step.tool))
    return next((name for name, text in fields if text and in_order(parts, flat(text))), None)


def nearest(rollout: Rollout, words: str) -> NearestWords | None:
    """The passage that shares most words with a quotation; None where none shares half of them."""
    wanted = flat(words).split()
    best: tuple[int, NearestWords | None] = (max(1, round(len(wanted) * ALIKE)) - 1, None)
    for step, text in texts_of(rollout):
        shared, passage = _best_window(text.split(), wanted)
        if shared > best[0]:
            best = shared, NearestWords(step=step, text=passage[:LONGEST_PASSAGE])
    return best[1]


def _best_window(text: Sequence[str], wanted: Sequence[str]) -> tuple[int, str]:
    """The stretch as long as the quotation that shares most words with it, and how many; the first of equals."""
    needs, inside, shared, best, end = Counter(map(_bare, wanted)), Counter[str](), 0, 0, 0
    window: deque[str] = deque()
    for place, word in enumerate(text, start=1):
        bare = _bare(word)
        window.append(bare)
        inside[bare] += 1
        shared += inside[bare] <= needs[bare]
        if len(window) > len(wanted):
            gone = window.popleft()
            shared -= inside[gone] <= needs[gone]
            inside[gone] -= 1
        if shared > best:
            best, end = shared, place
    return best, " ".join(text[max(0, end - len(wanted)) : end])


def _bare(word: str) -> str:
    return word.strip(".,;:!?\"'()[]{}").lower()


def _beside(rollout: Rollout) -> dict[str, object]:
    return {name: value for name, value in rollout.row.items() if not rollout.steps or name not in _TRAJECTORY}


def _decoded(arguments: str | None) -> str:
    """The values of arguments as they read without JSON's own marks."""
    try:
        return " \n ".join(_strings(json.loads(arguments or "null")))
    except ValueError:
        return ""


def _strings(value: object) -> list[str]:
    return [text for _, text in _leaves("", value) if text]


def _leaves(path: str, value: object) -> Iterator[tuple[str, str]]:
    """The texts of a value with their dotted paths."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(f"{path}.{name}" if path else str(name), inner)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _leaves(f"{path}.{place}" if path else str(place), inner)
    elif isinstance(value, str):
        yield path, value
