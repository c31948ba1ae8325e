"""Scripted policies of the workplace: one without a bad habit, and some with one each.

The good one looks names up, lets the search filter, reads every page, acts on each, and mends errors.
It slips now and then, as its seed has it: it asks for too large a page and mends that, or leaves out the last of several
changes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from blade_gym.answers import message
from blade_gym.models.scripted import Call, Conversation, Exchange, ScriptedPolicy, read_conversation

from .company import DOMAIN
from .plans import VISITS, Addresses, Found, Plan, plan_of

DIRECTORY = "company_directory_find_email_address"
PAGE = 10
LARGE_PAGE = 50
ASKS_TOO_MUCH = 0.35
"""How often the first search asks for a page larger than the tool gives."""
LEAVES_ONE_OUT = 0.03
_PAGED = ("customers", "events", "emails")


class Mood(msgspec.Struct, frozen=True, kw_only=True):
    """What a seed decides about a rollout, before it begins."""

    page: int
    """Results that the first search asks for."""
    leaves_one_out: bool
    habit: float
    """From 0 to 1: whether a habit that is not always followed is followed this time."""
    care: float
    """From 0 to 1: whether it does harm this time."""

    @classmethod
    def drawn(cls, draw: random.Random) -> Mood:
        """The moods of a seed."""
        page = LARGE_PAGE if draw.random() < ASKS_TOO_MUCH else PAGE
        return cls(page=page, leaves_one_out=draw.random() < LEAVES_ONE_OUT, habit=draw.random(), care=draw.random())


class Assistant:
    """A scripted model. The same conversation and seed give the same response."""

    name: ClassVar[str] = "scripted/good"
    acts_by: ClassVar[str] = DIRECTORY
    """A tool of the environment that it knows."""

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The next step of the plan that the user's words ask for."""
        talk = read_conversation(params)
        mood = Mood.drawn(random.Random(f"{self.name} {talk.asked} {seed or 0}"))
        said, calls = self.next_step(talk, mood)
        number = len(talk.exchanges)
        output = [message(said)] if said else []
        output += [_function_call(call, number + place) for place, call in enumerate(calls)]
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 0,
            "model": self.name,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "output": output,
            "usage": None,
        }

    async def close(self) -> None:
        """Nothing to let go of."""

    def next_step(self, talk: Conversation, mood: Mood) -> tuple[str, list[Call]]:
        """What is said and called next; no call ends the rollout."""
        plan = plan_of(talk.asked)
        if plan is None:
            return "I don't know how to do that.", []
        unknown = self.to_look_up(plan, talk)
        if unknown:
            return "", [(DIRECTORY, {"name": name}) for name in unknown]
        known = self.addresses(plan, talk)
        search = self.next_search(plan, known, talk, mood)
        if search is not None:
            return search
        return self._act(plan, known, talk, mood)

    def to_look_up(self, plan: Plan, talk: Conversation) -> list[str]:
        """Names that are not looked up yet."""
        asked = [one.arguments.get("name") for one in talk.of(DIRECTORY)]
        return [name for name in dict.fromkeys(plan.people) if name not in asked]

    def addresses(self, plan: Plan, talk: Conversation) -> Addresses:
        """Each name's address, as the directory gave it."""
        found = {str(one.arguments["name"]): one.output for one in talk.of(DIRECTORY)}
        return {name: _one_of(found.get(name)) for name in plan.people}

    def query(self, plan: Plan, known: Addresses, mood: Mood) -> dict[str, Any]:
        """What the search is given."""
        return {**plan.by(known), **(plan.days or {})}

    def next_search(
        self, plan: Plan, known: Addresses, talk: Conversation, mood: Mood
    ) -> tuple[str, list[Call]] | None:
        """The search, a page of it that is still to be read, or what follows on an error; None when all is read."""
        if plan.tool is None:
            return None
        done, query = talk.of(plan.tool), self.query(plan, known, mood)
        paged = plan.tool.startswith(("customer_", "calendar_", "email_"))
        if not done:
            return "", [(plan.tool, {**query, **({"page_size": mood.page} if paged else {})})]
        if done[-1].failed:
            return self.after_error(done[-1], (plan.tool, {**query, **({"page_size": PAGE} if paged else {})}))
        following = _next_page(done[-1])
        return ("", [(plan.tool, {**query, "page_size": PAGE, "page": following})]) if following else None

    def after_error(self, error: Exchange, mended: Call) -> tuple[str, list[Call]]:
        """Read the error and try again."""
        return "", [mended]

    def chosen(self, plan: Plan, found: Found, mood: Mood) -> tuple[str, Found]:
        """Which of the records that were found are acted on, and what is said about that."""
        return "", found

    def _act(self, plan: Plan, known: Addresses, talk: Conversation, mood: Mood) -> tuple[str, list[Call]]:
        said, records = self.chosen(plan, [one for one in _found(plan, talk) if plan.keep(one)], mood)
        calls = plan.act(known, records)
        if mood.leaves_one_out and len(calls) > 1:
            calls = calls[:-1]
        tools = {tool for tool, _ in calls}
        made = [one for one in talk.exchanges if one.tool in tools]
        if calls and not made:
            return said, calls
        return (_closing(made) if made else f"{said} There was nothing to change.".lstrip()), []


