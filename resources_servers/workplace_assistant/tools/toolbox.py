"""How a tool is made: a function over the state, with a schema that says what it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

import msgspec

from blade_gym.environment import ToolError

from ..state import Record, State

PAGE = 5
MOST_A_PAGE = 10
LONGEST_TEXT = 10_000
YEARS = (2000, 2099)
EMAIL = re.compile(r"[^@\s]{1,100}@[^@\s]{1,100}\.[^@\s.]{1,40}")

Output = str | list[str] | int | float | dict[str, Any]
Given = Mapping[str, Any]
Day = TypeVar("Day", bound=date)


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as the model sees it, and what it does."""

    name: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Callable[[State, Given], Output]
    changes: bool = False
    """Whether it changes the state."""

    def schema(self) -> dict[str, Any]:
        """In the form of the Responses API."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": {
                "type": "object",
                "properties": {name: dict(one) for name, one in self.parameters.items()},
                "required": list(self.required),
                "additionalProperties": False,
            },
            "strict": False,
        }

    def call(self, state: State, arguments: Given) -> Output:
        """What the tool answers; raises ToolError for arguments that it does not take."""
        unknown = [name for name in arguments if name not in self.parameters]
        if unknown:
            raise ToolError(f"Error: {self.name} has no argument {unknown[0]!r}.")
        missing = [name for name in self.required if arguments.get(name) in (None, "")]
        if missing:
            raise ToolError(f"Error: {self.name} needs {', '.join(missing)}.")
        given = {
            name: _typed(name, self.parameters[name], value) for name, value in arguments.items() if value is not None
        }
        return self.run(state, given)


def _typed(name: str, schema: Given, value: Any) -> Any:
    """A value as the schema wants it; a number may be written as text."""
    if schema["type"] == "integer":
        if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,9}", str(value)):
            raise ToolError(f"Error: {name} must be an integer.")
        return int(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ToolError(f"Error: {name} must be a text of at most {LONGEST_TEXT} characters.")
    if "enum" in schema and value not in schema["enum"]:
        raise ToolError(f"Error: {name} must be one of: {', '.join(schema['enum'])}.")
    return value


def text(description: str, among: Sequence[str] = ()) -> dict[str, Any]:
    """The schema of a text."""
    return {"type": "string", "description": description, **({"enum": list(among)} if among else {})}


def number(description: str) -> dict[str, Any]:
    """The schema of an integer."""
    return {"type": "integer", "description": description}


PAGING = {
    "page": number("Which page of the results, from 1."),
    "page_size": number(f"Results on a page: {PAGE} unless given, {MOST_A_PAGE} at most."),
}


def paged(records: Sequence[Record], given: Given, plural: str) -> Output:
    """A page of records with the counts that say how many there are."""
    page, size = given.get("page", 1), given.get("page_size", PAGE)
    if not 1 <= size <= MOST_A_PAGE:
        raise ToolError(f"Error: page_size must be from 1 to {MOST_A_PAGE}.")
    if page < 1:
        raise ToolError("Error: page must be 1 or more.")
    if not records:
        return f"No {plural} found."
    shown = [dict(record) for record in records[(page - 1) * size : page * size]]
    pages = -(-len(records) // size)
    pagination = {f"total_{plural}": len(records), "page": page, "page_size": size, "total_pages": pages}
    return {plural: shown, "pagination": pagination}


def found(state: State, table: str, key: str, what: str) -> Record:
    """The record of an id."""
    record = state.tables[table].get(key)
    if record is None:
        raise ToolError(f"Error: there is no {what} with the ID {key[:40]!r}.")
    return record


def a_day(value: str, name: str) -> str:
    """A date, checked."""
    try:
        found = date.fromisoformat(value)
    except ValueError:
        raise ToolError(f"Error: {name} must be a date in the form YYYY-MM-DD.") from None
    return _of_this_century(found, name).isoformat()


def a_time(value: str, name: str) -> str:
    """A time, checked."""
    try:
        found = datetime.strptime(value, "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007 - the company's own clock
    except ValueError:
        raise ToolError(f"Error: {name} must be a time in the form YYYY-MM-DD HH:MM:SS.") from None
    return str(_of_this_century(found, name))


def _of_this_century(when: Day, name: str) -> Day:
    if not YEARS[0] <= when.year <= YEARS[1]:
        raise ToolError(f"Error: {name} must lie in the years {YEARS[0]} to {YEARS[1]}.")
    return when


def an_address(value: str, name: str) -> str:
    """An e-mail address, checked by its form alone: mail goes to people outside, too."""
    if not EMAIL.fullmatch(value):
        raise ToolError(f"Error: {name} must be an e-mail address.")
    return value.lower()


def holds(record: Record, names: Sequence[str], query: str) -> bool:
    """Whether every word of a query stands in one of the fields."""
    words = query.lower().split()
    texts = " ".join(str(record[name]).lower() for name in names)
    return all(word in texts for word in words)
