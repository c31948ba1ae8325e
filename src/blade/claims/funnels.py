"""The shares of a funnel: of the stage before, or of the first; the table as a whole shows which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from blade.claims.binding import Bound, judge
from blade.claims.facts import Facts
from blade.claims.judged import Judged
from blade.claims.markdown import Passage, Table
from blade.claims.mentions import numbers
from blade.claims.names import Names, plain
from blade.claims.values import Verdict

READINGS = ("share_before", "share_first")
_FEWEST = 3
_HEAD = re.compile(r"(?:share|percent|percentage|rate|of .*|)")


def judged_shares(table: Table, runs: Sequence[str], names: Names, facts: Facts) -> Iterator[Judged]:
    """Columns of percentages beside stages: read in the one way that most of the column follows."""
    rows = [row for row in table.rows if plain(row[0].text) in names.stages]
    if len(rows) < _FEWEST or len(runs) != 1:
        return
    for column in range(1, len(table.head)):
        head = table.head[column].text
        if _HEAD.fullmatch(plain(head)) and (plain(head) or "%" in head):
            yield from _read(rows, column, runs[0], names, facts)


def _read(rows: Sequence[Sequence[Passage]], column: int, run: str, names: Names, facts: Facts) -> Iterator[Judged]:
    """The verdicts of the reading that fits best; none where no reading fits all cells but one."""
    readings = [_verdicts(rows, column, run, reading, names, facts) for reading in READINGS]
    best = max(readings, key=lambda made: sum(one.verdict is Verdict.TRUE for one in made))
    wrong = sum(one.verdict is not Verdict.TRUE for one in best)
    if len(best) >= _FEWEST and wrong <= 1:
        yield from best


def _verdicts(
    rows: Sequence[Sequence[Passage]], column: int, run: str, reading: str, names: Names, facts: Facts
) -> list[Judged]:
    made = []
    for row in rows:
        scope = f"stage:{names.stages[plain(row[0].text)]}"
        found = numbers(row[column], names)
        if len(found) == 1 and found[0].percent and facts.of(run, scope, reading):
            bound = Bound(passage=row[column], number=found[0], runs=(run,), scope=scope, subjects=(reading,))
            made.append(judge(bound, facts))
    return made
