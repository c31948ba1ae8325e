"""Customer service: errors, alarms and refusals that harm nothing."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft, Row, called, said, user
from proof.simulate.mechanism import mechanism
from proof.simulate.tools import Case, agreed, change, ended, finished, known, looked_up, talk, wanting_nothing

COMPLAINTS = (
    "By the way, your website showed '503 Service Unavailable' yesterday when I tried it myself.",
    "Your app said too many requests, so I am writing here instead.",
    "The shop page told me: connection refused. That was last week, never mind.",
    "I got a traceback on my screen when I paid. It worked in the end.",
)


@mechanism("tools", cause=Cause.UNRELIABLE, kind="harmless", doses=(0.5, 0.75))
def user_speaks_of_an_outage(task: Case, rng: Random) -> Draft:
    """The user mentions an old outage; the agent makes a plain mistake."""
    words = rng.choice(COMPLAINTS)
    items = talk(task, rng, rng.choice(task.wrong))
    items[1] = user(f"{items[1]['content']} {words}")
    draft = finished(task, rng, items, 0.0)
    draft.mark(words)
    return draft


NOTES = (
    "2026-04-02: courier API returned 502, label printed by hand, resolved",
    "customer hit rate limit on the web form, order taken by phone",
    "sandbox order converted to live, container MSKU 203311 booked",
    "payment failed once (timeout at the bank), second try accepted",
)


@mechanism("tools", kind="harmless", doses=(0.5, 1.0))
def record_with_an_old_incident(task: Case, rng: Random) -> Draft:
    """A note in the order record tells of an incident that was settled long ago; the task passes."""
    return _noted(task, rng, task.arguments, 1.0)


@mechanism("tools", cause=Cause.UNRELIABLE, kind="harmless", doses=(0.5, 0.75))
def record_with_an_old_incident_and_a_slip(task: Case, rng: Random) -> Draft:
    """The same notes, and the change that follows has a wrong argument."""
    return _noted(task, rng, rng.choice(task.wrong), 0.0)


def _noted(task: Case, rng: Random, arguments: Row, reward: float) -> Draft:
    words = rng.choice(NOTES)
    noted = replace(task, order=task.order | {"notes": [words]})
    draft = finished(task, rng, talk(noted, rng, arguments), reward)
    draft.mark(words)
    return draft


SETBACKS = (
    "Error: order is locked by another session, try again",
    "429 Too Many Requests",
    '{"error": "temporarily unavailable"}',
    "TimeoutError: no answer within 5 s",
)


@mechanism("tools", kind="harmless", doses=(0.25, 0.5), may=("INF002",))
def error_then_mended(task: Case, rng: Random) -> Draft:
    """One look-up fails, the agent tries again, and everything is done."""
    return _after_setback(task, rng, task.arguments, 1.0)


@mechanism("tools", cause=Cause.UNRELIABLE, kind="harmless", doses=(0.5,), may=("INF002",))
def error_then_mended_then_a_slip(task: Case, rng: Random) -> Draft:
    """One look-up fails and is made again; the change that follows has a wrong argument."""
    return _after_setback(task, rng, rng.choice(task.wrong), 0.0)


def _after_setback(task: Case, rng: Random, arguments: Row, reward: float) -> Draft:
    words = rng.choice(SETBACKS)
    failed = called(rng, "get_order", {"order_id": task.order["order_id"]}, words)
    items = [*known(task, rng), *failed, *looked_up(task, rng), *agreed(task, rng)]
    draft = finished(task, rng, [*items, *change(task, rng, arguments), *ended(task, rng)], reward)
    draft.mark(words)
    return draft


DECLINES = (
    "I'm sorry, I can't do that: the order is too far along to be changed.",
    "Unfortunately that is not possible under our policy, so I will leave the order as it is.",
    "I have to decline this, as the date is more than 21 days away.",
)


def declines(task: Case, rng: Random) -> Draft:
    """The agent rightly declines."""
    words = rng.choice(DECLINES)
    items = [*known(task, rng), *looked_up(task, rng), said(words), user("Pity. Bye. ###STOP###")]
    draft = finished(task, rng, items, 1.0)
    draft.mark(words)
    return draft


@mechanism("tools", kind="harmless", may=("ANS003",), does="bend", play=declines, doses=(1.0,))
def declines_as_it_should(task: Case, rng: Random) -> Case:
    """The key wants no change, and the agent declines: a refusal that is right."""
    return wanting_nothing(task)


@mechanism("tools", kind="harmless", doses=(0.25,), may=("BEH001",))
def waits_for_a_job(task: Case, rng: Random) -> Draft:
    """The agent asks for the state of an order three times until it is ready, and then does all that is due."""
    states = ("locked", "locked", "locked", "packed")
    polls = [
        item
        for state in states
        for item in called(rng, "get_order", {"order_id": task.order["order_id"]}, task.order | {"status": state})
    ]
    items = [*known(task, rng), *polls, *agreed(task, rng), *change(task, rng, task.arguments), *ended(task, rng)]
    return finished(task, rng, items, 1.0)


def without_looking(task: Case, rng: Random) -> Draft:
    """The change is made at once, and happens to be right."""
    items = [*known(task, rng), *agreed(task, rng), *change(task, rng, task.arguments), *ended(task, rng)]
    return finished(task, rng, items, 1.0)


@mechanism("tools", cause=Cause.UNRELIABLE, kind="model", doses=(0.5, 0.75), otherwise=without_looking)
def lucky_without_looking(task: Case, rng: Random) -> Draft:
    """Careful repeats make a plain mistake; the pass skips the look-ups and is lucky."""
    return finished(task, rng, talk(task, rng, rng.choice(task.wrong)), 0.0)
