"""The company directory: names to e-mail addresses."""

from __future__ import annotations

from blade_gym.environment import ToolError

from ..state import State
from .toolbox import Given, Output, Tool, text


def _find(state: State, given: Given) -> Output:
    words = str(given.get("name", "")).lower().split()
    if not words:
        raise ToolError("Error: name is empty.")
    found = [address for address in state.people if all(word in address.partition("@")[0] for word in words)]
    return found or "No e-mail address found."


TOOLS = (
    Tool(
        name="company_directory_find_email_address",
        description="Looks up colleagues by name and returns every e-mail address that fits, in any case of letters.",
        parameters={"name": text("First name, last name, or both.")},
        required=("name",),
        run=_find,
    ),
)
