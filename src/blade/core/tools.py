"""Which tools change something, told from their names."""

from __future__ import annotations

import re
from functools import lru_cache

_READING = re.compile(
    r"""(?:^|[._/])(?:
        get|list|search|find|look_?up|read|view|show|describe|count|check|fetch|query|retrieve|inspect|browse|
        calculate|compute|think|note|plan|verify|validate|is|has|open|select|summari[sz]e|analy[sz]e|
        transfer_to_human(?:_agents?)?|finish|done|submit_answer|respond
    )(?:_|$|[A-Z])""",
    re.VERBOSE,
)
_READING_PART = re.compile(r"_(?:get|list|search|find|lookup|read|view|fetch|query|retrieve)_")


@lru_cache(maxsize=4096)
def changes_state(tool: str) -> bool:
    """Whether a tool is taken to change something: its name does not say that it only reads."""
    return _READING.search(tool) is None and _READING_PART.search(tool) is None
