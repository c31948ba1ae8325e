"""What a mechanism declares: the fault that it plants, the cause that is then true, the rules that must see it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, Protocol

from blade.model.finding import Cause
from proof.simulate.draft import Draft, Task

Kind = Literal["fault", "harmless", "model"]
"""A fault of somebody, an alarm that means nothing, or plain failing of the model."""


class World(Protocol):
    """A kind of benchmark: how its tasks look, and how an honest model passes and fails them."""

    name: str
    models: tuple[str, ...]
    """Each is a run over the same tasks."""

    def task(self, index: int, rng: Random) -> Task:
        """A task of its own, unlike all others."""

    def solve(self, task: Any, rng: Random) -> Draft:
        """A rollout that does the task right, judged by the task's key."""

    def slip(self, task: Any, rng: Random, variant: int) -> Draft:
        """A rollout that fails by a plain mistake; other variants make other mistakes."""

    def request(self, task: Any) -> dict[str, Any]:
        """What the agent was given."""


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """One way in which rollouts of a task go wrong, or look as if they did."""

    name: str
    world: str
    what: str
    """In a sentence; from the docstring of its function."""
    cause: Cause | None
    """Of a task in which it is planted; None where the rows do not settle it, or nothing fails."""
    kind: Kind
    must: tuple[str, ...]
    """Codes of rules that must fire where it is planted."""
    may: tuple[str, ...]
    """Codes that rightly fire beside them; not counted."""
    mode: str | None = None
    """Of a rollout that is hit and fails; None where its draft says it: a plain mistake, or one of several."""
    party: str | None = None
    """Who has to act, where it is not the party of the mode."""
    modes_too: tuple[str, ...] = ()
    """Other modes that an expert could name from the rows as well."""
    settled: bool = True
    """Whether the rows settle the mode; if they do not, `unattributed` is right too."""
    doubtful: bool = False
    """Whether a pass that is hit is one to doubt."""
    doses: tuple[float, ...]
    """Shares of a task's rollouts that are hit; 0 where the task itself is bent and its rollouts are played as ever."""
    rest: str
    """What its other rollouts do: `pass`, `slip` (fewer than are hit), or `mostly slip` (more than are hit)."""
    play: Callable[[Any, Random], Draft] | None = None
    """A rollout that is hit."""
    otherwise: Callable[[Any, Random], Draft] | None = None
    """A rollout that is not hit, where it is not simply right."""
    bend: Callable[[Any, Random], Any] | None = None
    """The task as it is given to every run."""
    twin: Callable[[Any, Random], Any] | None = None
    """A second task made from the first; the cause is that of the twin."""
    one_run: bool = False
    """Planted in the first run only; the others do the task right now and then."""


def mechanism(
    world: str,
    *,
    cause: Cause | None = None,
    kind: Kind = "fault",
    must: tuple[str, ...] = (),
    may: tuple[str, ...] = (),
    mode: str | None = None,
    party: str | None = None,
    modes_too: tuple[str, ...] = (),
    settled: bool = True,
    doubtful: bool = False,
    doses: tuple[float, ...] = (0.5, 0.75, 1.0),
    rest: str | None = None,
    one_run: bool = False,
    does: Literal["play", "bend", "twin"] = "play",
    play: Callable[[Any, Random], Draft] | None = None,
    otherwise: Callable[[Any, Random], Draft] | None = None,
) -> Callable[[Callable[[Any, Random], Any]], Mechanism]:
    """Declare a mechanism: the function plays a rollout, bends the task, or makes a twin of it.

    A bent task may have rollouts of its own: `play` for those that are hit, `otherwise` for the others.
    """

    def declare(body: Callable[[Any, Random], Any]) -> Mechanism:
        bodies: dict[str, Any] = {"play": play, "otherwise": otherwise} | {does: body}
        return Mechanism(
            name=body.__name__.replace("_", "-"),
            world=world,
            what=inspect.cleandoc(body.__doc__ or "").splitlines()[0],
            cause=cause,
            kind=kind,
            must=must,
            may=may,
            mode=mode,
            party=party,
            modes_too=modes_too,
            settled=settled,
            doubtful=doubtful,
            doses=doses if bodies["play"] else (0.0,),
            rest=rest or ("slip" if kind == "fault" and cause is not None else "pass"),
            one_run=one_run,
            **bodies,
        )

    return declare
