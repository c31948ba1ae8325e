"""Generated tasks, drawn by a seed and told apart by what they ask; rows of the puzzle families of `reasoning-gym`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import Any

from blade.model.errors import RequestError

MOST_DRAWN = 50
"""Puzzles that are drawn for each row that is wanted, before a family counts as too small."""

About = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Shot = tuple[str, str]
"""A question and its answer, shown before the one that is asked."""


def rows(
    name: str,
    family: str,
    *,
    size: int,
    seed: int,
    shots: Sequence[Shot] = (),
    about: About | None = None,
    **config: Any,
) -> Iterator[dict[str, Any]]:
    """As many different puzzles as asked for, none of them a shot; `about` gives further fields of one. Raises."""
    import reasoning_gym

    drawn = reasoning_gym.create_dataset(family, seed=seed, size=size * MOST_DRAWN, **config)
    seen: set[str] = set()
    shown = {question for question, _ in shots}
    for entry in drawn:
        question = entry["question"].strip()
        if question in seen or question in shown:
            continue
        told = {key: value for key, value in entry["metadata"].items() if key != "source_index"}
        yield {
            "id": f"{name}-{len(seen):03d}",
            "responses_create_params": {"input": turns(shots, question)},
            "question": question,
            "answer": entry["answer"],
            "expected_answer": entry["answer"],
            **(about(entry) if about else {}),
            "metadata": {**told, "source_dataset": family},
        }
        seen.add(question)
        if len(seen) == size:
            return
    raise too_few(size)


def draws(told: Sized, size: int) -> Iterator[int]:
    """Numbers of tasks to draw until so many different ones are told; raises where they cannot be had."""
    for _ in range(size * MOST_DRAWN):
        if len(told) == size:
            return
        yield len(told)
    if len(told) < size:
        raise too_few(size)


def too_few(size: int) -> RequestError:
    """There are not so many different tasks."""
    return RequestError(f"there are fewer than {size} different tasks of this kind", hint="ask for fewer")


def turns(shots: Sequence[Shot], question: str) -> list[dict[str, str]]:
    """The question as a user asks it, after the shots as turns of the same conversation."""
    said = [
        {"role": role, "content": text}
        for shot in shots
        for role, text in zip(("user", "assistant"), shot, strict=True)
    ]
    return [*said, {"role": "user", "content": question}]
