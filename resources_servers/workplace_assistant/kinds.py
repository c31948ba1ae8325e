"""Kinds of tasks: what is asked for, and the calls that do it on the company as it stands."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

import msgspec

from . import company as made
from .company import TODAY, address, first_name
from .state import Record, State
from .tools.analytics import PLOTS
from .wording import day

Call = tuple[str, dict[str, str]]

FEWEST_CHANGES = 2
MOST_CHANGES = 5
"""Records that a task about several is about."""


class TaskDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What fills the holes of a wording, and the calls that are due."""

    holes: Mapping[str, str]
    calls: tuple[Call, ...]
    edge: bool = True
    """Whether a record lies on the very edge of the days that count; true where no days do."""


Kind = Callable[[random.Random, State], TaskDraft | None]

_CUSTOMER = "customer_relationship_manager_update_customer"


def _customers(state: State, **wanted: str) -> list[Record]:
    return [
        one for one in state.tables["customers"].values() if all(one[name] == value for name, value in wanted.items())
    ]


def _several(records: list[Record]) -> bool:
    return FEWEST_CHANGES <= len(records) <= MOST_CHANGES


def _two(draw: random.Random, people: tuple[str, ...]) -> tuple[str, str]:
    one, other = draw.sample(people, 2)
    return one, other


def crm_reassign(draw: random.Random, state: State) -> TaskDraft | None:
    """One colleague takes over customers of another."""
    old, new = _two(draw, made.SALES)
    status, product = draw.choice(made.STATUSES[:3]), draw.choice(made.PRODUCTS)
    hit = _customers(state, assigned_to_email=address(old), status=status, product_interest=product)
    calls = [(_CUSTOMER, _set("customer_id", one, "assigned_to_email", address(new))) for one in hit]
    holes = {"old": first_name(old), "new": first_name(new), "status": status, "product": product}
    return TaskDraft(holes=holes, calls=tuple(calls)) if _several(hit) else None


def _set(id_name: str, record: Record, field: str, value: str) -> dict[str, str]:
    return {id_name: str(record[id_name]), "field": field, "new_value": value}


def crm_stale(draw: random.Random, state: State) -> TaskDraft | None:
    """Proposals that nobody answered are given up."""
    product, weeks = draw.choice(made.PRODUCTS), draw.randint(3, 10)
    limit = str(TODAY - timedelta(weeks=weeks))
    proposals = _customers(state, status="Proposal", product_interest=product)
    hit = [one for one in proposals if str(one["last_contact_date"]) <= limit]
    calls = [(_CUSTOMER, _set("customer_id", one, "status", "Lost")) for one in hit]
    edge = any(one["last_contact_date"] == limit for one in hit)
    return (
        TaskDraft(holes={"product": product, "weeks": str(weeks)}, calls=tuple(calls), edge=edge)
        if _several(hit)
        else None
    )


def _span(draw: random.Random, days: list[str], longest: int) -> tuple[date, date] | None:
    """A span of days of which at least one end is a day of a record."""
    if not days:
        return None
    first = date.fromisoformat(draw.choice(sorted(days)))
    return first, first + timedelta(days=draw.randint(1, longest))


def _within(records: list[Record], field: str, span: tuple[date, date]) -> list[Record]:
    return [one for one in records if str(span[0]) <= str(one[field])[:10] <= str(span[1])]


def crm_follow_up(draw: random.Random, state: State) -> TaskDraft | None:
    """Follow-ups that fall in a span of days are put off."""
    owner = draw.choice(made.SALES)
    mine = _customers(state, assigned_to_email=address(owner))
    span = _span(draw, [str(one["follow_up_by"]) for one in mine], 12)
    hit = _within(mine, "follow_up_by", span) if span else []
    if span is None or not _several(hit):
        return None
    later = span[1] + timedelta(days=draw.randint(5, 20))
    calls = [(_CUSTOMER, _set("customer_id", one, "follow_up_by", str(later))) for one in hit]
    name = first_name(owner)
    holes = {"owner": name, "owner_again": name, "first": day(span[0]), "last": day(span[1]), "day": day(later)}
    return TaskDraft(holes=holes, calls=tuple(calls))


