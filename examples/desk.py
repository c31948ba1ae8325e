"""The simulated office of the desk-assistant example: a tiny database, and the tools that read and change it.

Every rollout gets a fresh `Office`. A tool returns a value; a refusal is `{"error": ...}` and changes nothing.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
Result = dict[str, Any]

OPENS, CLOSES = 9 * 60, 17 * 60 + 30
ROOMS = ("Alder", "Birch", "Cedar", "Dogwood")
PRIORITIES = ("low", "medium", "high", "urgent")


def address(name: str) -> str:
    return f"{name}@larch.example"


def _person(name: str, team: str, manager: str, desk: int) -> Record:
    full = " ".join(part.capitalize() for part in name.split("."))
    return {"name": full, "email": address(name), "team": team, "manager": address(manager), "desk": desk}


def _event(title: str, day: str, start: str, minutes: int, room: str, *people: str) -> Record:
    attendees = [address(name) for name in people]
    return {"title": title, "day": day, "start": start, "minutes": minutes, "room": room, "attendees": attendees}


def _mail(sender: str, subject: str, body: str) -> Record:
    return {"from": sender, "to": address("jo.reyes"), "subject": subject, "body": body, "folder": "inbox"}


def _ticket(title: str, team: str, priority: str, assignee: str | None, status: str = "open") -> Record:
    owner = address(assignee) if assignee else None
    return {"title": title, "team": team, "priority": priority, "assignee": owner, "status": status}


TABLES: dict[str, dict[str, Record]] = {
    "people": {
        "P01": _person("jo.reyes", "Operations", "bo.lindqvist", 3),
        "P02": _person("bo.lindqvist", "Operations", "bo.lindqvist", 1),
        "P03": _person("ada.novak", "Facilities", "bo.lindqvist", 14),
        "P04": _person("cem.yilmaz", "IT", "dina.okafor", 22),
        "P05": _person("dina.okafor", "IT", "bo.lindqvist", 21),
        "P06": _person("eli.marsh", "Design", "faye.tan", 31),
        "P07": _person("faye.tan", "Design", "bo.lindqvist", 30),
        "P08": _person("ivo.petrov", "Design", "faye.tan", 33),
        "P09": _person("gus.ferro", "Finance", "hana.sato", 41),
        "P10": _person("hana.sato", "Finance", "bo.lindqvist", 40),
        "P11": _person("iva.petrova", "Finance", "hana.sato", 43),
    },
    "events": {
        "E101": _event("Design review", "2026-03-03", "10:00", 60, "Birch", "eli.marsh", "faye.tan"),
        "E102": _event("Budget check-in", "2026-03-03", "14:00", 30, "Cedar", "jo.reyes", "gus.ferro"),
        "E103": _event("One-to-one Bo and Jo", "2026-03-04", "09:30", 30, "Cedar", "bo.lindqvist", "jo.reyes"),
        "E104": _event("IT change window", "2026-03-05", "16:00", 60, "Birch", "cem.yilmaz", "dina.okafor"),
        "E105": _event("Vendor call", "2026-03-05", "11:00", 45, "Alder", "jo.reyes", "ada.novak"),
        "E106": _event("Team lunch", "2026-03-06", "12:00", 60, "Alder", "jo.reyes", "ada.novak", "bo.lindqvist"),
        "E107": _event("Design stand-up", "2026-03-04", "10:00", 15, "Birch", "eli.marsh", "ivo.petrov"),
    },
    "mails": {
        "M201": _mail(address("gus.ferro"), "March invoice from Brightleaf", "Can you approve 480 for the plants?"),
        "M202": _mail(address("eli.marsh"), "New desk lamp", "Mine flickers. Who orders these?"),
        "M203": _mail("desk@parcel.example", "Parcel at reception", "One box for Facilities is waiting."),
        "M204": _mail(address("hana.sato"), "Quarter close timetable", "Books close on the 27th, reviews on the 30th."),
        "M205": _mail(address("dina.okafor"), "Password reset notice", "All passwords expire on Friday."),
        "M206": _mail(address("faye.tan"), "Offsite venue options", "The barn or the boathouse?"),
        "M207": _mail(address("ivo.petrov"), "Slides for Thursday", "First draft, twelve pages."),
        "M208": _mail("digest@coffee.example", "Weekly coffee digest", "Five beans to try this week."),
    },
    "tickets": {
        "T301": _ticket("Printer on floor 2 jams", "IT", "low", "cem.yilmaz"),
        "T302": _ticket("VPN drops every hour", "IT", "high", "dina.okafor"),
        "T303": _ticket("New badge for Iva", "Facilities", "low", "ada.novak", status="closed"),
        "T304": _ticket("Projector in Birch has no sound", "IT", "medium", None),
        "T305": _ticket("Badge reader at gate B offline", "Facilities", "medium", "cem.yilmaz"),
        "T306": _ticket("Replace chair at desk 14", "Facilities", "low", "ada.novak"),
        "T307": _ticket("Laptop battery swells", "IT", "medium", None),
    },
}


class ToolError(Exception):
    """A tool refuses; the message is what the agent is shown."""


class Office:
    """The state of one rollout. `call` is the only way in; `changes` counts the calls that changed something."""

    def __init__(self, down: str | None = None) -> None:
        self.tables = copy.deepcopy(TABLES)
        self.changes = 0
        self.errors = 0
        self.down = down  # name of a service that does not answer, for example "calendar"

    def call(self, tool: str, arguments: dict[str, Any]) -> Result:
        before = None if tool in READS else self.fingerprint()
        try:
            result = self._answer(tool, arguments)
        except ToolError as refusal:
            self.errors += 1
            return {"error": str(refusal)}
        self.changes += before is not None and self.fingerprint() != before
        return result

    def _answer(self, tool: str, arguments: dict[str, Any]) -> Result:
        if self.down and tool.startswith(self.down):
            raise ToolError(f"503 {self.down} service unavailable, try again later")
        return TOOLS[tool](self, **arguments)

    def fingerprint(self) -> str:
        """Digest of the state. The ids of records are left out, so the order of creation does not matter."""
        tables = {
            name: sorted(json.dumps(record, sort_keys=True) for record in table.values())
            for name, table in self.tables.items()
        }
        return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()[:16]

    def find(self, table: str, query: str) -> list[Record]:
        words = query.lower().split()
        rows = [{"id": key, **record} for key, record in self.tables[table].items()]
        return [row for row in rows if all(word in json.dumps(row).lower() for word in words)]

    def record(self, table: str, key: str) -> Record:
        if key not in self.tables[table]:
            raise ToolError(f"no such id: {key}")
        return self.tables[table][key]

    def add(self, table: str, record: Record) -> str:
        last = max(self.tables[table])
        key = f"{last[0]}{int(last[1:]) + 1}"
        self.tables[table][key] = record
        return key

    def know(self, email: str) -> str:
        if not any(person["email"] == email for person in self.tables["people"].values()):
            raise ToolError(f"unknown address: {email}")
        return email


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _check_slot(office: Office, day: str, start: str, minutes: int, room: str, moving: str | None = None) -> None:
    begins = _minutes(start)
    ends = begins + minutes
    if room not in ROOMS:
        raise ToolError(f"unknown room: {room}")
    if begins < OPENS or ends > CLOSES:
        raise ToolError("outside working hours 09:00-17:30")
    for key, event in office.tables["events"].items():
        if key == moving or (event["day"], event["room"]) != (day, room):
            continue
        taken = _minutes(event["start"])
        if begins < taken + event["minutes"] and taken < ends:
            raise ToolError(f"room {room} is taken on {day} at {event['start']} by {key} ({event['title']})")


def directory_find(office: Office, query: str) -> Result:
    return {"people": office.find("people", query)}


def calendar_search(office: Office, query: str) -> Result:
    return {"events": office.find("events", query)}


def calendar_create(
    office: Office, title: str, day: str, start: str, minutes: int, room: str, attendees: list[str]
) -> Result:
    _check_slot(office, day, start, minutes, room)
    people = sorted(office.know(email) for email in attendees)
    event = {"title": title, "day": day, "start": start, "minutes": minutes, "room": room, "attendees": people}
    return {"ok": True, "event_id": office.add("events", event)}


def calendar_move(office: Office, event_id: str, day: str, start: str) -> Result:
    event = office.record("events", event_id)
    _check_slot(office, day, start, event["minutes"], event["room"], moving=event_id)
    event.update(day=day, start=start)
    return {"ok": True, "event_id": event_id}


def calendar_cancel(office: Office, event_id: str) -> Result:
    office.record("events", event_id)
    del office.tables["events"][event_id]
    return {"ok": True, "event_id": event_id}


def mail_search(office: Office, query: str) -> Result:
    return {"mails": office.find("mails", query)}


def mail_send(office: Office, to: str, subject: str, body: str) -> Result:
    mail = {"from": address("jo.reyes"), "to": office.know(to), "subject": subject, "body": body, "folder": "sent"}
    return {"ok": True, "mail_id": office.add("mails", mail)}


def mail_forward(office: Office, mail_id: str, to: str) -> Result:
    original = office.record("mails", mail_id)
    return mail_send(office, to, f"Fwd: {original['subject']}", original["body"])


def mail_archive(office: Office, mail_id: str) -> Result:
    office.record("mails", mail_id)["folder"] = "archive"
    return {"ok": True, "mail_id": mail_id}


def ticket_search(office: Office, query: str) -> Result:
    return {"tickets": office.find("tickets", query)}


def ticket_create(office: Office, title: str, team: str, priority: str) -> Result:
    if priority not in PRIORITIES:
        raise ToolError(f"priority must be one of {', '.join(PRIORITIES)}")
    ticket = {"title": title, "team": team, "priority": priority, "assignee": None, "status": "open"}
    return {"ok": True, "ticket_id": office.add("tickets", ticket)}


def ticket_update(office: Office, ticket_id: str, field: str, value: str) -> Result:
    ticket = office.record("tickets", ticket_id)
    if ticket["status"] == "closed":
        raise ToolError(f"ticket {ticket_id} is closed and cannot be changed")
    if field not in ("status", "priority", "assignee"):
        raise ToolError(f"unknown field: {field}")
    if field == "priority" and value not in PRIORITIES:
        raise ToolError(f"priority must be one of {', '.join(PRIORITIES)}")
    ticket[field] = office.know(value) if field == "assignee" else value
    return {"ok": True, "ticket_id": ticket_id}


TOOLS: dict[str, Callable[..., Result]] = {
    tool.__name__: tool
    for tool in (
        directory_find,
        calendar_search,
        calendar_create,
        calendar_move,
        calendar_cancel,
        mail_search,
        mail_send,
        mail_forward,
        mail_archive,
        ticket_search,
        ticket_create,
        ticket_update,
    )
}
READS = ("directory_find", "calendar_search", "mail_search", "ticket_search")
ARGUMENT_TYPES: dict[str, Record] = {
    "minutes": {"type": "integer"},
    "attendees": {"type": "array", "items": {"type": "string"}},
}


def tool_schema(name: str) -> Record:
    """The function tool as the model is shown it, made from the signature."""
    code = TOOLS[name].__code__
    arguments = code.co_varnames[1 : code.co_argcount]
    properties = {argument: ARGUMENT_TYPES.get(argument, {"type": "string"}) for argument in arguments}
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"type": "function", "name": name, "parameters": parameters, "strict": False}
