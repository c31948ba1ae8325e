"""What the verifier got equals what it expected but for white space, and was rejected.

Why it matters
    A program that prints the right thing fails by a line break.

What to do
    Compare outputs by words in the verifier.

Limits
    Looks only at outputs that the verifier records beside what it expected. Names say which is which, or the values do: in
    the failures of some task one of the two is always the same, and the other is written in several ways. Fields of which
    passes have such a pair as well are a text and its trimmed copy. White space may matter in a task about layout.
    Answers that were extracted from a message are the business of TSK003.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.model.pattern import pattern_of
from blade.rules.declaration import rule

WANTED = frozenset("expected expect want wanted reference ref gold golden target truth correct desired".split())  # noqa: SIM905
GOT = frozenset(
    [
        "actual",
        "got",
        "output",
        "outputs",
        "stdout",
        "observed",
        "received",
        "produced",
        "obtained",
        "printed",
        "result",
        "out",
        "generated",
    ]
)
"""Words in the names of fields that hold what was wanted, and what was got."""
DEEPEST = 4
MOST_ITEMS = 200
LONGEST = 20_000
"""Characters of a printed output that are compared."""
FEWEST_WORDS = 3
"""Words of a text whose spellings tell it from a key: one word has a trimmed copy in many rows."""
_WORD = pattern_of(r"[a-z]+|[A-Z][a-z]*")
_GIVEN = ("response", "responses_create_params")


class TextPair(NamedTuple):
    """Two texts side by side that differ in white space alone."""

    path: str
    other: str
    texts: tuple[str, str]
    named: bool
    """The names say which was got, the first, and which was wanted."""


@rule("TSK004", scope="run", suggests=Cause.TASK, strong=True, status="stable")
def equal_output_rejected(context: RunContext) -> Iterator[Doubt]:
    walks = context.reading.walks.values()
    pairs = [(walk, pair) for walk in walks for pair in _pairs("", walk.row, 0)]
    trimmed = {(pair.path, pair.other) for walk, pair in pairs if walk.passed}
    failing = [(walk, pair) for walk, pair in pairs if not walk.passed]
    by_task: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for walk, pair in failing:
        by_task.setdefault((walk.rollout.key.task_id, pair.path, pair.other), []).append(pair.texts)
    told = {at[1:] for at, texts in by_task.items() if _tell_which_is_which(texts)} - trimmed
    found = [(walk, pair) for walk, pair in failing if pair.named or (pair.path, pair.other) in told]
    if found:
        named = ", ".join(dict.fromkeys(walk.place for walk, _ in found))
        yield Doubt(
            about="verifier",
            tasks=tuple(dict.fromkeys(walk.rollout.key.task_id for walk, _ in found)),
            message=f"{named}: what the verifier got equals what it expected but for white space "
            f"(`{found[0][1].path}`), and was rejected",
            rollouts=len({walk.place for walk, _ in found}),
        )


def _tell_which_is_which(texts: Sequence[tuple[str, str]]) -> bool:
    """Whether the failures of a task have one text always the same and the other in several spellings."""
    long = all(len(one.split()) >= FEWEST_WORDS for one, _ in texts)
    return long and sorted(min(2, len(set(side))) for side in zip(*texts, strict=True)) == [1, 2]


def _pairs(path: str, value: object, depth: int) -> Iterator[TextPair]:
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        yield from _pairs_here(path, value)
    for name, item in _inside(value):
        yield from _pairs(f"{path}{name}.", item, depth + 1)


def _pairs_here(path: str, value: Mapping[str, object]) -> Iterator[TextPair]:
    """Fields of one object whose texts have the same words; a pair in its own order, or the one that was got first."""
    texts = {n: v for n, v in value.items() if n not in _GIVEN and isinstance(v, str) and 0 < len(v) <= LONGEST}
    if len(texts) < 2:
        return
    by_words: dict[str, list[str]] = {}
    for name, text in texts.items():
        if words := " ".join(text.split()):
            by_words.setdefault(words, []).append(name)
    for names in by_words.values():
        for one, other in permutations(sorted(names), 2):
            named = _is_got(one) and _is_wanted(other)
            both_wanted = _is_wanted(one) and _is_wanted(other)
            if named or (one < other and texts[one] != texts[other] and not both_wanted):
                yield TextPair(f"{path}{one}", f"{path}{other}", (texts[one], texts[other]), named)


def _is_wanted(name: str) -> bool:
    return not WANTED.isdisjoint(_words(name))


def _is_got(name: str) -> bool:
    return not _is_wanted(name) and not GOT.isdisjoint(_words(name))


@lru_cache(maxsize=4096)
def _words(name: str) -> tuple[str, ...]:
    """The rows of a run have the same fields."""
    return tuple(word.lower() for word in _WORD.findall(name))


def _inside(value: object) -> Iterator[tuple[str, object]]:
    """What an object or a list holds, without what was asked and said."""
    if isinstance(value, dict):
        yield from ((str(name), item) for name, item in value.items() if name not in _GIVEN)
    elif isinstance(value, list):
        yield from ((str(place), item) for place, item in enumerate(value[:MOST_ITEMS]))