def crm_delete(draw: random.Random, state: State) -> TaskDraft | None:
    """Lost customers are removed."""
    owner, product = draw.choice(made.SALES), draw.choice(made.PRODUCTS)
    hit = _customers(state, assigned_to_email=address(owner), status="Lost", product_interest=product)
    tool = "customer_relationship_manager_delete_customer"
    calls = [(tool, {"customer_id": str(one["customer_id"])}) for one in hit]
    return (
        TaskDraft(holes={"owner": first_name(owner), "product": product}, calls=tuple(calls)) if _several(hit) else None
    )


def crm_add(draw: random.Random, state: State) -> TaskDraft | None:
    """A new lead."""
    owner, product = draw.choice(made.SALES), draw.choice(made.PRODUCTS)
    customer = (
        f"{draw.choice(('Wilma', 'Ansel', 'Tove', 'Rufus', 'Edda'))} {draw.choice(('Quist', 'Lund', 'Baer', 'Novak'))}"
    )
    call = (
        "customer_relationship_manager_add_customer",
        {"customer_name": customer, "assigned_to_email": address(owner), "status": "Lead", "product_interest": product},
    )
    return TaskDraft(holes={"customer": customer, "product": product, "owner": first_name(owner)}, calls=(call,))


def calendar_cancel(draw: random.Random, state: State) -> TaskDraft | None:
    """Meetings with somebody in a span of days are canceled."""
    person = draw.choice(made.PEOPLE)
    mine = [one for one in state.tables["events"].values() if one["participant_email"] == address(person)]
    span = _span(draw, [str(one["event_start"])[:10] for one in mine], 14)
    hit = _within(mine, "event_start", span) if span else []
    if span is None or not _several(hit):
        return None
    calls = [("calendar_delete_event", {"event_id": str(one["event_id"])}) for one in hit]
    holes = {"person": first_name(person), "first": day(span[0]), "last": day(span[1])}
    return TaskDraft(holes=holes, calls=tuple(calls))


def calendar_rename(draw: random.Random, state: State) -> TaskDraft | None:
    """The first or last event of a day gets another name."""
    when = TODAY + timedelta(days=draw.randint(1, 30))
    events = [one for one in state.tables["events"].values() if str(one["event_start"]).startswith(str(when))]
    if len(events) < 2:
        return None
    which = draw.choice(("first", "last"))
    in_order = sorted(events, key=lambda one: str(one["event_start"]))
    name = draw.choice(("Harbor plan", "Winter schedule", "Open questions", "Archive day", "Price round"))
    call = ("calendar_update_event", _set("event_id", in_order[0 if which == "first" else -1], "event_name", name))
    return TaskDraft(holes={"which": which, "day": day(when), "name": name}, calls=(call,))


def calendar_book(draw: random.Random, state: State) -> TaskDraft | None:
    """A new meeting."""
    person, when = draw.choice(made.PEOPLE), TODAY + timedelta(days=draw.randint(1, 30))
    minutes, hour = draw.choice(("30", "45", "60", "90")), draw.randint(9, 16)
    name = draw.choice(("Lighting test", "Catalog proof", "Supplier visit", "Trial run", "Map review"))
    arguments = {
        "event_name": name,
        "participant_email": address(person),
        "event_start": f"{when} {hour:02d}:00:00",
        "duration": minutes,
    }
    holes = {"minutes": minutes, "name": name, "person": first_name(person), "day": day(when), "hour": f"{hour:02d}"}
    return TaskDraft(holes=holes, calls=(("calendar_create_event", arguments),))


