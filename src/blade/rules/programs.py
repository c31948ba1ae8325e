"""Tools that run what the agent writes: what they return is the output of its own programs."""

from __future__ import annotations

import re
from functools import lru_cache

RUNS_CODE = frozenset(
    """bash shell sh terminal console powershell python ipython jupyter repl notebook command cmd code script
    exec""".split()  # noqa: SIM905
)
"""Words in the names of tools whose results are the output of the agent's own programs."""

_part = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


@lru_cache(maxsize=1024)
def runs_code(tool: str) -> bool:
    """Whether a tool runs what the agent writes."""
    return not RUNS_CODE.isdisjoint(word.lower() for word in _part.findall(tool))
