"""The same command again and again, numbers and blanks aside.

`loop` has the tool as its subject and quotes the last of the commands. Polling a slow program looks the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from blade.evidence.signs.view import View, sign
from blade.model.finding import Sign

FEWEST = 6
"""Near-equal commands that are a loop: in the runs that were read, passes come to five at most."""
SHARE = 0.4
"""Of all calls of the rollout: a long rollout runs its tests often without being stuck."""
LONGEST = 300
"""Characters of a command that are compared: what differs far behind is the content of a file."""
_varies = re.compile(r"\d+|\s+|\b[0-9a-f]{8,}\b")
_waits = re.compile(r"\bsleep\b|\bwait\b|shell_id|bash_id|task_id|output_id|\btail -", re.IGNORECASE)


def loops(view: View) -> Iterator[Sign]:
    """The command that most calls of a rollout repeat."""
    if view.passed or view.features.calls < FEWEST:
        return
    calls = [call for call in view.calls if "todo" not in (call.tool or "").lower()]
    counts = Counter((call.tool or "", _varies.sub(" ", (call.arguments or "")[:LONGEST])) for call in calls)
    (key, times), *_ = counts.most_common(1) or [(("", ""), 0)]
    if times < FEWEST or times < SHARE * len(calls) or _waits.search(key[1]) or _waits.search(key[0]):
        return
    last = next(
        call for call in reversed(calls) if (call.tool or "", _varies.sub(" ", (call.arguments or "")[:LONGEST])) == key
    )
    yield sign("loop", last.tool or "", last.arguments or "", "arguments", last.index)
