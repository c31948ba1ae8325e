"""Asking again: a model behind a limit of tries, with waits that double, and jitter that a seed decides."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from blade_gym.models.model import Model, ModelError


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How often to try, and how long to wait between."""

    tries: int = 5
    first: float = 0.5
    """Seconds before the second try."""
    most: float = 60.0
    """Seconds before any try; also of what a server asks for."""

    def wait(self, failed: int, after: float | None, chance: random.Random) -> float:
        """Seconds before the next try, after so many that failed."""
        doubled = min(self.most, self.first * 2.0 ** (failed - 1))
        jittered = doubled * (0.5 + chance.random() / 2)
        return min(self.most, max(jittered, after or 0.0))


class PatientModel:
    """A model that is asked again where that may help."""

    def __init__(
        self,
        inner: Model,
        patience: Patience,
        *,
        seed: int = 0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._inner, self._patience, self._seed, self._sleep = inner, patience, seed, sleep

    @property
    def name(self) -> str:
        """The inner model's."""
        return self._inner.name

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The first answer that is one; raises the last ModelError."""
        chance = random.Random(f"{self._seed}:{seed}:{params.get('input')}")
        for failed in range(1, self._patience.tries + 1):
            try:
                return await self._inner.respond(params, seed=seed)
            except ModelError as error:
                if not error.again or failed == self._patience.tries:
                    raise
                await self._sleep(self._patience.wait(failed, error.after, chance))
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """Close the inner model."""
        await self._inner.close()
