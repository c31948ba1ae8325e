"""What the verifier got equals what it expected but for white space, and was rejected.

Why it matters
    A program that prints the right thing fails by a line break.

What to do
    Compare outputs by words in the verifier.

Limits
    Looks only at outputs that the verifier records beside what it expected, under names that say which is which. White
    space may matter in a task about layout. Answers that were extracted from a message are the business of TSK003.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from blade.evidence.alignment import AlignedTrajectory
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
_WORD = pattern_of(r"[a-z]+|[A-Z][a-z]*")
_GIVEN = ("response", "responses_create_params")


@rule("TSK004", scope="run", suggests=Cause.TASK, strong=True, status="stable")
def equal_output_rejected(context: RunContext) -> Iterator[Doubt]:
    found = [(walk, path) for walk in _failing(context) for path in _same_texts("", walk.row, 0)]
    if found:
        named = ", ".join(dict.fromkeys(walk.place for walk, _ in found))
        yield Doubt(
            about="verifier",
            tasks=tuple(dict.fromkeys(walk.rollout.key.task_id for walk, _ in found)),
            message=f"{named}: what the verifier got equals what it expected but for white space (`{found[0][1]}`), "
            f"and was rejected",
            rollouts=len({walk.place for walk, _ in found}),
        )


def _same_texts(path: str, value: object, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        yield from (f"{path}{name}" for name in _same_here(value))
    for name, item in _inside(value):
        yield from _same_texts(f"{path}{name}.", item, depth + 1)


def _same_here(value: Mapping[str, object]) -> Iterator[str]:
    """Names of fields with what was got, beside one that wants the same words."""
    texts = {name: text for name, text in value.items() if isinstance(text, str) and text.strip()}
    wanted = [text.split() for name, text in texts.items() if not WANTED.isdisjoint(_words(name))]
    for name, text in texts.items():
        words = _words(name)
        if WANTED.isdisjoint(words) and not GOT.isdisjoint(words) and text.split() in wanted:
            yield name


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


def _failing(context: RunContext) -> list[AlignedTrajectory]:
    return [walk for walk in context.reading.walks.values() if not walk.passed]
