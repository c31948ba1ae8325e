"""What a key of actions wants, in two words."""

from __future__ import annotations

from blade.ingest.expected import due_calls
from blade.model.tools import changes_state


def key_expects(actions: object, statements: object) -> str | None:
    """`nothing`, `information`, `one change` or `several changes`; None when the key is no list of calls."""
    calls = due_calls(actions)
    if calls is None:
        return None
    changes = sum(changes_state(call.tool) for call in calls)
    if changes == 0:
        return "information" if isinstance(statements, list) and statements else "nothing"
    return "one change" if changes == 1 else "several changes"
