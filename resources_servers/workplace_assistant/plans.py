"""What a task of the workplace asks for, as steps: whom to look up, what to search, what to do with what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import msgspec

from blade_gym.models.scripted import Call

from .company import TODAY
from .kinds import VALUES
from .wording import read, read_day

Holes = Mapping[str, str]
Addresses = Mapping[str, str]
Found = list[dict[str, Any]]

CRM = "customer_relationship_manager_search_customers"
CALENDAR = "calendar_search_events"
MAIL = "email_search_emails"
PROJECTS = "project_management_search_tasks"
VISITS = "analytics_traffic_source_count"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Steps of a task. Addresses of people are filled in when they are known."""

    people: tuple[str, ...] = ()
    """Names whose addresses the task needs."""
    tool: str | None = None
    """What is searched with; None where nothing has to be."""
    by: Callable[[Addresses], dict[str, Any]] = lambda known: {}
    """What is searched for, the days aside."""
    days: Mapping[str, str] | None = None
    """The days that count, as arguments of the search."""
    day_field: str = ""
    """Where a record holds its day."""
    keep: Callable[[dict[str, Any]], bool] = lambda record: True
    """What the search cannot tell apart."""
    act: Callable[[Addresses, Found], list[Call]] = lambda known, found: []


def plan_of(text: str) -> Plan | None:
    """The plan for a task in its known words; None for anything else."""
    found = read(text)
    return PLANS[found[0]](found[1]) if found is not None else None


def _change(tool: str, id_name: str, field: str, value: str, record: Mapping[str, Any]) -> Call:
    return tool, {id_name: record[id_name], "field": field, "new_value": value}


def _customer(record: Mapping[str, Any], field: str, value: str) -> Call:
    return _change("customer_relationship_manager_update_customer", "customer_id", field, value, record)


def _crm_reassign(holes: Holes) -> Plan:
    old, new = holes["old"], holes["new"]
    return Plan(
        people=(old, new),
        tool=CRM,
        by=lambda known: {
            "assigned_to_email": known[old],
            "status": holes["status"],
            "product_interest": holes["product"],
        },
        act=lambda known, found: [_customer(one, "assigned_to_email", known[new]) for one in found],
    )


def _crm_stale(holes: Holes) -> Plan:
    return Plan(
        tool=CRM,
        by=lambda known: {"status": "Proposal", "product_interest": holes["product"]},
        days={"last_contact_date_max": str(TODAY - timedelta(weeks=int(holes["weeks"])))},
        day_field="last_contact_date",
        act=lambda known, found: [_customer(one, "status", "Lost") for one in found],
    )


def _crm_follow_up(holes: Holes) -> Plan:
    owner, later = holes["owner"], str(read_day(holes["day"]))
    return Plan(
        people=(owner,),
        tool=CRM,
        by=lambda known: {"assigned_to_email": known[owner]},
        days={"follow_up_by_min": str(read_day(holes["first"])), "follow_up_by_max": str(read_day(holes["last"]))},
        day_field="follow_up_by",
        act=lambda known, found: [_customer(one, "follow_up_by", later) for one in found],
    )


def _crm_delete(holes: Holes) -> Plan:
    owner, tool = holes["owner"], "customer_relationship_manager_delete_customer"
    return Plan(
        people=(owner,),
        tool=CRM,
        by=lambda known: {"assigned_to_email": known[owner], "status": "Lost", "product_interest": holes["product"]},
        act=lambda known, found: [(tool, {"customer_id": one["customer_id"]}) for one in found],
    )


def _crm_add(holes: Holes) -> Plan:
    def act(known: Addresses, found: Found) -> list[Call]:
        arguments = {
            "customer_name": holes["customer"],
            "assigned_to_email": known[holes["owner"]],
            "status": "Lead",
            "product_interest": holes["product"],
        }
        return [("customer_relationship_manager_add_customer", arguments)]

    return Plan(people=(holes["owner"],), act=act)


def _whole_days(first: str, last: str) -> dict[str, str]:
    return {"time_min": f"{read_day(first)} 00:00:00", "time_max": f"{read_day(last)} 23:59:59"}


def _calendar_cancel(holes: Holes) -> Plan:
    person = holes["person"]
    return Plan(
        people=(person,),
        tool=CALENDAR,
        by=lambda known: {"query": known[person]},
        days=_whole_days(holes["first"], holes["last"]),
        day_field="event_start",
        act=lambda known, found: [("calendar_delete_event", {"event_id": one["event_id"]}) for one in found],
    )


def _calendar_rename(holes: Holes) -> Plan:
    def act(known: Addresses, found: Found) -> list[Call]:
        chosen = found[:1] if holes["which"] == "first" else found[-1:]
        return [_change("calendar_update_event", "event_id", "event_name", holes["name"], one) for one in chosen]

    return Plan(tool=CALENDAR, days=_whole_days(holes["day"], holes["day"]), day_field="event_start", act=act)


def _calendar_book(holes: Holes) -> Plan:
    def act(known: Addresses, found: Found) -> list[Call]:
        arguments = {
            "event_name": holes["name"],
            "participant_email": known[holes["person"]],
            "event_start": f"{read_day(holes['day'])} {int(holes['hour']):02d}:00:00",
            "duration": holes["minutes"],
        }
        return [("calendar_create_event", arguments)]

    return Plan(people=(holes["person"],), act=act)


