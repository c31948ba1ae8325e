"""Houses to search, generated: every other one has a locked door."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub
from blade_gym.cellar.rows import rows


def prepare(size: int = 48, seed: int = 7, output: str | None = None) -> Path:
    """Write `size` games."""
    return hub.write(rows(size, seed), output or hub.beside(__file__, "cellar_game"))
