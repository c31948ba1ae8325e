"""The calendar: search, read, create, change, delete."""

from __future__ import annotations

from datetime import datetime, timedelta

from blade_gym.environment import ToolError

from ..state import Record, State
from .toolbox import PAGING, Given, Output, Tool, a_time, an_address, found, holds, paged, text

CHANGEABLE = ("event_name", "participant_email", "event_start", "duration")
FIELDS = ("event_id", *CHANGEABLE)
LONGEST = 9 * 60
"""Minutes of an event: a working day."""


def _information(state: State, given: Given) -> Output:
    return {given["field"]: found(state, "events", given["event_id"], "event")[given["field"]]}


def _end(record: Record) -> str:
    start = datetime.fromisoformat(str(record["event_start"]))
    return str(start + timedelta(minutes=int(record["duration"])))


def _search(state: State, given: Given) -> Output:
    records = list(state.tables["events"].values())
    if given.get("query"):
        records = [one for one in records if holds(one, ("event_name", "participant_email"), given["query"])]
    if given.get("time_min"):
        first = a_time(given["time_min"], "time_min")
        records = [one for one in records if _end(one) >= first]
    if given.get("time_max"):
        last = a_time(given["time_max"], "time_max")
        records = [one for one in records if str(one["event_start"]) <= last]
    in_order = sorted(records, key=lambda one: (str(one["event_start"]), str(one["event_id"])))
    return paged(in_order, given, "events")


def _checked(field: str, value: str) -> str:
    if field == "event_start":
        return a_time(value, field)
    if field == "participant_email":
        return an_address(value, field)
    if field == "duration":
        if not value.isdecimal() or not 0 < int(value) <= LONGEST:
            raise ToolError(f"Error: duration must be minutes, from 1 to {LONGEST}.")
        return str(int(value))
    return value


def _create(state: State, given: Given) -> Output:
    return state.add("events", {name: _checked(name, given[name]) for name in CHANGEABLE})


def _delete(state: State, given: Given) -> Output:
    found(state, "events", given["event_id"], "event")
    del state.tables["events"][given["event_id"]]
    return "The event was deleted."


def _update(state: State, given: Given) -> Output:
    record = found(state, "events", given["event_id"], "event")
    record[given["field"]] = _checked(given["field"], given["new_value"])
    return "The event was changed."


_ID = text("The event's ID of eight digits.")

TOOLS = (
    Tool(
        name="calendar_get_event_information_by_id",
        description="Returns one field of an event.",
        parameters={"event_id": _ID, "field": text("Which field.", FIELDS)},
        required=("event_id", "field"),
        run=_information,
    ),
    Tool(
        name="calendar_search_events",
        description="Finds events, earliest first. Every word of the query must stand in the event's name or its participant's address.",
        parameters={
            "query": text("Words to look for."),
            "time_min": text("Events that end at this time or later, YYYY-MM-DD HH:MM:SS."),
            "time_max": text("Events that start at this time or earlier, YYYY-MM-DD HH:MM:SS."),
            **PAGING,
        },
        required=(),
        run=_search,
    ),
    Tool(
        name="calendar_create_event",
        description="Creates an event and returns its ID.",
        parameters={
            "event_name": text("Name of the event."),
            "participant_email": text("E-mail address of the participant."),
            "event_start": text("Start, YYYY-MM-DD HH:MM:SS."),
            "duration": text("Length in minutes."),
        },
        required=CHANGEABLE,
        run=_create,
        changes=True,
    ),
    Tool(
        name="calendar_delete_event",
        description="Deletes an event.",
        parameters={"event_id": _ID},
        required=("event_id",),
        run=_delete,
        changes=True,
    ),
    Tool(
        name="calendar_update_event",
        description="Changes one field of an event.",
        parameters={
            "event_id": _ID,
            "field": text("Which field.", CHANGEABLE),
            "new_value": text("What it becomes."),
        },
        required=("event_id", "field", "new_value"),
        run=_update,
        changes=True,
    ),
)
