"""A time at which all can meet: nobody is busy, the office is open, and no earlier time would do.

Row
    `busy`: by person, pairs of `HH:MM`. `opening`: a pair. `hours`: how long. `expected_answer`: the earliest time.

Fields
    `given_time`, `checks`, `failure_reason`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from blade_gym.answers import final_answer, last_line
from blade_gym.environment import Row, Verdict
from blade_gym.single_turn import Config
from blade_gym.verifiers.faults import checks

_CLOCK = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?!\d)")

NO_TIME = "no time is given"
CLOSED = "the office is closed then"
ALL_BUSY = "all are busy then"
ONE_BUSY = "one of them is busy then"
NOT_FIRST = "all are free then, and also earlier"
CRITERIA = {
    NO_TIME: "a time",
    CLOSED: "a time when the office is open",
    ALL_BUSY: "a time when somebody is free",
    ONE_BUSY: "a time when all are free",
    NOT_FIRST: "the first such time",
}


def gold(row: Row) -> str:
    """The earliest time."""
    return str(row["expected_answer"])


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for the earliest time that suits all, else 0 with why not."""
    said = final_answer(text) or last_line(text) or ""
    found = _CLOCK.search(said)
    start = _minutes(found.group()) if found else None
    reason = NO_TIME if start is None else _wrong(row, start)
    fields = {
        "given_time": found.group() if found else None,
        "checks": checks(CRITERIA, reason),
        "failure_reason": reason,
    }
    return Verdict(reward=float(reason is None), fields=fields)


def _wrong(row: Row, start: int) -> str | None:
    end = start + 60 * int(row["hours"])
    opening = [_minutes(clock) for clock in row["opening"]]
    if start < opening[0] or end > opening[1]:
        return CLOSED
    busy = [name for name, times in row["busy"].items() if any(_meet(start, end, time) for time in times)]
    if busy:
        return ALL_BUSY if len(busy) == len(row["busy"]) else ONE_BUSY
    return None if start == _minutes(str(row["expected_answer"])) else NOT_FIRST


def _meet(start: int, end: int, time: Sequence[str]) -> bool:
    return start < _minutes(time[1]) and _minutes(time[0]) < end


def _minutes(clock: str) -> int:
    hours, _, minutes = clock.partition(":")
    return 60 * int(hours) + int(minutes)
