"""The same command again and again, numbers and blanks aside.

`loop` has the tool as its subject and quotes the last of the commands. Polling a slow program looks the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from blade.evidence.signs.view import RolloutView, runs_commands, sign
from blade.model.finding import Sign
from blade.model.rollout import Step

FEWEST = 6
"""Near-equal commands that are a loop: in the runs that were read, passes come to five at most."""
SHARE = 0.4
"""Of all calls of the rollout: a long rollout runs its tests often without being stuck."""
LONGEST = 300
"""Characters of a command that are compared: what differs far behind is the content of a file."""
_varies = re.compile(r"\d+|\s+|\b[0-9a-f]{8,}\b")
_waits = re.compile(r"\bsleep\b|\bwait\b|shell_id|bash_id|task_id|output_id|\btail -", re.IGNORECASE)


def loops(view: RolloutView) -> Iterator[Sign]:
    """The command that most calls of a rollout repeat."""
    if view.passed or view.features.calls < FEWEST:
        return
    calls = [call for call in view.calls if "todo" not in (call.tool or "").lower()]
    keys = list(map(_shape, calls))
    key, times = next(iter(Counter(keys).most_common(1)), (("", ""), 0))
    if times < FEWEST or times < SHARE * len(calls) or _waits.search(key[1]) or _waits.search(key[0]):
        return
    last = max(place for place, shape in enumerate(keys) if shape == key)
    yield sign("loop", key[0], calls[last].arguments or "", "arguments", calls[last].index)


def _shape(call: Step) -> tuple[str, str]:
    """What near-equal calls share; numbers count, save in commands: elsewhere they name another object."""
    arguments = (call.arguments or "")[:LONGEST]
    return call.tool or "", _varies.sub(" ", arguments) if runs_commands(call) else arguments
