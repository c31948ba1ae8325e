"""Short words of a row that failures have and passes have not: what a harness says of the end in a field that no role explains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from blade.attribution.deciding_numbers import is_known
from blade.evidence.alignment import AlignedTrajectory
from blade.ingest.roles.results import verdict_of

LONGEST = 40
"""Characters of a word for how something ended; longer texts are content."""
MOST_WORDS = 3
"""Words of one field among the failures: of more, none says how they ended."""
DEPTH = 2
"""Objects inside objects that are looked into."""


class RecordedWords(Struct, frozen=True, kw_only=True):
    """A field, and how many failures and passes have each of its words."""

    field: str
    failing: Mapping[str, int]
    passing: Mapping[str, int]


def recorded_words(passing: Sequence[AlignedTrajectory], failing: Sequence[AlignedTrajectory]) -> RecordedWords | None:
    """The first field by name whose words part failures from passes, in one and the same task too; None where none does.

    A field that is the same for all rollouts of a task tells the task, and a word for the verdict tells nothing.
    """
    tasks = {_task(walk) for walk in passing} & {_task(walk) for walk in failing}
    if not tasks:
        return None
    won, lost = ([dict(_words(walk.rollout.row)) for walk in side] for side in (passing, failing))
    for field in sorted(set.intersection(*(set(one) for one in (*won, *lost)))):
        mine, theirs = Counter(one[field] for one in lost), Counter(one[field] for one in won)
        repeated = len(failing) == 1 or max(mine.values()) > 1
        if repeated and len(mine) <= MOST_WORDS and not mine.keys() & theirs.keys() and not any(map(_is_verdict, mine)):
            return RecordedWords(field=field, failing=dict(mine.most_common()), passing=dict(theirs.most_common()))
    return None


def _task(walk: AlignedTrajectory) -> str:
    return walk.rollout.key.task_id


def _is_verdict(word: str) -> bool:
    return verdict_of(word) is not None


def _words(values: Mapping[str, object], before: str = "", depth: int = DEPTH) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        path = f"{before}{name}"
        if isinstance(value, str) and 0 < len(value) <= LONGEST and "\n" not in value and not is_known(path, name):
            yield path, value
        elif isinstance(value, dict) and depth:
            yield from _words(value, f"{path}.", depth - 1)
