"""Regular expressions that are compiled when they are first used, and the words of small numbers to build them from.

Most commands use few of the expressions that they load.
"""

from __future__ import annotations

import re
from typing import Any, cast

NUMBER_WORDS = tuple(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty""".split()  # noqa: SIM905
)
"""From zero: the place of a word is its value."""


def pattern_of(text: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, to be asked in the same way; a text that is no pattern raises at its first use."""
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # What was asked for once stands in the object itself, and is found there without this call.
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found