def _received(record: Mapping[str, Any]) -> bool:
    return record.get("inbox/outbox") == "inbox"


def _email_clean(holes: Holes) -> Plan:
    person = holes["person"]
    return Plan(
        people=(person,),
        tool=MAIL,
        by=lambda known: {"query": known[person]},
        days={"date_min": str(read_day(holes["first"])), "date_max": str(read_day(holes["last"]))},
        day_field="sent_datetime",
        keep=_received,
        act=lambda known, found: [("email_delete_email", {"email_id": one["email_id"]}) for one in found],
    )


def _about(holes: Holes) -> Callable[[Addresses], dict[str, Any]]:
    return lambda known: {"query": f"{known[holes['person']]} {holes['subject']}"}


def _email_forward(holes: Holes) -> Plan:
    other = holes["other"]
    return Plan(
        people=(holes["person"], other),
        tool=MAIL,
        by=_about(holes),
        keep=lambda one: _received(one) and one["subject"] == holes["subject"],
        act=lambda known, found: [
            ("email_forward_email", {"email_id": one["email_id"], "recipient": known[other]}) for one in found[:1]
        ],
    )


def _email_reply(holes: Holes) -> Plan:
    return Plan(
        people=(holes["person"],),
        tool=MAIL,
        by=_about(holes),
        keep=lambda one: _received(one) and one["subject"] == holes["subject"],
        act=lambda known, found: [
            ("email_reply_email", {"email_id": one["email_id"], "body": holes["body"]}) for one in found[:1]
        ],
    )


def _email_everyone(holes: Holes) -> Plan:
    def act(known: Addresses, found: Found) -> list[Call]:
        people = dict.fromkeys(str(one["participant_email"]) for one in found)
        message = {"subject": holes["subject"], "body": holes["body"]}
        return [("email_send_email", {"recipient": one, **message}) for one in people]

    return Plan(tool=CALENDAR, days=_whole_days(holes["day"], holes["day"]), day_field="event_start", act=act)


def _project_reassign(holes: Holes) -> Plan:
    old, new, tool = holes["old"], holes["new"], "project_management_update_task"
    return Plan(
        people=(old, new),
        tool=PROJECTS,
        by=lambda known: {
            "assigned_to_email": known[old],
            "list_name": holes["list_name"],
            "board": holes["board"],
        },
        act=lambda known, found: [_change(tool, "task_id", "assigned_to_email", known[new], one) for one in found],
    )


def _project_create(holes: Holes) -> Plan:
    def act(known: Addresses, found: Found) -> list[Call]:
        arguments = {
            "task_name": holes["name"],
            "assigned_to_email": known[holes["person"]],
            "list_name": "Backlog",
            "due_date": str(read_day(holes["day"])),
            "board": holes["board"],
        }
        return [("project_management_create_task", arguments)]

    return Plan(people=(holes["person"],), act=act)


def _project_clear(holes: Holes) -> Plan:
    person, tool = holes["person"], "project_management_delete_task"
    return Plan(
        people=(person,),
        tool=PROJECTS,
        by=lambda known: {"assigned_to_email": known[person], "list_name": "Completed", "board": holes["board"]},
        act=lambda known, found: [(tool, {"task_id": one["task_id"]}) for one in found],
    )


def _analytics_plot(holes: Holes) -> Plan:
    def act(known: Addresses, found: Found) -> list[Call]:
        days = {"time_min": str(read_day(holes["first"])), "time_max": str(read_day(holes["last"]))}
        return [
            ("analytics_create_plot", {**days, "value_to_plot": VALUES[holes["value"]], "plot_type": holes["plot"]})
        ]

    return Plan(act=act)


def _analytics_alert(holes: Holes) -> Plan:
    def act(known: Addresses, found: Found) -> list[Call]:
        if not found or int(found[0]["count"]) <= int(holes["limit"]):
            return []
        message = {"subject": holes["subject"], "body": holes["body"]}
        return [("email_send_email", {"recipient": known[holes["person"]], **message})]

    days = {"time_min": str(read_day(holes["first"])), "time_max": str(read_day(holes["last"]))}
    return Plan(
        people=(holes["person"],), tool=VISITS, by=lambda known: {**days, "traffic_source": holes["source"]}, act=act
    )


PLANS: Mapping[str, Callable[[Holes], Plan]] = {
    "crm_reassign": _crm_reassign,
    "crm_stale": _crm_stale,
    "crm_follow_up": _crm_follow_up,
    "crm_delete": _crm_delete,
    "crm_add": _crm_add,
    "calendar_cancel": _calendar_cancel,
    "calendar_rename": _calendar_rename,
    "calendar_book": _calendar_book,
    "email_clean": _email_clean,
    "email_forward": _email_forward,
    "email_reply": _email_reply,
    "email_everyone": _email_everyone,
    "project_reassign": _project_reassign,
    "project_create": _project_create,
    "project_clear": _project_clear,
    "analytics_plot": _analytics_plot,
    "analytics_alert": _analytics_alert,
}
"""By the kinds of `wording.py`."""
