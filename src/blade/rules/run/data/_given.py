"""Where the prompt stands in a row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.model.finding import Evidence

DEEPEST = 6
MOST_TEXTS = 400
_PROMPTS = (("responses_create_params", "input"), ("prompt",), ("input",), ("messages",))


def given_texts(walk: AlignedTrajectory) -> Iterator[tuple[str, str]]:
    """The texts of the prompt, each with its dotted path in the row."""
    known = "\n".join(step.text for step in walk.rollout.prompt)
    for path in _PROMPTS:
        value: object = walk.row
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        for where, text in islice(_texts(".".join(path), value, 0), MOST_TEXTS):
            if text.strip() and text.strip() in known:
                yield where, text


def question(walk: AlignedTrajectory) -> Evidence | None:
    """The end of what the agent was given, which is where a prompt puts its question."""
    found = list(given_texts(walk))
    if not found:
        return None
    where, text = found[-1]
    return quotes.of_row(walk.rollout, where, text.strip()[-quotes.LONGEST :])


def _texts(path: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict) and depth < DEEPEST:
        for name, item in value.items():
            if "." not in str(name):
                yield from _texts(f"{path}.{name}", item, depth + 1)
    elif isinstance(value, list) and depth < DEEPEST:
        for place, item in enumerate(value):
            yield from _texts(f"{path}.{place}", item, depth + 1)
