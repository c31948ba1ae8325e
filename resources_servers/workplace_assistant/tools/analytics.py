"""Visits of the company's site: counts, averages and plots."""

from __future__ import annotations

from blade_gym.environment import ToolError

from ..company import SOURCES
from ..state import Record, State
from .toolbox import Given, Output, Tool, a_day, text

VALUES = (
    "total_visits",
    "session_duration_seconds",
    "user_engaged",
    *(f"visits_{name.replace(' ', '_')}" for name in SOURCES),
)
PLOTS = ("bar", "line", "scatter", "histogram")


def _visitor(state: State, given: Given) -> Output:
    records = [dict(one) for one in state.visits if one["visitor_id"] == given["visitor_id"]]
    if not records:
        raise ToolError(f"Error: there is no visitor with the ID {given['visitor_id'][:40]!r}.")
    return {"visits": records}


def _between(state: State, given: Given) -> list[Record]:
    first = a_day(given["time_min"], "time_min") if given.get("time_min") else ""
    last = a_day(given["time_max"], "time_max") if given.get("time_max") else "9999"
    return [one for one in state.visits if first <= str(one["date_of_visit"]) <= last]


def _total(state: State, given: Given) -> Output:
    return len(_between(state, given))


def _engaged(state: State, given: Given) -> Output:
    return sum(bool(one["user_engaged"]) for one in _between(state, given))


def _by_source(state: State, given: Given) -> Output:
    visits = _between(state, given)
    wanted = given.get("traffic_source")
    return sum(one["traffic_source"] == wanted for one in visits) if wanted else len(visits)


def _average(state: State, given: Given) -> Output:
    visits = _between(state, given)
    if not visits:
        return "No visits found."
    return round(sum(int(one["session_duration_seconds"]) for one in visits) / len(visits), 2)


def _plot(state: State, given: Given) -> Output:
    first, last = a_day(given["time_min"], "time_min"), a_day(given["time_max"], "time_max")
    if last < first:
        raise ToolError("Error: time_max lies before time_min.")
    path = f"plots/{first}_{last}_{given['value_to_plot']}_{given['plot_type']}.png"
    state.add("plots", {"path": path})
    return path


_SPAN = {
    "time_min": text("First day, YYYY-MM-DD; that day counts."),
    "time_max": text("Last day, YYYY-MM-DD; that day counts."),
}

TOOLS = (
    Tool(
        name="analytics_get_visitor_information_by_id",
        description="Returns the visits of one visitor.",
        parameters={"visitor_id": text("ID of the visitor.")},
        required=("visitor_id",),
        run=_visitor,
    ),
    Tool(
        name="analytics_create_plot",
        description="Draws a plot of a value over a span of days and returns its path.",
        parameters={**_SPAN, "value_to_plot": text("What is drawn.", VALUES), "plot_type": text("How.", PLOTS)},
        required=("time_min", "time_max", "value_to_plot", "plot_type"),
        run=_plot,
        changes=True,
    ),
    Tool(
        name="analytics_total_visits_count",
        description="Counts the visits in a span of days.",
        parameters=_SPAN,
        required=(),
        run=_total,
    ),
    Tool(
        name="analytics_engaged_users_count",
        description="Counts the visits in a span of days in which the visitor was engaged.",
        parameters=_SPAN,
        required=(),
        run=_engaged,
    ),
    Tool(
        name="analytics_traffic_source_count",
        description="Counts the visits in a span of days that came from one source.",
        parameters={**_SPAN, "traffic_source": text("Where the visits came from.", SOURCES)},
        required=(),
        run=_by_source,
    ),
    Tool(
        name="analytics_get_average_session_duration",
        description="Returns the mean length, in seconds, of the visits in a span of days.",
        parameters=_SPAN,
        required=(),
        run=_average,
    ),
)
