"""The tasks of the resources server `workplace_assistant`: a generated company and what its people ask for."""

from __future__ import annotations

from pathlib import Path

from blade_gym import hub
from blade_gym.workplace.company import SEED
from blade_gym.workplace.rows import EACH, rows


def prepare(seed: int = SEED, each: int = EACH, output: str | None = None) -> Path:
    """Write `each` tasks of every kind; another seed is another company."""
    return hub.write(rows(seed, each), output or hub.beside(__file__, "workplace_assistant"))
