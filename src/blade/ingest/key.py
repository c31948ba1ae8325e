"""What a key of actions wants, told from the names of its calls."""

from __future__ import annotations

import re

_READING = re.compile(
    r"""(?:^|[._/])(?:
        get|list|search|find|look_?up|read|view|show|describe|count|check|fetch|query|retrieve|inspect|browse|
        calculate|compute|think|note|plan|verify|validate|is|has|open|select|summari[sz]e|analy[sz]e|
        transfer_to_human(?:_agents?)?|finish|done|submit_answer|respond
    )(?:_|$|[A-Z])""",
    re.VERBOSE,
)
_READING_PART = re.compile(r"_(?:get|list|search|find|lookup|read|view|fetch|query|retrieve)_")


def changes_state(tool: str) -> bool:
    """Whether a tool is taken to change something: its name does not say that it only reads."""
    return _READING.search(tool) is None and _READING_PART.search(tool) is None


def key_expects(actions: object, statements: object) -> str | None:
    """`nothing`, `information`, `one change` or `several changes`; None when the key is no list of calls."""
    names = action_names(actions)
    if names is None:
        return None
    changes = sum(changes_state(name) for name in names)
    if changes == 0:
        return "information" if isinstance(statements, list) and statements else "nothing"
    return "one change" if changes == 1 else "several changes"


def action_names(actions: object) -> list[str] | None:
    """Names of the expected calls, in order; None when `actions` is no list of calls."""
    if isinstance(actions, dict):
        actions = [actions]
    if not isinstance(actions, list) or not all(isinstance(action, dict) for action in actions):
        return None
    if not all("name" in action or "function" in action for action in actions):
        return None
    return [_name(action) for action in actions]


def _name(action: dict[str, object]) -> str:
    function = action.get("function")
    inner = function.get("name") if isinstance(function, dict) else function
    return str(action.get("name") or inner or "")