def _function_call(call: Call, number: int) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": call[0],
        "arguments": json.dumps(call[1]),
        "status": "completed",
    }


def _one_of(output: object) -> str:
    return str(output[0]) if isinstance(output, list) and output else ""


def _next_page(last: Exchange) -> int | None:
    counts = last.output.get("pagination") if isinstance(last.output, dict) else None
    return counts["page"] + 1 if counts and counts["page"] < counts["total_pages"] else None


def _found(plan: Plan, talk: Conversation) -> Found:
    """The records of all pages; a number stands as one record."""
    records: Found = []
    for one in talk.of(plan.tool or ""):
        if plan.tool == VISITS and not one.failed:
            records.append({"count": one.output})
        elif isinstance(one.output, dict):
            listed: Found = next((one.output[name] for name in (*_PAGED, "tasks") if name in one.output), [])
            records += [record for record in listed if record not in records]
    return records


def _closing(made: list[Exchange]) -> str:
    refused = sum(one.failed for one in made)
    if refused:
        return f"{refused} of {len(made)} changes could not be made."
    return f"I made {len(made)} change{'s' if len(made) > 1 else ''}: {', '.join(_subject(one) for one in made)}."


def _subject(one: Exchange) -> str:
    """What a change was about."""
    return str(next(iter(one.arguments.values()), one.tool))


class NeverResolvesNames(Assistant):
    """Never looks a name up: addresses are guessed from first names, and searches go without the person.

    Reassigns the wrong records, and to nobody.
    """

    name: ClassVar[str] = "scripted/never_resolves_names"

    def to_look_up(self, plan: Plan, talk: Conversation) -> list[str]:
        """Nothing, ever."""
        return []

    def addresses(self, plan: Plan, talk: Conversation) -> Addresses:
        """Guesses."""
        return {name: f"{name.split()[0].lower()}@{DOMAIN}" for name in plan.people}

    def query(self, plan: Plan, known: Addresses, mood: Mood) -> dict[str, Any]:
        """Words are searched for as the user said them; a search that wants an address goes without it."""
        said = dict(zip(known.values(), known, strict=True))
        asked = super().query(plan, known, mood)
        if "query" in asked:
            for guess, name in said.items():
                asked["query"] = asked["query"].replace(guess, name)
        return {name: value for name, value in asked.items() if name != "assigned_to_email"}


IN_ITS_HEAD = 0.6
"""How often the days are kept from the search."""
DROPS_THE_EDGE = 0.7


class FiltersDatesInItsHead(Assistant):
    """Often keeps the days from the search, reads everything, and filters it itself.

    Where the search filters, all goes well. Where the policy does, a record on the very edge of the days that count is often
    dropped: some repeats of a task pass and others fail by one record.
    """

    name: ClassVar[str] = "scripted/filters_dates_in_its_head"

    def query(self, plan: Plan, known: Addresses, mood: Mood) -> dict[str, Any]:
        """Without the days, where anything else narrows the search."""
        return dict(plan.by(known)) if _in_its_head(plan, known, mood) else super().query(plan, known, mood)

    def chosen(self, plan: Plan, found: Found, mood: Mood) -> tuple[str, Found]:
        """The records whose day lies between the limits, without those on a limit where it is careless."""
        if not plan.days or mood.habit >= IN_ITS_HEAD:
            return "", found
        low, high = _limits(plan)
        careless = mood.care < DROPS_THE_EDGE and low != high
        kept = [one for one in found if _lies(str(one[plan.day_field])[:10], low, high, careless=careless)]
        told = f"I have {len(found)} records and go through their {plan.day_field} myself: "
        return f"{told}{len(kept)} lie in the days that were asked for.", kept


def _in_its_head(plan: Plan, known: Addresses, mood: Mood) -> bool:
    return mood.habit < IN_ITS_HEAD and bool(plan.days) and bool(plan.by(known))


def _lies(day: str, low: str, high: str, *, careless: bool) -> bool:
    return low < day < high if careless else low <= day <= high


def _limits(plan: Plan) -> tuple[str, str]:
    """The first and the last day that count."""
    days = (plan.days or {}).items()
    low = next((value[:10] for name, value in days if name.endswith("min")), "0000-00-00")
    high = next((value[:10] for name, value in days if name.endswith("max")), "9999-99-99")
    return low, high


class GivesUpAfterAnError(Assistant):
    """Ends the work at the first error of a tool, though the error says what to change; passes where none comes."""

    name: ClassVar[str] = "scripted/gives_up_after_an_error"

    def after_error(self, error: Exchange, mended: Call) -> tuple[str, list[Call]]:
        """Report it and stop."""
        return f"I'm sorry, I was unable to do this: the search failed with an error ({error.text}).", []


POLICIES: tuple[type[ScriptedPolicy], ...] = (Assistant, NeverResolvesNames, FiltersDatesInItsHead, GivesUpAfterAnError)
