"""Short texts to write under constraints that can be checked, each with a text that keeps them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from blade_gym import hub, puzzles

TOPICS = (
    "rain",
    "tea",
    "rivers",
    "bread",
    "winter",
    "bicycles",
    "bees",
    "harbors",
    "gardens",
    "clocks",
    "snow",
    "maps",
)

Constraint = tuple[str, dict[str, Any]]
Wish = tuple[str, list[Constraint], str]
"""How it is said, what is checked, and a text that keeps to it."""


def prepare(size: int = 48, seed: int = 7, output: str | None = None) -> Path:
    """Write `size` requests, of each kind in turn."""
    return hub.write(_rows(size, seed), output or hub.beside(__file__, "checkable_instructions"))


def _rows(size: int, seed: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    told: set[str] = set()
    for number in puzzles.draws(told, size):
        kind = KINDS[number % len(KINDS)]
        topic = draw.choice(TOPICS)
        said, checked, example = kind(draw, topic)
        asked = f"Write about {topic}. {said}"
        if asked in told:
            continue
        yield {
            "id": f"instruction-{number:03d}",
            "responses_create_params": hub.user(asked),
            "kind": kind.__name__.strip("_"),
            "verifier_metadata": {
                "instruction_id_list": [name for name, _ in checked],
                "prompt": asked,
                "kwargs": [given for _, given in checked],
                "grading_mode": "binary",
            },
            "example_answer": example,
        }
        told.add(asked)


def _bullets(draw: random.Random, topic: str) -> Wish:
    count = draw.randint(2, 5)
    said = f"Use exactly {count} bullet points that begin with * and no commas."
    checked: list[Constraint] = [
        ("detectable_format:number_bullet_lists", {"num_bullets": count}),
        ("punctuation:no_comma", {}),
    ]
    return said, checked, "\n".join(f"* One more word on {topic}" for _ in range(count))


def _short(draw: random.Random, topic: str) -> Wish:
    limit = draw.choice((13, 16, 19, 21))
    return f"Use fewer than {limit} words.", [_words(limit)], f"Few things are like {topic}."


def _small_letters(draw: random.Random, topic: str) -> Wish:
    count = draw.randint(2, 3)
    said = f"Write in English and in lowercase letters only, no capitals anywhere, with at least {count} sentences."
    checked: list[Constraint] = [
        ("change_case:english_lowercase", {}),
        ("length_constraints:number_sentences", {"num_sentences": count, "relation": "at least"}),
    ]
    return said, checked, " ".join(f"most of the people that we know like {topic}." for _ in range(count))


def _capitals(draw: random.Random, topic: str) -> Wish:
    limit = draw.choice((11, 16, 21))
    said = f"Write in English and in capital letters only, with fewer than {limit} words."
    checked: list[Constraint] = [("change_case:english_capital", {}), _words(limit)]
    return said, checked, f"THERE IS NOTHING IN THE WORLD LIKE {topic.upper()}."


def _last_words(draw: random.Random, topic: str) -> Wish:
    end = draw.choice(("That is all.", "And so it goes.", "Is there more?", "We will see."))
    said = f"Use fewer than 4 sentences, and end with the exact words: {end}"
    checked: list[Constraint] = [_sentences(4), ("startend:end_checker", {"end_phrase": end})]
    return said, checked, f"Everybody knows {topic}. {end}"


def _keywords(draw: random.Random, topic: str) -> Wish:
    wanted = draw.sample(("copper", "window", "seven", "quiet", "letter", "north"), 2)
    banned = draw.choice(("the", "and", "very"))
    said = f'Use the words "{wanted[0]}" and "{wanted[1]}", and never the word "{banned}". Write a single sentence.'
    checked: list[Constraint] = [
        ("keywords:existence", {"keywords": wanted}),
        ("keywords:forbidden_words", {"forbidden_words": [banned]}),
        _sentences(2),
    ]
    return said, checked, f"For {topic} we need {wanted[0]} with {wanted[1]}."


def _words(limit: int) -> Constraint:
    return "length_constraints:number_words", {"num_words": limit, "relation": "less than"}


def _sentences(limit: int) -> Constraint:
    return "length_constraints:number_sentences", {"num_sentences": limit, "relation": "less than"}


KINDS: tuple[Callable[[random.Random, str], Wish], ...] = (
    _bullets,
    _short,
    _small_letters,
    _capitals,
    _last_words,
    _keywords,
)
