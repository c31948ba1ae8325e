"""Project management: tasks on boards."""

from __future__ import annotations

from blade_gym.environment import ToolError

from ..company import BOARDS, LISTS
from ..state import State
from .toolbox import Given, Output, Tool, a_day, an_address, found, text

CHANGEABLE = ("task_name", "assigned_to_email", "list_name", "due_date", "board")
MOST = 50
"""Tasks that a search shows."""
FIELDS = ("task_id", *CHANGEABLE)
_AMONG = {"list_name": LISTS, "board": BOARDS}


def _information(state: State, given: Given) -> Output:
    return {given["field"]: found(state, "tasks", given["task_id"], "task")[given["field"]]}


def _search(state: State, given: Given) -> Output:
    wanted = {name: value.lower() for name, value in given.items() if value}
    if not wanted:
        raise ToolError("Error: give at least one thing to search by.")
    records = [
        dict(one)
        for one in state.tables["tasks"].values()
        if all(
            value in str(one[name]).lower() if name == "task_name" else str(one[name]).lower() == value
            for name, value in wanted.items()
        )
    ]
    return {"tasks": records[:MOST], "total_tasks": len(records)} if records else "No tasks found."


def _checked(field: str, value: str) -> str:
    if field == "due_date":
        return a_day(value, field)
    if field == "assigned_to_email":
        return an_address(value, field)
    if field in _AMONG and value not in _AMONG[field]:
        raise ToolError(f"Error: {field} must be one of: {', '.join(_AMONG[field])}.")
    return value


def _create(state: State, given: Given) -> Output:
    return state.add("tasks", {name: _checked(name, given[name]) for name in CHANGEABLE})


def _delete(state: State, given: Given) -> Output:
    found(state, "tasks", given["task_id"], "task")
    del state.tables["tasks"][given["task_id"]]
    return "The task was deleted."


def _update(state: State, given: Given) -> Output:
    record = found(state, "tasks", given["task_id"], "task")
    record[given["field"]] = _checked(given["field"], given["new_value"])
    return "The task was changed."


_ID = text("The task's ID of eight digits.")

TOOLS = (
    Tool(
        name="project_management_get_task_information_by_id",
        description="Returns one field of a task.",
        parameters={"task_id": _ID, "field": text("Which field.", FIELDS)},
        required=("task_id", "field"),
        run=_information,
    ),
    Tool(
        name="project_management_search_tasks",
        description=f"Finds tasks that fit everything that is given; shows {MOST} at most.",
        parameters={
            "task_name": text("Words in the task's name."),
            "assigned_to_email": text("E-mail address of the person it is assigned to, in full."),
            "list_name": text("List that it is in."),
            "due_date": text("Day on which it is due, YYYY-MM-DD."),
            "board": text("Board that it is on."),
        },
        required=(),
        run=_search,
    ),
    Tool(
        name="project_management_create_task",
        description="Creates a task and returns its ID.",
        parameters={
            "task_name": text("Name of the task."),
            "assigned_to_email": text("E-mail address of the person it is assigned to."),
            "list_name": text("List that it goes to.", LISTS),
            "due_date": text("Day on which it is due, YYYY-MM-DD."),
            "board": text("Board that it goes to.", BOARDS),
        },
        required=CHANGEABLE,
        run=_create,
        changes=True,
    ),
    Tool(
        name="project_management_delete_task",
        description="Deletes a task.",
        parameters={"task_id": _ID},
        required=("task_id",),
        run=_delete,
        changes=True,
    ),
    Tool(
        name="project_management_update_task",
        description="Changes one field of a task.",
        parameters={"task_id": _ID, "field": text("Which field.", CHANGEABLE), "new_value": text("What it becomes.")},
        required=("task_id", "field", "new_value"),
        run=_update,
        changes=True,
    ),
)
