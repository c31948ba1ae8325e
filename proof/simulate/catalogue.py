"""Every world and every mechanism; a mechanism is found by standing in a file of `mechanisms`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from blade.model.errors import RequestError
from proof.simulate import mechanisms as package
from proof.simulate.code import Code
from proof.simulate.mechanism import Mechanism, World
from proof.simulate.single import Single
from proof.simulate.terminal import Terminal
from proof.simulate.tools import Tools

WORLDS: tuple[World, ...] = (Single(), Tools(), Code(), Terminal())


@cache
def mechanisms() -> tuple[Mechanism, ...]:
    """All mechanisms, by world and name; ValueError where two have the same."""
    files = (import_module(f"{package.__name__}.{file.name}") for file in iter_modules(package.__path__))
    found = [value for file in files for value in vars(file).values() if isinstance(value, Mechanism)]
    named = {(one.world, one.name): one for one in found}
    if len(named) < len(found):
        raise ValueError("two mechanisms of a world have one name")
    return tuple(named[key] for key in sorted(named))


def worlds(name: str) -> tuple[World, ...]:
    """The world of a name, or all of them; RequestError for a name that is none."""
    chosen = tuple(world for world in WORLDS if name in (world.name, "all"))
    if not chosen:
        raise RequestError(f"no world is called {name!r}", hint="one of single, tools, code, terminal, all")
    return chosen


def plants(world: World, names: tuple[str, ...]) -> tuple[Mechanism, ...]:
    """What may be planted in a world: all that fits it, or what is named; RequestError for a name that none has."""
    known = [one.name for one in mechanisms()]
    for name in names:
        if name not in known:
            raise RequestError(f"nothing is planted under the name {name!r}", hint="known: " + ", ".join(known))
    return tuple(one for one in mechanisms() if one.world == world.name and (not names or one.name in names))


def declares_rules(world: str) -> bool:
    """Whether the mechanisms of a world say which rules must fire; where none does, no rule is counted."""
    return any(one.must for one in mechanisms() if one.world == world)