def _received(state: State, person: str) -> list[Record]:
    """What a colleague sent, oldest first; what went to them does not count."""
    mails = state.tables["emails"].values()
    return [one for one in mails if one["sender/recipient"] == address(person) and one["inbox/outbox"] == "inbox"]


def email_clean(draw: random.Random, state: State) -> TaskDraft | None:
    """E-mails of somebody in a span of days are deleted."""
    person = draw.choice(made.PEOPLE)
    mine = _received(state, person)
    span = _span(draw, [str(one["sent_datetime"])[:10] for one in mine], 12)
    hit = _within(mine, "sent_datetime", span) if span else []
    if span is None or not _several(hit) or span[1] >= TODAY:
        return None
    calls = [("email_delete_email", {"email_id": str(one["email_id"])}) for one in hit]
    holes = {"person": first_name(person), "first": day(span[0]), "last": day(span[1])}
    return TaskDraft(holes=holes, calls=tuple(calls))


def _last_about(draw: random.Random, state: State) -> tuple[str, Record] | None:
    """A colleague, and the last e-mail of theirs about something that they wrote about more than once."""
    person = draw.choice(made.PEOPLE)
    mine = _received(state, person)
    subjects = [str(one["subject"]) for one in mine]
    twice = sorted({one for one in subjects if subjects.count(one) > 1})
    if not twice:
        return None
    subject = draw.choice(twice)
    return person, [one for one in mine if one["subject"] == subject][-1]


def email_forward(draw: random.Random, state: State) -> TaskDraft | None:
    """The last e-mail about something goes to somebody else."""
    last = _last_about(draw, state)
    other = draw.choice(made.PEOPLE)
    if last is None or last[0] == other:
        return None
    call = ("email_forward_email", {"email_id": str(last[1]["email_id"]), "recipient": address(other)})
    holes = {"person": first_name(last[0]), "subject": str(last[1]["subject"]), "other": first_name(other)}
    return TaskDraft(holes=holes, calls=(call,))


def email_reply(draw: random.Random, state: State) -> TaskDraft | None:
    """The last e-mail about something is answered."""
    last = _last_about(draw, state)
    if last is None:
        return None
    body = draw.choice(
        ("Thanks, I will look at it on Monday.", "Agreed, please go ahead.", "Let us decide this in the team.")
    )
    call = ("email_reply_email", {"email_id": str(last[1]["email_id"]), "body": body})
    holes = {"person": first_name(last[0]), "subject": str(last[1]["subject"]), "body": body}
    return TaskDraft(holes=holes, calls=(call,))


def email_everyone(draw: random.Random, state: State) -> TaskDraft | None:
    """Everyone with a meeting on a day gets one e-mail."""
    when = TODAY + timedelta(days=draw.randint(1, 30))
    events = [one for one in state.tables["events"].values() if str(one["event_start"]).startswith(str(when))]
    people = sorted({str(one["participant_email"]) for one in events})
    if not 2 <= len(people) <= MOST_CHANGES:
        return None
    subject, body = draw.choice(
        (("Running late", "I will be ten minutes late that day."), ("Room change", "We meet in the library that day."))
    )
    calls = [("email_send_email", {"recipient": one, "subject": subject, "body": body}) for one in people]
    return TaskDraft(holes={"day": day(when), "subject": subject, "body": body}, calls=tuple(calls))


def _tasks(state: State, **wanted: str) -> list[Record]:
    return [one for one in state.tables["tasks"].values() if all(one[name] == value for name, value in wanted.items())]


def project_reassign(draw: random.Random, state: State) -> TaskDraft | None:
    """Tasks go from one colleague to another."""
    old, new = _two(draw, made.BUILDERS)
    name, board = draw.choice(made.LISTS[:3]), draw.choice(made.BOARDS)
    hit = _tasks(state, assigned_to_email=address(old), list_name=name, board=board)
    tool = "project_management_update_task"
    calls = [(tool, _set("task_id", one, "assigned_to_email", address(new))) for one in hit]
    holes = {"old": first_name(old), "new": first_name(new), "list_name": name, "board": board}
    return TaskDraft(holes=holes, calls=tuple(calls)) if _several(hit) else None


