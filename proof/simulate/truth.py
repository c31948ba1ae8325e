"""What is true of a simulated run: kept beside its rows, and read by nobody but the scorer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from blade.model.finding import Cause
from proof.simulate.modes import Group

Places = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class TaskTruth:
    """One task of one run."""

    index: int
    """Its place in the inputs: rows that do not belong together are known by it alone."""
    cause: Cause | None
    """None where nothing fails, or the rows do not settle it."""
    mechanism: str | None
    clean: bool
    """Nobody but the model is to blame for whatever fails."""
    places: tuple[str, ...] = ()
    """Rollouts in which the mechanism was planted."""


@dataclass(frozen=True, kw_only=True)
class RolloutTruth:
    """One rollout that was to be made, the missing ones included."""

    task: str
    repeat: int
    mode: str | None
    """None for a pass."""
    party: str | None
    group: Group | None
    modes_too: tuple[str, ...] = ()
    """Modes that an expert could name as well."""
    settled: bool = True
    """Whether the rows settle it; if they do not, `unattributed` is right too."""
    doubtful: bool = False
    """A pass that should not count as one without a second look."""
    hit: bool = False
    """Whether the mechanism of its task was planted in it."""


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A string that was planted, and where it stands."""

    place: str
    step: int | None
    field: str
    quote: str


@dataclass(frozen=True, kw_only=True)
class RunTruth:
    """One run."""

    tasks: Mapping[str, TaskTruth]
    must: Places
    """By code of a rule: rollouts in which it must fire, or whose task it must name."""
    may: Places
    """By code: rollouts in which it may fire without being wrong."""
    harmless: tuple[Planted, ...] = ()
    """Strings that mean nothing."""
    rollouts: tuple[RolloutTruth, ...] = ()
    faults: tuple[Planted, ...] = ()
    """Words in which a fault shows, where it has words."""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Everything planted in one world."""

    world: str
    seed: int
    runs: Mapping[str, RunTruth]

    def as_json(self) -> str:
        """The file `truth.json`."""
        return json.dumps(_plain(asdict(self)), indent=1, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Cause) else value
