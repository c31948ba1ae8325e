"""The first time at which several people can meet, from what is in their calendars."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade_gym import hub, puzzles

PEOPLE = ("Ana", "Ben", "Cleo", "Dan", "Eve", "Finn")
OPEN, CLOSE = 9, 17
LENGTHS = (1, 2)

Busy = Mapping[str, Sequence[tuple[int, int]]]


def prepare(size: int = 48, seed: int = 7, shots: int = 2, output: str | None = None) -> Path:
    """Write `size` sets of calendars of two or three people in turn."""
    return hub.write(_rows(size, seed, shots), output or hub.beside(__file__, "meeting_times"))


def _rows(size: int, seed: int, shots: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    shown = [_shot(random.Random(f"shot {number}")) for number in range(shots)]
    for number in range(size):
        people = 2 + number % 2
        busy, hours, start = _calendars(draw, people)
        yield {
            "id": f"meeting-{number:03d}",
            "responses_create_params": {"input": puzzles.turns(shown, _question(busy, hours))},
            "people": people,
            "hours": hours,
            "busy": {name: [[_clock(begin), _clock(end)] for begin, end in times] for name, times in busy.items()},
            "opening": [_clock(OPEN), _clock(CLOSE)],
            "expected_answer": _clock(start),
        }


def _shot(draw: random.Random) -> puzzles.Shot:
    busy, hours, start = _calendars(draw, 2)
    return _question(busy, hours), _clock(start)


def _calendars(draw: random.Random, people: int) -> tuple[Busy, int, int]:
    """Calendars that leave a time free, which is not the first of the day."""
    while True:
        busy = {name: _day(draw) for name in draw.sample(PEOPLE, people)}
        hours = draw.choice(LENGTHS)
        taken = {hour for times in busy.values() for begin, end in times for hour in range(begin, end)}
        free = [hour for hour in range(OPEN, CLOSE - hours + 1) if not taken & set(range(hour, hour + hours))]
        if free and free[0] > OPEN:
            return busy, hours, free[0]


def _day(draw: random.Random) -> list[tuple[int, int]]:
    begins = sorted(draw.sample(range(OPEN, CLOSE - 1, 2), draw.randint(1, 3)))
    return [(begin, begin + draw.randint(1, 2)) for begin in begins]


def _clock(hour: int) -> str:
    return f"{hour:02d}:00"


def _question(busy: Busy, hours: int) -> str:
    lines = [
        f"{name} is busy {', '.join(f'{_clock(begin)}-{_clock(end)}' for begin, end in times)}."
        for name, times in busy.items()
    ]
    many = "1 hour" if hours == 1 else f"{hours} hours"
    return "\n".join(
        [
            *lines,
            (
                f"The office is open {_clock(OPEN)}-{_clock(CLOSE)}. When is the earliest that all can meet for {many}? "
                "Reply with the time alone, as HH:MM."
            ),
        ]
    )