def project_create(draw: random.Random, state: State) -> TaskDraft | None:
    """A new task."""
    person, board = draw.choice(made.BUILDERS), draw.choice(made.BOARDS)
    name = draw.choice(("Check the contrast", "Drop the unused table", "Draw the empty state", "Log slow requests"))
    when = TODAY + timedelta(days=draw.randint(3, 30))
    arguments: dict[str, str] = {
        "task_name": name,
        "assigned_to_email": address(person),
        "list_name": "Backlog",
        "due_date": str(when),
        "board": board,
    }
    holes = {"name": name, "person": first_name(person), "board": board, "day": day(when)}
    return TaskDraft(holes=holes, calls=(("project_management_create_task", arguments),))


def project_clear(draw: random.Random, state: State) -> TaskDraft | None:
    """Completed tasks are removed."""
    person, board = draw.choice(made.BUILDERS), draw.choice(made.BOARDS)
    hit = _tasks(state, assigned_to_email=address(person), list_name="Completed", board=board)
    calls = [("project_management_delete_task", {"task_id": str(one["task_id"])}) for one in hit]
    return (
        TaskDraft(holes={"person": first_name(person), "board": board}, calls=tuple(calls)) if _several(hit) else None
    )


VALUES = {
    "total visits": "total_visits",
    "session duration": "session_duration_seconds",
    "engaged users": "user_engaged",
    "direct visits": "visits_direct",
    "referral visits": "visits_referral",
}
"""What people call the values that can be drawn."""


def analytics_plot(draw: random.Random, state: State) -> TaskDraft | None:
    """A plot of some days."""
    first = TODAY - timedelta(days=draw.randint(15, 50))
    last = first + timedelta(days=draw.randint(5, 14))
    said, plot = draw.choice(sorted(VALUES)), draw.choice(PLOTS)
    arguments = {"time_min": str(first), "time_max": str(last), "value_to_plot": VALUES[said], "plot_type": plot}
    holes = {"plot": plot, "value": said, "first": day(first), "last": day(last)}
    return TaskDraft(holes=holes, calls=(("analytics_create_plot", arguments),))


def analytics_alert(draw: random.Random, state: State) -> TaskDraft | None:
    """Somebody is told if there were many visits; in half of these tasks there were not."""
    first = TODAY - timedelta(days=draw.randint(15, 50))
    last = first + timedelta(days=draw.randint(5, 14))
    source, person = draw.choice(made.SOURCES), draw.choice(made.PEOPLE)
    days = (str(first), str(last))
    visits = sum(one["traffic_source"] == source and days[0] <= one["date_of_visit"] <= days[1] for one in state.visits)
    above = draw.random() < 0.5
    limit = visits - draw.randint(1, 3) if above else visits + draw.randint(0, 3)
    subject, body = "Visits", "Please have a look at the visits of these days."
    call = ("email_send_email", {"recipient": address(person), "subject": subject, "body": body})
    holes: dict[str, Any] = {
        "limit": str(limit),
        "source": source,
        "first": day(first),
        "last": day(last),
        "person": first_name(person),
        "subject": subject,
        "body": body,
    }
    return TaskDraft(holes=holes, calls=(call,) if above else ()) if limit > 0 else None


KINDS: Mapping[str, Kind] = {
    kind.__name__: kind
    for kind in (
        crm_reassign,
        crm_stale,
        crm_follow_up,
        crm_delete,
        crm_add,
        calendar_cancel,
        calendar_rename,
        calendar_book,
        email_clean,
        email_forward,
        email_reply,
        email_everyone,
        project_reassign,
        project_create,
        project_clear,
        analytics_plot,
        analytics_alert,
    )
}
