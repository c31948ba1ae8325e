"""One code among like ones in pages of small talk, to be found by the office that it belongs to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blade_gym import hub

OFFICES = ("Lindau", "Bergen", "Porto", "Ghent", "Tartu", "Split", "Cork", "Turin", "Graz", "Delft")
WHO = ("The baker", "My neighbor", "A painter", "The old pilot", "Her cousin", "The librarian")
DOES = ("walks to", "talks about", "dreams of", "paints", "remembers", "looks for")
WHAT = ("the harbor", "a quiet street", "the market hall", "an empty garden", "the north tower", "a long bridge")
WHEN = ("in the morning", "on rainy days", "after work", "every Sunday", "when it snows", "at noon")
PLACES = ("early", "middle", "late")
SHOT = (
    (
        "The baker walks to the harbor at noon. The code of the Malmo office is 4417. A painter dreams of a long bridge "
        "when it snows.\n\nWhat is the code of the Malmo office? Reply with the code alone."
    ),
    "4417",
)


def prepare(
    size: int = 48, seed: int = 7, sentences: int = 24, codes: int = 4, shots: int = 1, output: str | None = None
) -> Path:
    """Write `size` documents of so many sentences, with so many codes in each."""
    rows = _rows(size, seed, sentences, codes, shots)
    return hub.write(rows, output or hub.beside(__file__, "needle_in_haystack"))


def _rows(size: int, seed: int, sentences: int, codes: int, shots: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    for number in range(size):
        place = PLACES[number % len(PLACES)]
        offices = draw.sample(OFFICES, codes)
        known = dict(zip(offices, map(str, draw.sample(range(1000, 10_000), codes)), strict=True))
        asked = offices[0]
        document = _document(draw, known, place, sentences)
        question = f"{document}\n\nWhat is the code of the {asked} office? Reply with the code alone."
        yield {
            "id": f"needle-{number:03d}",
            "responses_create_params": {"input": _turns(shots, question)},
            "question": f"What is the code of the {asked} office?",
            "place": place,
            "expected_answer": known[asked],
            "entries": known,
        }


def _document(draw: random.Random, known: dict[str, str], place: str, sentences: int) -> str:
    """The first code stands in the third that `place` names, the others anywhere."""
    text = [
        f"{draw.choice(WHO)} {draw.choice(DOES)} {draw.choice(WHAT)} {draw.choice(WHEN)}." for _ in range(sentences)
    ]
    lines = [f"The code of the {office} office is {code}." for office, code in known.items()]
    for line in lines[1:]:
        text.insert(draw.randint(0, len(text)), line)
    third = len(text) // 3
    text.insert(PLACES.index(place) * third + draw.randint(0, third), lines[0])
    return " ".join(text)


def _turns(shots: int, question: str) -> list[dict[str, str]]:
    shown = [{"role": "user", "content": SHOT[0]}, {"role": "assistant", "content": SHOT[1]}]
    return [*(shown if shots else []), {"role": "user", "content": question}]
