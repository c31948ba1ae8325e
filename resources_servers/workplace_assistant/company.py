"""The company, made anew from a seed: people, e-mails, events, visits of its site, tasks and customers. All of it is invented."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from .state import Record, State, Table

SEED = 7
DOMAIN = "fernhill.example"
TODAY = date(2025, 9, 18)
NOW = datetime.combine(TODAY, time(8, 0), tzinfo=None)
NAME = "Fernhill"

PEOPLE = (
    "Amara Nwosu", "Bruno Castell", "Chloe Iversen", "Dmitri Volkan", "Elif Aydin", "Farid Rahmani", "Greta Lindholm",
    "Hana Kobayashi", "Ines Duarte", "Ines Marchetti", "Joel Okonjo", "Katya Sorel", "Luca Bramante", "Mei Tanaka",
    "Noah Ferris", "Oksana Bilyk", "Priya Raman", "Quentin Abara", "Rosa Delgado", "Sven Halvorsen", "Tomas Vidal",
    "Uma Krishnan", "Viktor Anselm", "Yara Haddad",
)  # fmt: skip
"""Ines is there twice: a first name alone does not always name one person."""
SALES = PEOPLE[:9]
BUILDERS = PEOPLE[8:20]

STATUSES = ("Lead", "Qualified", "Proposal", "Won", "Lost")
PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")
LISTS = ("Backlog", "In Progress", "In Review", "Completed")
BOARDS = ("Back end", "Front end", "Design")
SOURCES = ("direct", "referral", "search engine", "social media")

_FIRST = (
    "Avery", "Blair", "Corin", "Devon", "Emlyn", "Finley", "Gale", "Harper", "Indra", "Jules", "Kit", "Lennox", "Marlow",
    "Nico", "Orla", "Perrin", "Quill", "Reese", "Sage", "Tate",
)  # fmt: skip
_LAST = (
    "Alder", "Birchall", "Calloway", "Dunmore", "Eastwick", "Farrow", "Greaves", "Hollis", "Ingram", "Jarrow", "Kestrel",
    "Larkin", "Merrow", "Norwood", "Oakes", "Pemberton", "Quarles", "Redfern", "Sedge", "Thorne",
)  # fmt: skip
_MEETINGS = (
    "Budget check", "Roadmap review", "Design critique", "Hiring sync", "Release planning", "Vendor call", "Team retrospective",
    "Customer feedback", "Security walk-through", "Quarterly outlook",
)  # fmt: skip
_SUBJECTS = (
    "Office move", "Invoice question", "Beta feedback", "Travel plans", "Contract draft", "Server migration", "Photo rights",
    "Workshop agenda", "Parking permits", "Year-end figures",
)  # fmt: skip
_WORK = (
    "Sketch the settings page", "Speed up the export", "Retire the old login", "Write the import guide", "Tidy the icon set",
    "Split the billing job", "Draft the onboarding tour", "Add audit entries", "Test the backup restore", "Rename the menu items",
    "Cache the price list", "Map the error pages",
)  # fmt: skip


def address(person: str) -> str:
    """The e-mail address of a colleague; not to be guessed from a first name."""
    return f"{person.lower().replace(' ', '.')}@{DOMAIN}"


def first_name(person: str) -> str:
    """How people call a colleague: by the first name where that is enough."""
    first = person.split(maxsplit=1)[0]
    return first if sum(other.split()[0] == first for other in PEOPLE) == 1 else person


@lru_cache(maxsize=8)
def company(seed: int = SEED) -> State:
    """The company of a seed, always the same. Copy it before you change anything."""
    draw = random.Random(f"company {seed}")
    return State(
        people=tuple(address(person) for person in PEOPLE),
        visits=tuple(_visits(draw)),
        tables={
            "emails": _emails(draw),
            "events": _events(draw),
            "tasks": _tasks(draw),
            "customers": _customers(draw),
            "plots": {},
        },
    )


def _numbered(records: Sequence[Record], name: str) -> Table:
    return {f"{number:08d}": {name: f"{number:08d}", **record} for number, record in enumerate(records)}


def _back(draw: random.Random, days: int) -> date:
    """A day in the past; full weeks back are common, so that a limit of weeks falls on records."""
    week = draw.random() < 0.4
    return TODAY - timedelta(days=7 * draw.randint(1, days // 7) if week else draw.randint(1, days))


def _emails(draw: random.Random) -> Table:
    records = [
        {
            "inbox/outbox": "inbox" if draw.random() < 0.8 else "outbox",
            "sender/recipient": address(draw.choice(PEOPLE)),
            "subject": draw.choice(_SUBJECTS),
            "sent_datetime": f"{_back(draw, 42)} {draw.randint(8, 17):02d}:{draw.randint(0, 59):02d}:00",
            "body": draw.choice(
                ("Could you have a look before Friday?", "Here is where we stand.", "Shall we talk it over next week?")
            ),
        }
        for _ in range(260)
    ]
    return _numbered(sorted(records, key=lambda one: str(one["sent_datetime"])), "email_id")


def _events(draw: random.Random) -> Table:
    days = [TODAY + timedelta(days=ahead) for ahead in range(1, 36)]
    working = [day for day in days if day.weekday() < 5]
    slots = sorted({(draw.choice(working), draw.randint(9, 16)) for _ in range(150)})
    records = [
        {
            "event_name": draw.choice(_MEETINGS),
            "participant_email": address(draw.choice(PEOPLE)),
            "event_start": f"{day} {hour:02d}:00:00",
            "duration": str(draw.choice((30, 60))),
        }
        for day, hour in slots
    ]
    return _numbered(records, "event_id")


def _tasks(draw: random.Random) -> Table:
    records = [
        {
            "task_name": draw.choice(_WORK),
            "assigned_to_email": address(draw.choice(BUILDERS)),
            "list_name": draw.choice(LISTS),
            "due_date": str(TODAY + timedelta(days=draw.randint(-20, 30))),
            "board": draw.choice(BOARDS),
        }
        for _ in range(360)
    ]
    return _numbered(records, "task_id")


def _customers(draw: random.Random) -> Table:
    names = draw.sample([f"{first} {last}" for first in _FIRST for last in _LAST], 400)
    records = [
        {
            "assigned_to_email": address(draw.choice(SALES)),
            "customer_name": name,
            "customer_email": f"{name.lower().replace(' ', '.')}@{draw.choice(('tidewater', 'millbrook', 'stonegate'))}.example",
            "customer_phone": f"555-01{draw.randint(0, 99):02d}",
            "last_contact_date": str(_back(draw, 84)),
            "product_interest": draw.choice(PRODUCTS),
            "status": draw.choice(STATUSES),
            "follow_up_by": str(TODAY + timedelta(days=draw.randint(-10, 40))),
            "notes": draw.choice(("Met at the fair.", "Asked for a price list.", "Prefers to be called.", "")),
        }
        for name in names
    ]
    return _numbered(records, "customer_id")


def _visits(draw: random.Random) -> list[Record]:
    return [
        {
            "visitor_id": f"{draw.randint(0, 9999):04d}",
            "date_of_visit": str(TODAY - timedelta(days=draw.randint(0, 60))),
            "page_views": draw.randint(1, 20),
            "session_duration_seconds": draw.randint(5, 900),
            "traffic_source": draw.choice(SOURCES),
            "user_engaged": draw.random() < 0.4,
        }
        for _ in range(600)
    ]
