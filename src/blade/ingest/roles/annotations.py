"""What people wrote about a rollout afterwards: labels of who went wrong and at which step. They are never evidence.

A label of the actor holds a name of somebody who acts in the same row; a label of the step is the place of an item of that
actor. What is named alike beside them is of the same hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from blade.ingest.roles.paths import Sample
from blade.model.rollout import Step

FEWEST_ROWS = 5
LEAST_NAMED = 0.8
"""Of the rows with a label, those in which it is one of several who act; people misspell a name now and then."""
LEAST_AT = 0.6
"""Of the rows with a number, those in which the item at that place is the labelled actor's."""
SHORTEST_PREFIX = 4
_WORDS = re.compile(r"annotat|human_?label|label_?by|reviewer_?(?:note|comment)", re.IGNORECASE)


def annotated(
    sample: Sample, paths: Sequence[str], trajectories: Sequence[Sequence[Step]]
) -> Iterator[tuple[str, str]]:
    """The fields that are labels, each with why."""
    actors = [[(step.index, step.actor) for step in steps if step.actor] for steps in trajectories]
    who = next((path for path in paths if _names_actor(sample.columns[path], actors)), None)
    if who is not None:
        yield who, "names one of those who act in each rollout: a label"
        for path in paths:
            if path != who and _is_place(sample.columns[path], sample.columns[who], actors):
                yield path, f"the place of an item of the one in {who}: a label"
            elif path != who and len(_shared(path, who)) >= SHORTEST_PREFIX:
                yield path, f"named as {who} is, which is a label"
    yield from ((path, "its name says that people wrote it afterwards") for path in paths if _WORDS.search(path))


def _names_actor(column: Sequence[Any], actors: Sequence[Sequence[tuple[int, str | None]]]) -> bool:
    """Whether a field names in most of its rows one of several who act; in some of them not the one who ended it."""
    rows = [(value, acts) for value, acts in zip(column, actors, strict=True) if isinstance(value, str) and value]
    several = [(value, [name for _, name in acts]) for value, acts in rows if len({name for _, name in acts}) > 1]
    named = sum(value in names for value, names in several)
    return len(several) >= FEWEST_ROWS and named >= LEAST_NAMED * len(rows)


def _is_place(column: Sequence[Any], who: Sequence[Any], actors: Sequence[Sequence[tuple[int, str | None]]]) -> bool:
    rows = [
        (int(value), name, dict(acts))
        for value, name, acts in zip(column, who, actors, strict=True)
        if acts and name and str(value).isdecimal() and not isinstance(value, bool)
    ]
    return len(rows) >= FEWEST_ROWS and sum(acts.get(place) == name for place, name, acts in rows) >= LEAST_AT * len(
        rows
    )


def _shared(one: str, two: str) -> str:
    """What two names begin with, up to the end of a word."""
    count = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    head = one[:count]
    end = max(head.rfind("_"), head.rfind("-"), head.rfind("."))
    humps = [n for n in range(1, len(one)) if one[n].isupper() and n <= count]
    return one[: max([end + 1, *humps])]
