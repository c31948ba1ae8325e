"""What an earlier run left: which rollouts are done, which failed and how often, and what is still to do."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.agents.simple_agent import FAILURE, MENDABLE, TERMINAL
from blade_gym.run.artifacts import ATTEMPT, REPEAT, TASK, Artifacts, Key, heal

VARIABLE = "NEMO_GYM_MAX_ROLLOUT_ATTEMPTS"
MOST_ATTEMPTS = 3
MOST_LISTED = 5


class EarlierRun(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a run's files."""

    done: frozenset[Key] = frozenset()
    rewards: tuple[float, ...] = ()
    """Of what is done, for the running score."""
    attempts: Mapping[Key, int] = msgspec.field(default_factory=dict)
    """Failed attempts of rollouts that are not done."""
    terminal: frozenset[Key] = frozenset()
    notices: tuple[str, ...] = ()

    def to_do(self, rows: Sequence[Mapping[str, Any]], most: int) -> list[dict[str, Any]]:
        """Rows to run, in order, each with the number of attempts before it."""
        wanted = []
        for row in rows:
            key = key_of(row)
            failed = self.attempts.get(key, 0)
            if key not in self.done and key not in self.terminal and failed < most:
                wanted.append({**row, **({ATTEMPT: failed} if failed else {})})
        return wanted

    def given_up(self, rows: Sequence[Mapping[str, Any]], most: int) -> Counter[str]:
        """Rollouts that are not tried again, and why."""
        found: Counter[str] = Counter()
        for key in map(key_of, rows):
            if key in self.terminal:
                found["terminal"] += 1
            elif key not in self.done and self.attempts.get(key, 0) >= most:
                found[f"attempts used up; {VARIABLE} is {most}, and a larger one allows more"] += 1
        return found


def key_of(row: Mapping[str, Any]) -> Key:
    """Task and repeat."""
    return row[TASK], row[REPEAT]


def most_attempts() -> tuple[int, str | None]:
    """How often a rollout may fail, and a notice where the variable says nothing usable."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return MOST_ATTEMPTS, None
    if text.isdigit() and int(text) > 0:
        return int(text), None
    return MOST_ATTEMPTS, f"{VARIABLE} is a number from 1, not {text!r}: {MOST_ATTEMPTS} is used"


def read_earlier(files: Artifacts) -> EarlierRun:
    """The state of the files, their torn ends mended."""
    notices = [note for path in (files.rollouts, files.failures) if (note := heal(path))]
    lost: dict[Path, list[int]] = {files.rollouts: [], files.failures: []}
    done: dict[Key, float | None] = {}
    for row in rows_of(files.rollouts, lost[files.rollouts]):
        reward = row.get("reward")
        done[key_of(row)] = float(reward) if isinstance(reward, int | float) else None
    attempts: Counter[Key] = Counter()
    terminal: set[Key] = set()
    for row in rows_of(files.failures, lost[files.failures]):
        if key_of(row) not in done:
            attempts[key_of(row)] += row.get(FAILURE) not in MENDABLE
            terminal |= {key_of(row)} if row.get(TERMINAL) else set()
    return EarlierRun(
        done=frozenset(done),
        rewards=tuple(reward for reward in done.values() if reward is not None),
        attempts=attempts,
        terminal=frozenset(terminal),
        notices=(*notices, *(_unread(path, lines) for path, lines in lost.items() if lines)),
    )


def read_inputs(path: Path) -> tuple[dict[str, Any], ...]:
    """The materialized inputs of the earlier run, which is what is gone on with."""
    lost: list[int] = []
    rows = tuple(rows_of(path, lost))
    if lost:
        raise RequestError(
            f"{path}:{lost[0]}: not a row: what was planned is not known", hint="--overwrite starts anew"
        )
    return rows


def _unread(path: Path, lines: Sequence[int]) -> str:
    """A word on lines that are no rows: nothing of theirs counts, and nothing of theirs is lost."""
    places = ", ".join(map(str, lines[:MOST_LISTED])) + (", ..." if len(lines) > MOST_LISTED else "")
    what = "line" if len(lines) == 1 else f"{len(lines)} lines"
    return f"{path}: {what} {places}: not a row; left as it is, and what stood there runs again"


def rows_of(path: Path, lost: list[int] | None = None) -> Iterator[dict[str, Any]]:
    """Rows with a key; a line that is none is left for `blade analyze` to list, and its number put into `lost`."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, dict) and isinstance(row.get(TASK), int) and isinstance(row.get(REPEAT), int):
                yield row
            elif lost is not None and line.strip():
                lost.append(number)
