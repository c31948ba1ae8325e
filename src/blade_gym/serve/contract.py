"""What the `app.py` of a resources server makes, held to the contract of `environment.py`.

Near misses are taken for what they mean: functions that are not `async`, a verdict as a mapping or a number, a gold answer
as a text. Anything else is an error that says what is expected.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.answers import last_message, message
from blade_gym.environment import Environment, Row, Session, Verdict
from blade_gym.loading import error_line, load_file, where_raised
from blade_gym.single_turn import SingleTurn

PAGE = "docs/gym.md shows a whole one"
_VERDICT = 'a Verdict, or {"reward": number, ...fields of its own}'
_ITEMS = "a text, or a list of output items; None where the row gives none"


def environment_of(path: Path, config: Mapping[str, Any]) -> Environment:
    """The environment of an `app.py`: what its `environment(config)` gives, or its own `verify(row, text, config)`."""
    module = load_file(path)
    make = getattr(module, "environment", None)
    if not callable(make) and not callable(getattr(module, "verify", None)):
        raise RequestError(
            f"{path} has neither environment(config) nor verify(row, text, config)",
            hint=PAGE,
        )
    made = _made(make, config, path) if callable(make) else module
    if callable(getattr(made, "open", None)):
        return CheckedEnvironment(made=made, path=path)
    if not callable(getattr(made, "verify", None)):
        raise RequestError(
            f"{path}: environment(config) gave {_shown(made)}, which has neither open(row) nor verify(row, text, config)",
            hint=PAGE,
        )
    _takes(made.verify, ("row", "text", "config"), path)
    return CheckedEnvironment(made=_of_functions(made, config), path=path)


def _made(make: Callable[..., Any], config: Mapping[str, Any], path: Path) -> Any:
    _takes(make, ("config",), path)
    try:
        return make(config)
    except RequestError:
        raise
    except Exception as error:  # noqa: BLE001 - somebody's code may raise anything
        raise RequestError(
            f"{where_raised(error, path)}: {error_line(error)}", hint="environment(config) failed"
        ) from None


def _takes(function: Callable[..., Any], names: Sequence[str], path: Path) -> None:
    """Raise where a function cannot be called with so many arguments."""
    try:
        inspect.signature(function).bind(*names)
    except TypeError:
        called = getattr(function, "__name__", "a function")
        given = inspect.signature(function)
        raise RequestError(f"{path}: {called} takes ({', '.join(names)}), not {given}", hint=PAGE) from None
    except ValueError:  # a built-in without a signature
        return


def _of_functions(made: Any, config: Mapping[str, Any]) -> Environment:
    """An environment of `verify(row, text, config)` and, where there is one, `gold(row)`."""

    async def judge(row: Row, output: Sequence[Row]) -> Any:
        return await _awaited(await asyncio.to_thread(made.verify, row, last_message(output), config))

    return SingleTurn(judge=judge, golden=getattr(made, "gold", lambda row: None))


class CheckedEnvironment(msgspec.Struct, frozen=True, kw_only=True):
    """An environment that somebody wrote, as everybody else expects it."""

    made: Any
    path: Path
    """Its file, for messages."""

    @property
    def tools(self) -> Sequence[Row]:
        """Its tools; none where it names none."""
        return tuple(getattr(self.made, "tools", None) or ())

    @property
    def reverify(self) -> str:
        """Whether stored responses can be judged again."""
        return str(getattr(self.made, "reverify", "stateless"))

    def ready(self) -> None:
        """Raise RequestError where it says that it cannot judge on this machine."""
        getattr(self.made, "ready", lambda: None)()

    def admit(self, row: Row) -> None:
        """Raise ForeignRow where it says that the row is not one of its own."""
        getattr(self.made, "admit", lambda row: None)(row)

    def open(self, row: Row) -> Session:
        """A session of the row."""
        session = self.made.open(row)
        if not callable(getattr(session, "verify", None)):
            raise TypeError(f"open(row) gives a session with verify(response); not {_shown(session)}")
        return _Session(made=session)

    def gold(self, row: Row) -> Sequence[Row] | None:
        """The trajectory that the row's own key says is right."""
        gold = getattr(self.made, "gold", None)
        return items_of(gold(row)) if callable(gold) else None


class _Session(msgspec.Struct, frozen=True, kw_only=True):
    made: Any

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        said = await _awaited(self.made.call(tool, arguments))
        return said if isinstance(said, str) else json.dumps(said)

    async def verify(self, response: Row) -> Verdict:
        return verdict_of(await _awaited(self.made.verify(response)))


async def _awaited(value: Any) -> Any:
    while inspect.isawaitable(value):
        value = await value
    return value


def verdict_of(value: Any) -> Verdict:
    """A verifier's answer as a verdict; raises TypeError where it is none."""
    if isinstance(value, Verdict):
        reward, fields = value.reward, value.fields
    elif isinstance(value, Mapping) and "reward" in value:
        reward, fields = value["reward"], {name: one for name, one in value.items() if name != "reward"}
    elif isinstance(value, int | float):
        reward, fields = value, {}
    else:
        raise TypeError(f"verify gives {_VERDICT}; not {_shown(value)}")
    if not _finite(reward):
        raise TypeError(f"a reward is a finite number, not {_shown(reward)}")
    try:
        msgspec.json.encode(fields)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the fields of a verdict are JSON: {error}") from None
    return Verdict(reward=float(reward), fields=fields)


def _finite(reward: object) -> bool:
    return isinstance(reward, int | float) and math.isfinite(reward)


def items_of(value: Any) -> Sequence[Row] | None:
    """A gold answer as output items; raises TypeError where it is none."""
    if value is None:
        return None
    if isinstance(value, str):
        return (message(value),)
    given = [value] if isinstance(value, Mapping) else value
    if isinstance(given, Sequence) and all(isinstance(item, Mapping) for item in given):
        return tuple(given)
    raise TypeError(f"gold(row) gives {_ITEMS}; not {_shown(value)}")


def _shown(value: object) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '...'}" if value is not None else "None"
