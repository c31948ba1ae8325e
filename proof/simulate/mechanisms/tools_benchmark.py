"""Customer service: keys, tools and simulated users that are wrong, whatever the agent does."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft, Row, called, said, user
from proof.simulate.mechanism import mechanism
from proof.simulate.tools import (
    CHANGES,
    Case,
    agreed,
    aimed,
    change,
    ended,
    finished,
    known,
    looked_up,
    talk,
    wanting_nothing,
)


def as_recorded(task: Case, rng: Random) -> Draft:
    """The change with the values that the records show; the key wants another."""
    shown = dict(task.arguments)
    for name in ("item_id", "method", "city", "order_id"):
        if name in shown:
            shown[name] = _shown(task)[name]
    return finished(task, rng, talk(task, rng, shown), 0.0)


def _shown(task: Case) -> Row:
    return {
        "item_id": task.order["items"][0]["item_id"],
        "method": task.order["payment_method"],
        "city": task.order["city"],
        "order_id": task.order["order_id"],
    }


@mechanism(
    "tools",
    mode="hidden-requirement",
    modes_too=("expected-answer-wrong",),
    cause=Cause.TASK,
    must=("TSK001",),
    may=("TSK008", "TSK019"),
    does="bend",
    play=as_recorded,
    doses=(1.0,),
    rest="pass",
)
def key_wants_what_nobody_can_see(task: Case, rng: Random) -> Case:
    """The key wants an id that stands in no record, no script and no result, where the record shows another."""
    name = "item_id" if task.wish == "refund" else "order_id"
    hidden = f"IT{rng.randint(10000, 99999)}" if name == "item_id" else f"HG{rng.randint(100000, 999999)}"
    return replace(task, due=({"name": task.tool, "kwargs": task.arguments | {name: hidden}},))


KEYED_OTHERWISE = {
    "cancel": ("reason", ("recalled by the maker", "lost in the warehouse")),
    "address": ("street", ("7 Rear Court", "12 Loading Bay")),
    "date": ("date", ("2026-07-03", "2026-08-21")),
    "refund": ("method", ("iban_4471", "cheque_9082")),
    "note": ("delivery_note", ("Ring at number 7.", "Use the rear gate.")),
}


def as_asked(task: Case, rng: Random) -> Draft:
    """The user names the value, the agent uses it, and the key wants another."""
    asked = task.wrong[0]
    wish = rng.choice(("Please use", "It has to be", "Make it")) + f" {asked[KEYED_OTHERWISE[task.wish][0]]}."
    changed = change(task, rng, asked)
    items = [*known(task, rng), *looked_up(task, rng), said("What shall I enter?"), user(wish), *changed]
    return finished(task, rng, [*items, *ended(task, rng)], 0.0)


@mechanism(
    "tools",
    mode="expected-answer-wrong",
    modes_too=("hidden-requirement",),
    cause=Cause.TASK,
    must=("TSK019",),
    may=("TSK001", "TSK008"),
    does="bend",
    play=as_asked,
    doses=(1.0,),
    rest="pass",
)
def key_wants_other_than_was_asked(task: Case, rng: Random) -> Case:
    """The user asks for one value, and the key wants another that nobody ever mentions."""
    name, values = KEYED_OTHERWISE[task.wish]
    due = task.arguments | {name: rng.choice(values)}
    return replace(task, due=({"name": task.tool, "kwargs": due},), wrong=(task.arguments, *task.wrong))


def says_yes_and_does_nothing(task: Case, rng: Random) -> Draft:
    """The tool says yes, and returns the record as it was."""
    old = {name: task.order[name] for name in task.arguments}
    answer = rng.choice(({"ok": True}, {"status": "success"}, {"message": "Order updated."}))
    done = called(rng, task.tool, task.arguments, answer | old)
    items = [*known(task, rng), *looked_up(task, rng), *agreed(task, rng), *done, *ended(task, rng)]
    return finished(task, rng, items, 0.0)


@mechanism(
    "tools",
    mode="tool-defect",
    cause=Cause.TASK,
    must=("TSK002",),
    may=("TSK012",),
    does="bend",
    play=says_yes_and_does_nothing,
    doses=(1.0,),
    rest="pass",
)
def tool_that_does_nothing(task: Case, rng: Random) -> Case:
    """A tool says yes and never changes anything; the state of the records is judged."""
    old, new = rng.sample(("leave at the door", "ring twice", "give to the neighbour", "call first"), 2)
    order = task.order | {"delivery_note": old}
    script = (
        f"You are {task.name}, customer id {task.customer['customer_id']}. The note to the driver should be: {new}."
    )
    due = {"order_id": order["order_id"], "delivery_note": new}
    return replace(task, wish="note", order=order, due=({"name": CHANGES["note"], "kwargs": due},), script=script)


def old_record_comes_back(task: Case, rng: Random) -> Draft:
    """A tool that works for other orders says yes, and returns this one as it was."""
    old = task.order | {"date": task.order["delivery_date"]}
    answer = rng.choice(({"ok": True}, {"status": "success"}, {"message": "Order updated."}))
    done = called(rng, task.tool, task.arguments, answer | {name: old[name] for name in task.arguments})
    items = [*known(task, rng), *looked_up(task, rng), *agreed(task, rng), *done, *ended(task, rng)]
    return finished(task, rng, items, 0.0)


@mechanism(
    "tools",
    mode="tool-defect",
    cause=Cause.TASK,
    must=("TSK002",),
    may=("TSK012",),
    does="bend",
    play=old_record_comes_back,
    doses=(1.0,),
    rest="pass",
)
def tool_that_skips_this_record(task: Case, rng: Random) -> Case:
    """A tool that works elsewhere says yes for this order and changes nothing; the state is judged."""
    wish = rng.choice(("address", "date"))
    return replace(aimed(task.index, wish, task.customer, task.order, rng), task_id=task.task_id)


HANGS_UP = (
    "Yes, go ahead with that. ###STOP###",
    "Sounds right, please proceed. ###STOP###",
    "Yes please, do it. Bye! ###STOP###",
    "I confirm, make the change. ###STOP###",
)


@mechanism("tools", mode="user-left-early", cause=Cause.TASK, must=("TSK005",))
def user_hangs_up_with_the_yes(task: Case, rng: Random) -> Draft:
    """The simulated user agrees and ends the talk in one message, so that the change is never made."""
    asked = agreed(task, rng)[0]
    words = rng.choice(HANGS_UP)
    draft = finished(task, rng, [*known(task, rng), *looked_up(task, rng), asked, user(words)], 0.0)
    draft.mark(words)
    return draft


DUE_BUT_FORBIDDEN = (
    "I am sorry, but gift cards that were already used are never refunded, whatever the reason.",
    "Our policy is clear here: gift cards that were already used are never refunded, whatever the reason.",
    "I can't do that. Gift cards that were already used are never refunded, whatever the reason, so I have to decline.",
)


def keeps_to_the_policy(task: Case, rng: Random) -> Draft:
    """The agent declines with the policy's own sentence."""
    words = rng.choice(DUE_BUT_FORBIDDEN)
    items = [*known(task, rng), *looked_up(task, rng), said(words), user("I see. ###STOP###")]
    draft = finished(task, rng, items, 0.0)
    draft.mark(words)
    return draft


