"""Retries: a model behind a limit of tries, with waits that double, and jitter that a seed decides."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import msgspec

from blade_gym.models.model import Model, ModelError


class Patience(msgspec.Struct, frozen=True, kw_only=True):
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

    def __init__(self, inner: Model, patience: Patience, *, seed: int = 0) -> None:
        import stamina

        self._inner, self._patience, self._seed = inner, patience, seed
        # By default each retry is logged to standard error, in the midst of what the command says there.
        stamina.instrumentation.set_on_retry_hooks(())

    @property
    def name(self) -> str:
        """The inner model's."""
        return self._inner.name

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The first answer that is one; raises the last ModelError."""
        import stamina

        chance = random.Random(f"{self._seed}:{seed}:{params.get('input')}")
        failed = 0

        def backoff(error: Exception) -> bool | float:
            nonlocal failed
            if not isinstance(error, ModelError) or not error.again:
                return False
            failed += 1
            return self._patience.wait(failed, error.after, chance)

        async for attempt in stamina.retry_context(on=backoff, attempts=self._patience.tries, timeout=None):
            with attempt:
                return await self._inner.respond(params, seed=seed)
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """Close the inner model."""
        await self._inner.close()
