"""How each kind of task is put into words. Policies that are scripted read the same words back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache

from .company import NOW, TODAY

SYSTEM = (
    f"Today is {TODAY:%A}, {TODAY}, and the time is {NOW:%H:%M}. You act for the user with the tools that you have. "
    "Days that a request names count themselves. Meetings must not start before 9am or end after 6pm. "
    "Do what is asked without asking back, and nothing else."
)

WORDINGS: Mapping[str, tuple[str, ...]] = {
    "crm_reassign": (
        (
            "{new} is taking over all of {old}'s customers in the {status} stage that are interested in {product}. "
            "Please reassign them in the CRM."
        ),
        "Please hand {old}'s {product} customers in the {status} stage over to {new} in the CRM.",
    ),
    "crm_stale": (
        "Move every {product} customer in the Proposal stage whose last contact was {weeks} weeks ago or longer to Lost.",
        "In the CRM, set all {product} proposals without any contact for {weeks} weeks or longer to Lost.",
    ),
    "crm_follow_up": (
        (
            "Some of {owner}'s follow-ups move: every customer of {owner_again} whose follow-up is due from {first} to {last} "
            "should be followed up by {day} instead."
        ),
        "Set the follow-up of all customers of {owner} that is due from {first} to {last} to {day}.",
    ),
    "crm_delete": (
        "We no longer keep {owner}'s customers that are Lost and interested in {product}. Please delete them from the CRM.",
        "Delete all Lost {product} customers of {owner} from the CRM.",
    ),
    "crm_add": (
        "Add {customer} as a new Lead for {product} in the CRM and assign them to {owner}.",
        "{owner} has a new Lead for {product}: {customer}. Please add them to the CRM.",
    ),
    "calendar_cancel": (
        "Cancel all my meetings with {person} from {first} to {last}.",
        "{person} is away from {first} to {last}. Please cancel our meetings in that time.",
    ),
    "calendar_rename": (
        "Change the name of my {which} event on {day} to '{name}'.",
        "Please rename the {which} event on {day}: it is now called '{name}'.",
    ),
    "calendar_book": (
        "Book a {minutes}-minute meeting called '{name}' with {person} on {day} at {hour}:00.",
        "Please put '{name}' with {person} into my calendar for {day} at {hour}:00, {minutes} minutes.",
    ),
    "email_clean": (
        "Delete all e-mails from {person} that arrived from {first} to {last}.",
        "I don't need what {person} sent me from {first} to {last}. Please delete those e-mails.",
    ),
    "email_forward": (
        "Forward the last e-mail from {person} about '{subject}' to {other}.",
        "Please pass {person}'s latest e-mail about '{subject}' on to {other}.",
    ),
    "email_reply": (
        "Reply to the last e-mail from {person} about '{subject}' with '{body}'",
        "Answer {person}'s latest e-mail about '{subject}' with '{body}'",
    ),
    "email_everyone": (
        "Write to everyone I meet on {day}, once each, with the subject '{subject}' and the text '{body}'",
        "Everyone I have a meeting with on {day} should get one e-mail with the subject '{subject}' and the text '{body}'",
    ),
    "project_reassign": (
        "Give {old}'s tasks that are {list_name} on the {board} board to {new}.",
        "{new} takes over {old}'s {list_name} tasks on the {board} board. Please reassign them.",
    ),
    "project_create": (
        "Create a task called '{name}' for {person} on the {board} board, due on {day}, in the Backlog.",
        "Please put '{name}' into the Backlog of the {board} board for {person}, due on {day}.",
    ),
    "project_clear": (
        "Delete {person}'s Completed tasks on the {board} board.",
        "The {board} board is full: please remove what {person} has Completed there.",
    ),
    "analytics_plot": (
        "Make a {plot} plot of {value} from {first} to {last}.",
        "I need {value} from {first} to {last} as a {plot} plot.",
    ),
    "analytics_alert": (
        (
            "If more than {limit} visits came from {source} from {first} to {last}, write to {person} with the subject '{subject}' "
            "and the text '{body}' Otherwise do nothing."
        ),
        (
            "Should there be more than {limit} visits from {source} in the days from {first} to {last}, send {person} an e-mail with "
            "the subject '{subject}' and the text '{body}' If there are not, leave it."
        ),
    ),
}
"""By kind: phrasings with the same holes."""

_HOLE = re.compile(r"\{(\w+)\}")


def day(value: date) -> str:
    """A day as people write it; the year is this one."""
    return f"{value:%B} {value.day}"


def read_day(words: str) -> date:
    """The day that was written."""
    month, number = words.split()
    months = [f"{date(TODAY.year, place, 1):%B}" for place in range(1, 13)]
    return date(TODAY.year, months.index(month) + 1, int(number))


def read(text: str) -> tuple[str, dict[str, str]] | None:
    """The kind of a task and what stands in its holes; None for words that are none of these."""
    for kind, wordings in WORDINGS.items():
        for wording in wordings:
            found = _pattern(wording).fullmatch(text.strip())
            if found is not None:
                return kind, found.groupdict()
    return None


@lru_cache(maxsize=256)
def _pattern(wording: str) -> re.Pattern[str]:
    pieces = _HOLE.split(wording)
    made = [f"(?P<{piece}>[^\n]{{1,200}}?)" if place % 2 else re.escape(piece) for place, piece in enumerate(pieces)]
    return re.compile("".join(made))