@mechanism(
    "tools",
    mode="expected-answer-wrong",
    modes_too=("hidden-requirement",),
    cause=Cause.TASK,
    must=("TSK006",),
    may=("ANS003", "TSK008"),
    does="bend",
    play=keeps_to_the_policy,
    doses=(1.0,),
    rest="pass",
)
def key_against_the_policy(task: Case, rng: Random) -> Case:
    """The key wants a refund that the policy forbids in so many words; every repeat declines by that rule."""
    card = {"item_id": f"IT{rng.randint(10000, 99999)}", "name": "gift card, already used", "price": 50}
    order = task.order | {"items": [card, *task.order["items"][1:]]}
    due = {"order_id": order["order_id"], "item_id": card["item_id"], "method": order["payment_method"]}
    script = (
        f"You are {task.name}, customer id {task.customer['customer_id']}. You want a refund of the used gift card."
    )
    return replace(task, wish="refund", order=order, due=({"name": "refund_item", "kwargs": due},), script=script)


WITHHOLDS = (
    "I would rather not say.",
    "I don't have that at hand.",
    "Can't you find it some other way?",
    "No idea, sorry.",
)


@mechanism("tools", mode="user-withheld", modes_too=("user-left-early",), cause=Cause.TASK, must=("TSK011",))
def user_keeps_its_id_back(task: Case, rng: Random) -> Draft:
    """The script gives the ids; the simulated user is asked for them twice and does not tell."""
    first, second = rng.sample(WITHHOLDS, 2)
    items = [
        said("Could you give me your customer_id and the order_id, please?"),
        user(first),
        said("I need the customer id and the order id to look anything up. Do you find them in your mail?"),
        user(f"{second} ###STOP###"),
    ]
    draft = finished(task, rng, items, 0.0)
    draft.mark(first)
    return draft


def does_nothing(task: Case, rng: Random) -> Draft:
    """No word and no call, and it passes."""
    return finished(task, rng, [user("Hello? ###STOP###")], 1.0)


@mechanism("tools", doubtful=True, must=("TSK010",), may=("INF006",), does="bend", play=does_nothing, doses=(0.5,))
def passes_without_a_word(task: Case, rng: Random) -> Case:
    """The key wants nothing, and a rollout in which the agent is silent passes."""
    return wanting_nothing(task)


@mechanism(
    "tools",
    mode="inconsistent-verdict",
    modes_too=("correct-but-rejected",),
    cause=Cause.TASK,
    must=("TSK014",),
    may=("INF003", "TSK012"),
)
def checks_hold_and_reward_does_not(task: Case, rng: Random) -> Draft:
    """The verifier's account says that every action matches, and the reward is 0."""
    items = [*known(task, rng), *looked_up(task, rng), *agreed(task, rng), *change(task, rng, task.arguments)]
    draft = finished(task, rng, [*items, *ended(task, rng)], 0.0)
    draft.fields = {
        "reward_info": {"reward": 1.0, "info": {"r_actions": 1.0}, "actions": list(task.due)},
        "success": True,
    }
    return draft


@mechanism(
    "tools",
    mode="expected-answer-wrong",
    modes_too=("user-off-script", "hidden-requirement", "task-data-defect"),
    cause=Cause.DATA,
    must=("DAT001",),
    doses=(0.25, 0.5, 0.75),
)
def script_of_somebody_else(task: Case, rng: Random) -> Draft:
    """Some rows that count as repeats of a task gave the user another script, and kept the key of the first."""
    other = aimed(task.index, rng.choice(("cancel", "date")), task.customer, task.order, rng)
    draft = finished(replace(other, due=task.due), rng, talk(other, rng, other.arguments), 0.0)
    draft.instead = {"user_instruction": other.script}
    draft.mark(other.script, "user_instruction")
    return draft
