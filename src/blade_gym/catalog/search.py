"""Finding an entry by what people call it.

Every word of a query must mean something in an entry: a word of its name, domain, description or verifier, the beginning
of one, or a word that stands for its domain. Where each word means something in some entry and no entry has them all,
those that have most are found. A word that no entry has is taken for a typo of one that begins alike.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache

import msgspec

from blade_gym.catalog.entry import Benchmark, Component, Entry

MEANS: Mapping[str, tuple[str, ...]] = {
    "algebra": ("math",),
    "arithmetic": ("math",),
    "calculation": ("math",),
    "maths": ("math",),
    "mathematics": ("math",),
    "mathematical": ("math",),
    "numeracy": ("math",),
    "olympiad": ("aime", "olympiad"),
    "code": ("coding", "code"),
    "coder": ("coding",),
    "developer": ("coding",),
    "programming": ("coding",),
    "program": ("coding",),
    "software": ("coding",),
    "database": ("sql",),
    "query": ("sql",),
    "fact": ("knowledge",),
    "facts": ("knowledge",),
    "factual": ("knowledge", "factual"),
    "trivia": ("knowledge",),
    "qa": ("knowledge", "question"),
    "question": ("knowledge", "question"),
    "agentic": ("agent", "tool", "tools"),
    "agents": ("agent",),
    "tool": ("agent", "tool", "tools"),
    "tools": ("agent", "tool", "tools"),
    "function": ("agent", "function"),
    "calling": ("agent", "calling", "calls"),
    "instruction": ("instruction", "instructions"),
    "instructions": ("instruction", "instructions"),
    "if": ("instruction",),
    "constraints": ("instruction", "constraints"),
    "harmful": ("safety",),
    "harm": ("safety",),
    "jailbreak": ("safety", "jailbreak"),
    "refusal": ("safety", "refusal", "refused"),
    "refuse": ("safety", "refusal", "refused"),
    "safe": ("safety",),
    "toxicity": ("safety",),
    "audio": ("speech", "audio"),
    "asr": ("speech", "asr"),
    "transcription": ("speech", "transcription"),
    "voice": ("speech",),
    "wer": ("speech", "wer"),
    "translate": ("translation",),
    "multilingual": ("translation", "multilingual", "languages"),
    "language": ("translation", "language"),
    "json": ("json", "structured"),
    "schema": ("json", "schema", "structured"),
    "puzzle": ("reasoning", "puzzle", "puzzles"),
    "logic": ("reasoning", "logic"),
    "long": ("long",),
    "multi": ("several",),
    "retrieval": ("long", "needle", "retrieval"),
    "game": ("games", "game"),
}
"""What a word stands for where people say it; the right side is words that entries use."""

NAME, DOMAIN, DESCRIPTION, VERIFIER = 10.0, 8.0, 3.0, 2.5
"""What a match is worth by where it stands."""
EXACT, MEANT, BEGINS, INSIDE, TYPO = 1.0, 0.8, 0.7, 0.5, 0.4
SHORTEST_TYPO = 4
_WORD = re.compile(r"[a-z]+|\d+")


def search(query: str, entries: Sequence[Entry]) -> list[Entry]:
    """The entries that the query means, the best first; of equals, by name."""
    words = tokens(query)
    shelves = [(entry, _shelf(entry)) for entry in entries]
    known = {word for _, shelf in shelves for words_of in shelf.words.values() for word in words_of}
    known |= {*MEANS, *(word for means in MEANS.values() for word in means)}
    asked = [_Asked.of(word, known) for word in words]
    found = [(shelf.worths(asked, query), entry) for entry, shelf in shelves]
    most = max((_had(worths) for worths, _ in found), default=0)
    known_to_some = all(any(worths[place] for worths, _ in found) for place in range(len(asked)))
    if not most or not known_to_some:
        return []
    best = [(sum(worths), entry) for worths, entry in found if _had(worths) == most]
    return [entry for _, entry in sorted(best, key=lambda pair: (-pair[0], pair[1].name))]


def _had(worths: Sequence[float]) -> int:
    return sum(worth > 0 for worth in worths)


@cache
def tokens(text: str) -> tuple[str, ...]:
    """Words and numbers in small letters; `HumanEval` and `aime24` come apart."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return tuple(_WORD.findall(apart.lower()))


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    word: str
    meant: tuple[str, ...]
    typo_of: tuple[str, ...]

    @classmethod
    def of(cls, word: str, known: Collection[str]) -> _Asked:
        """A word that entries use is not a typo, nor is one that begins such a word."""
        begins = any(other.startswith(word) for other in known)
        near = () if begins else tuple(other for other in sorted(known) if close(word, other))
        stands_for = (other for each in (word, *near) for other in MEANS.get(each, ()))
        return cls(word=word, meant=tuple(dict.fromkeys(stands_for)), typo_of=near)


class _Shelf(msgspec.Struct, frozen=True, kw_only=True):
    words: Mapping[float, frozenset[str]]
    """By what a match in them is worth."""
    name: str
    category: tuple[str, ...]

    def worths(self, asked: Iterable[_Asked], query: str) -> list[float]:
        """What each word of a query is worth here; 0 for one that means nothing."""
        if self.category and tokens(query) == self.category:
            return [DOMAIN for _ in asked]
        return [self._best(one) for one in asked]

    def _best(self, asked: _Asked) -> float:
        found = [weight * match for weight, words in self.words.items() if (match := _match(asked, words))]
        if len(asked.word) >= SHORTEST_TYPO - 1 and asked.word in self.name:
            found.append(NAME * INSIDE)
        return max(found, default=0.0)


def _match(asked: _Asked, words: frozenset[str]) -> float:
    if asked.word in words or _singular(asked.word) in words:
        return EXACT
    if any(word in words for word in asked.meant):
        return MEANT
    if len(asked.word) >= SHORTEST_TYPO - 1 and any(word.startswith(asked.word) for word in words):
        return BEGINS
    return TYPO if any(word in words for word in asked.typo_of) else 0.0


def _singular(word: str) -> str:
    return word[:-1] if len(word) > SHORTEST_TYPO - 1 and word.endswith("s") else word


def _shelf(entry: Benchmark | Component) -> _Shelf:
    named = entry.name
    dataset = entry.dataset if isinstance(entry, Benchmark) else ""
    category = entry.category if isinstance(entry, Benchmark) else ""
    return _Shelf(
        words={
            NAME: frozenset(tokens(f"{named} {dataset}")) | {named.lower(), dataset.lower()},
            DOMAIN: frozenset(tokens(entry.domain)),
            DESCRIPTION: frozenset(tokens(entry.description)),
            VERIFIER: frozenset(tokens(entry.verifier if isinstance(entry, Benchmark) else "")),
        },
        name=named.lower(),
        category=tokens(category),
    )


def close(word: str, other: str) -> bool:
    """Whether one may be a typo of the other: alike in their beginning, and one or two slips apart by their length.

    Three letters may lack one, and no more: of words so short, too many are alike.
    """
    if len(other) < SHORTEST_TYPO or word[0] != other[0] or abs(len(word) - len(other)) > 2:
        return False
    if len(word) < SHORTEST_TYPO:
        return len(word) == SHORTEST_TYPO - 1 and len(other) == SHORTEST_TYPO and slips(word, other) == 1
    return slips(word, other) <= (1 if min(len(word), len(other)) < 8 else 2)


def slips(one: str, other: str) -> int:
    """Letters to add, drop, change or swap with their neighbor to make one word of the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before = above
    return row[-1]
