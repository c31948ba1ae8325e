"""The 24 tasks of the desk-assistant example: what is asked, a plan that does it, and the ways to get it wrong.

A plan is a list of calls; the key of a task is those calls of the plan that change the office. A slip turns a plan
into the plan of an agent that makes one kind of mistake.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from desk import READS, Office, address


@dataclass(frozen=True, kw_only=True)
class Call:
    name: str
    arguments: dict[str, Any]

    @property
    def reads(self) -> bool:
        return self.name in READS


@dataclass(frozen=True, kw_only=True)
class Slip:
    """One way to fail a task. `kind` decides which models are prone to it."""

    kind: str
    at: int = 0  # the call of the plan that it is about
    change: dict[str, Any] = field(default_factory=dict)  # wrong arguments
    added: Call | None = None  # a change that nobody asked for
    says: str | None = None  # the last message, where it is not the one of success

    def spoil(self, plan: tuple[Call, ...]) -> tuple[Call, ...]:
        before, after = plan[: self.at], plan[self.at + 1 :]
        if self.kind == "wrong":
            return (*before, Call(name=plan[self.at].name, arguments=plan[self.at].arguments | self.change), *after)
        if self.kind == "skip":
            return (*before, *after)
        if self.kind == "extra":
            assert self.added is not None
            return (*plan, self.added)
        if self.kind == "loop":
            return (*before, *[plan[self.at]] * 4)
        if self.kind == "ask":
            return before
        assert self.kind == "ignore"
        return (*before, plan[self.at])


@dataclass(frozen=True, kw_only=True)
class Task:
    task_id: str
    difficulty: str
    request: str
    plan: tuple[Call, ...]
    slips: tuple[Slip, ...]
    says: str
    wrong_key: tuple[Call, ...] | None = None  # a key that does not match the request

    @property
    def category(self) -> str:
        return self.task_id.split("-")[0]

    @cached_property
    def key(self) -> tuple[Call, ...]:
        """The expected actions: the calls of the plan that change the office."""
        if self.wrong_key is not None:
            return self.wrong_key
        office, changing = Office(), []
        for call in self.plan:
            before = office.changes
            office.call(call.name, call.arguments)
            if office.changes > before:
                changing.append(call)
        return tuple(changing)


def do(name: str, **arguments: Any) -> Call:
    return Call(name=name, arguments=arguments)


def wrong(at: int, **change: Any) -> Slip:
    return Slip(kind="wrong", at=at, change=change)


def skip(at: int) -> Slip:
    """Leaves the call out, and still says that all is done."""
    return Slip(kind="skip", at=at)


def ignore(at: int) -> Slip:
    """Stops after the call, whose result is an error, and says that all is done."""
    return Slip(kind="ignore", at=at)


def extra(call: Call) -> Slip:
    return Slip(kind="extra", added=call)


def loop(at: int) -> Slip:
    """Makes one call four times and gives up."""
    return Slip(kind="loop", at=at, says="I keep getting the same result, so I could not finish this.")


def ask(at: int, question: str) -> Slip:
    """Asks instead of acting; nobody answers in this benchmark."""
    return Slip(kind="ask", at=at, says=question)


def person(query: str) -> Call:
    return do("directory_find", query=query)


def send(to: str, subject: str, body: str) -> Call:
    return do("mail_send", to=address(to), subject=subject, body=body)


def book(title: str, day: str, start: str, minutes: int, room: str, *people: str) -> Call:
    attendees = [address(name) for name in people]
    return do("calendar_create", title=title, day=day, start=start, minutes=minutes, room=room, attendees=attendees)


def move(event_id: str, day: str, start: str) -> Call:
    return do("calendar_move", event_id=event_id, day=day, start=start)


def update(ticket_id: str, field_name: str, value: str) -> Call:
    return do("ticket_update", ticket_id=ticket_id, field=field_name, value=value)


TUE, WED, THU, FRI = "2026-03-03", "2026-03-04", "2026-03-05", "2026-03-06"

CALENDAR = (
    Task(
        task_id="calendar-1",
        difficulty="easy",
        request="Move the Vendor call to 15:00 on the same day.",
        plan=(do("calendar_search", query="vendor call"), move("E105", THU, "15:00")),
        slips=(wrong(1, day=FRI), skip(1)),
        says="The Vendor call now starts at 15:00 on Thursday.",
    ),
    Task(
        task_id="calendar-2",
        difficulty="easy",
        request="Cancel the Team lunch.",
        plan=(do("calendar_search", query="team lunch"), do("calendar_cancel", event_id="E106")),
        slips=(skip(1), extra(send("bo.lindqvist", "Team lunch", "The Team lunch is cancelled."))),
        says="The Team lunch is cancelled.",
    ),
    Task(
        task_id="calendar-3",
        difficulty="medium",
        request="Book 30 minutes 'Lamp trial' with Eli on Wednesday at 10:00 in Birch, or in Dogwood if Birch is taken.",
        plan=(
            person("Eli"),
            book("Lamp trial", WED, "10:00", 30, "Birch", "eli.marsh"),
            book("Lamp trial", WED, "10:00", 30, "Dogwood", "eli.marsh"),
        ),
        slips=(ignore(1), wrong(2, room="Cedar", start="10:30"), extra(send("eli.marsh", "Lamp trial", "See you."))),
        says="'Lamp trial' with Eli is booked for Wednesday at 10:00.",
    ),
    Task(
        task_id="calendar-4",
        difficulty="hard",
        request="Move the Design review to Thursday 16:00. If the room is taken then, move it to Friday 09:00 instead.",
        plan=(do("calendar_search", query="design review"), move("E101", THU, "16:00"), move("E101", FRI, "09:00")),
        slips=(ignore(1), wrong(2, start="10:00"), loop(1)),
        says="The Design review has been moved.",
    ),
    Task(
        task_id="calendar-5",
        difficulty="hard",
        request="Right after Tuesday's Budget check-in, book 45 minutes 'Close prep' with Gus and Hana in the same room.",
        plan=(
            do("calendar_search", query="budget check-in"),
            person("Gus"),
            person("Hana"),
            book("Close prep", TUE, "14:30", 45, "Cedar", "gus.ferro", "hana.sato"),
        ),
        slips=(
            wrong(3, start="15:00"),
            wrong(3, attendees=[address("gus.ferro")]),
            ask(3, "Which start time would you like for 'Close prep'?"),
        ),
        says="'Close prep' is booked for Tuesday, right after the Budget check-in, in Cedar.",
    ),
    Task(
        task_id="calendar-6",
        difficulty="medium",
        request="If Birch is free on Thursday at 16:00, book 30 minutes 'Sound test' there. If not, leave the calendar as it is.",
        plan=(do("calendar_search", query="birch 2026-03-05"),),
        slips=(extra(book("Sound test", THU, "16:00", 30, "Dogwood", "jo.reyes")),),
        says="Birch is taken on Thursday at 16:00 by the IT change window.",
    ),
)

MAIL = (
    Task(
        task_id="mail-1",
        difficulty="easy",
        request="Forward the mail about the parcel to Ada.",
        plan=(
            do("mail_search", query="parcel"),
            person("Ada"),
            do("mail_forward", mail_id="M203", to=address("ada.novak")),
        ),
        slips=(wrong(2, to=address("bo.lindqvist")), extra(do("mail_archive", mail_id="M203"))),
        says="I forwarded the parcel notice to Ada.",
    ),
    Task(
        task_id="mail-2",
        difficulty="easy",
        request="Archive the coffee digest.",
        plan=(do("mail_search", query="coffee digest"), do("mail_archive", mail_id="M208")),
        slips=(skip(1), loop(0)),
        says="The coffee digest is archived.",
    ),
    Task(
        task_id="mail-3",
        difficulty="medium",
        request=(
            "Mail Gus with the subject 'Brightleaf invoice' and the text 'Approved, please pay by Friday.', "
            "then archive his mail about it."
        ),
        plan=(
            do("mail_search", query="brightleaf"),
            person("Gus"),
            send("gus.ferro", "Brightleaf invoice", "Approved, please pay by Friday."),
            do("mail_archive", mail_id="M201"),
        ),
        slips=(skip(3), wrong(2, body="Approved."), loop(0)),
        says="Gus has your approval, and his mail is archived.",
    ),
    Task(
        task_id="mail-4",
        difficulty="hard",
        request="Forward Hana's timetable to everybody else in Finance. Do not send it back to her.",
        plan=(
            do("mail_search", query="timetable"),
            person("Finance"),
            do("mail_forward", mail_id="M204", to=address("gus.ferro")),
            do("mail_forward", mail_id="M204", to=address("iva.petrova")),
        ),
        slips=(skip(3), extra(do("mail_forward", mail_id="M204", to=address("hana.sato"))), loop(1)),
        says="Everybody else in Finance has the timetable now.",
    ),
    Task(
        task_id="mail-5",
        difficulty="medium",
        request="Do I have a mail about an invoice, and who sent it? Only tell me.",
        plan=(do("mail_search", query="invoice"),),
        slips=(extra(do("mail_archive", mail_id="M201")),),
        says="Yes, one: Gus Ferro sent 'March invoice from Brightleaf'.",
    ),
    Task(
        task_id="mail-6",
        difficulty="hard",
        request="Mail each attendee of the Design review: subject 'Design review', text 'Please bring printed drafts.'",
        plan=(
            do("calendar_search", query="design review"),
            send("eli.marsh", "Design review", "Please bring printed drafts."),
            send("faye.tan", "Design review", "Please bring printed drafts."),
        ),
        slips=(skip(2), wrong(1, to=address("ivo.petrov")), extra(move("E101", TUE, "10:30"))),
        says="Both attendees have been told to bring printed drafts.",
    ),
)

DIRECTORY = (
    Task(
        task_id="directory-1",
        difficulty="easy",
        request="Mail Eli's manager: subject 'Desk lamp', text 'Eli needs a new lamp.'",
        plan=(person("Eli"), send("faye.tan", "Desk lamp", "Eli needs a new lamp.")),
        slips=(wrong(1, to=address("eli.marsh")),),
        says="I wrote to Faye, who is Eli's manager.",
    ),
    Task(
        task_id="directory-2",
        difficulty="easy",
        request="At which desk does Cem sit?",
        plan=(person("Cem"),),
        slips=(extra(do("ticket_create", title="Desk lookup: Cem", team="Facilities", priority="low")),),
        says="Cem Yilmaz sits at desk 22.",
    ),
    Task(
        task_id="directory-3",
        difficulty="medium",
        request="Mail Petrova in Finance: subject 'Badge', text 'Your badge is ready.'",
        plan=(person("Petrov"), send("iva.petrova", "Badge", "Your badge is ready.")),
        slips=(wrong(1, to=address("ivo.petrov")),),
        says="I told Petrova that the badge is ready.",
    ),
    Task(
        task_id="directory-4",
        difficulty="medium",
        request="Give the projector ticket to Cem's manager.",
        plan=(
            do("ticket_search", query="projector"),
            person("Cem"),
            update("T304", "assignee", address("dina.okafor")),
        ),
        slips=(wrong(2, value=address("cem.yilmaz")), extra(update("T304", "priority", "high"))),
        says="The projector ticket is now with Dina.",
    ),
    Task(
        task_id="directory-5",
        difficulty="hard",
        request="Book 30 minutes 'Budget exception' with my manager and Gus's manager on Friday at 15:00 in Alder.",
        plan=(
            person("Jo Reyes"),
            person("Gus"),
            book("Budget exception", FRI, "15:00", 30, "Alder", "bo.lindqvist", "hana.sato"),
        ),
        slips=(
            wrong(2, attendees=[address("bo.lindqvist"), address("gus.ferro")]),
            ask(1, "Who is your manager, please?"),
        ),
        says="'Budget exception' is booked for Friday at 15:00 in Alder.",
    ),
    Task(
        task_id="directory-6",
        difficulty="medium",
        request="Mail Ines Duarte: subject 'Keys', text 'Please return the spare keys.' If we have no such person, do nothing.",
        plan=(person("Ines Duarte"), person("Ines")),
        slips=(extra(send("iva.petrova", "Keys", "Please return the spare keys.")),),
        says="There is no Ines Duarte in the directory, so I sent nothing.",
    ),
)

TICKETS = (
    Task(
        task_id="tickets-1",
        difficulty="easy",
        request="Close the ticket about the printer.",
        plan=(do("ticket_search", query="printer"), update("T301", "status", "closed")),
        slips=(wrong(1, value="done"), skip(1)),
        says="The printer ticket is closed.",
    ),
    Task(
        task_id="tickets-2",
        difficulty="medium",
        request="Make the VPN ticket urgent and give it to Cem.",
        plan=(
            do("ticket_search", query="vpn"),
            person("Cem"),
            update("T302", "priority", "urgent"),
            update("T302", "assignee", address("cem.yilmaz")),
        ),
        slips=(skip(3), wrong(2, value="critical"), extra(send("cem.yilmaz", "VPN", "T302 is yours now."))),
        says="The VPN ticket is urgent and assigned to Cem.",
    ),
    Task(
        task_id="tickets-3",
        difficulty="hard",
        request=(
            "Reopen T303. If that cannot be done, file a new ticket 'New badge for Iva (again)' "
            "for Facilities with priority medium."
        ),
        plan=(
            do("ticket_search", query="T303"),
            update("T303", "status", "open"),
            do("ticket_create", title="New badge for Iva (again)", team="Facilities", priority="medium"),
        ),
        slips=(ignore(1), loop(1), wrong(2, priority="low")),
        says="Iva's badge ticket is open again.",
    ),
    Task(
        task_id="tickets-4",
        difficulty="medium",
        request="Give every open ticket that nobody has to Ada.",
        plan=(
            do("ticket_search", query="open null"),
            update("T304", "assignee", address("ada.novak")),
            update("T307", "assignee", address("ada.novak")),
        ),
        slips=(skip(2), extra(update("T301", "assignee", address("ada.novak")))),
        says="Ada has all the tickets that had no owner.",
    ),
    Task(
        task_id="tickets-5",
        difficulty="medium",
        request="Set the ticket about the badge reader at gate B to urgent.",
        plan=(do("ticket_search", query="badge reader"), update("T305", "priority", "urgent")),
        slips=(skip(1),),
        says="The badge reader ticket is urgent now.",
        wrong_key=(update("T305", "priority", "high"),),
    ),
    Task(
        task_id="tickets-6",
        difficulty="hard",
        request="Close every open ticket of Ada's, then mail her: subject 'Tickets', text 'T306 is done.'",
        plan=(
            do("ticket_search", query="ada.novak open"),
            update("T306", "status", "closed"),
            send("ada.novak", "Tickets", "T306 is done."),
        ),
        slips=(skip(2), ask(1, "Which of Ada's tickets shall I close?"), extra(update("T305", "status", "closed"))),
        says="Ada's open ticket is closed, and she knows.",
    ),
)

TASKS = (*CALENDAR, *MAIL, *DIRECTORY, *TICKETS)
