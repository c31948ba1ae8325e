"""Customer service: an agent with tools, records and a policy, and a simulated user who follows a script.

The key is a list of due calls. The verifier compares what was changed with what the key would change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from proof.simulate.draft import Draft, Item, Row, Task, called, said, user

FIRST = ("Noor", "Ines", "Tomas", "Aiko", "Femi", "Greta", "Luca", "Maren")
LAST = ("Haddad", "Kowal", "Osei", "Virtanen", "Moreau", "Ruiz", "Bakker", "Sato")
STREETS = ("Quay Street", "Juniper Lane", "Station Road", "Harbour Walk", "Kiln Close")
CITIES = ("Aberdeen", "Malmo", "Lyon", "Cork", "Bruges")
GOODS = ("desk lamp", "kettle", "rain jacket", "bicycle pump", "wool blanket", "bread knife")
WISHES = ("cancel", "address", "date", "refund")
POLICY = """# Service policy of Harbour Goods

You help customers with orders: cancel an order, change its address or delivery date, refund an item.
- Look the customer and the order up before you change anything, and get a clear yes before each change.
- An order that is delivered cannot be cancelled. A delivery date can be moved by at most 21 days.
- A refund goes back to the payment method of the order.
- Gift cards that were already used are never refunded, whatever the reason.
- Do one thing at a time, and tell the customer when it is done."""

CHANGES = {
    "cancel": "cancel_order",
    "address": "change_address",
    "date": "reschedule_delivery",
    "refund": "refund_item",
    "note": "set_delivery_note",
}
PARAMETERS: dict[str, tuple[str, ...]] = {
    "get_customer": ("customer_id",),
    "get_order": ("order_id",),
    "cancel_order": ("order_id", "reason"),
    "change_address": ("order_id", "street", "city"),
    "reschedule_delivery": ("order_id", "date"),
    "refund_item": ("order_id", "item_id", "method"),
    "set_delivery_note": ("order_id", "delivery_note"),
    "escalate": ("summary",),
}
TOOLS = [
    {
        "type": "function",
        "name": name,
        "parameters": {"type": "object", "properties": {one: {"type": "string"} for one in fields}},
    }
    for name, fields in PARAMETERS.items()
]


@dataclass(frozen=True, kw_only=True)
class Case(Task):
    """A customer's wish, the records, the call that is due, and calls that a hasty agent would make."""

    wish: str
    name: str
    customer: Row
    order: Row
    due: tuple[Row, ...]
    wrong: tuple[Row, ...]
    """Arguments of the change with one mistake each."""
    script: str

    @property
    def fields(self) -> Row:
        """What each row holds of the task."""
        return {
            "task_id": self.task_id,
            "domain": self.wish,
            "user_instruction": self.script,
            "expected_actions": list(self.due),
            "expected_outputs": [],
        }

    @property
    def tool(self) -> str:
        """The tool that makes the wished change."""
        return CHANGES[self.wish]

    @property
    def arguments(self) -> Row:
        """The arguments of the due change; those of the wish where the key wants none."""
        return dict(self.due[-1]["kwargs"]) if self.due else {"order_id": self.order["order_id"]}


class Tools:
    """The world of customer service."""

    name = "tools"
    models: tuple[str, ...] = ("kestrel-70b",)

    def task(self, index: int, rng: Random) -> Case:
        """One wish about one order."""
        return _case(index, WISHES[index % len(WISHES)], rng)

    def solve(self, task: Case, rng: Random) -> Draft:
        """Looks up, asks, changes, says so."""
        return finished(task, rng, talk(task, rng, task.arguments), 1.0)

    def slip(self, task: Case, rng: Random, variant: int) -> Draft:
        """The right tool with a wrong argument, or the right change and one that nobody asked for."""
        ways = [talk(task, rng, wrong) for wrong in task.wrong] + [talk(task, rng, task.arguments, also=True)]
        return finished(task, rng, ways[variant % len(ways)], 0.0)

    def request(self, task: Case) -> Row:
        """The policy and the tools; the user's first words are each rollout's own."""
        return {"input": [{"role": "system", "content": POLICY}], "tools": TOOLS, "temperature": 0.7}


def finished(task: Case, rng: Random, items: list[Item], reward: float) -> Draft:
    """A rollout with its opening and the verifier's account."""
    account = {"reward": reward, "info": {"r_actions": reward}, "actions": list(task.due)}
    opening = [{"role": "system", "content": POLICY}, {"role": "user", "content": first_words(task, rng)}]
    fields = {"reward_info": account}
    mode = mode_of_calls(task, items)
    # The right order and another of its items: an expert may call the item the object, or an argument.
    too = ("wrong-argument",) if mode == "wrong-object" and task.wish == "refund" else ()
    return Draft(items=items, reward=reward, fields=fields, opening=opening, mode=mode, modes_too=too)


def mode_of_calls(task: Case, items: list[Item]) -> str:
    """What separates the changes that were made from the one that is due."""
    changes = set(CHANGES.values())
    calls = [one for one in items if one["type"] == "function_call" and one["name"] in changes]
    if not calls:
        return "action-missing"
    if len(calls) > len(task.due):
        return "action-extra"
    try:
        given, due = json.loads(calls[0]["arguments"]), task.due[0]["kwargs"]
    except ValueError:
        return "malformed-call"
    differ = [name for name, value in due.items() if given.get(name) != value]
    return "wrong-object" if any(name in ("order_id", "item_id") for name in differ) else "wrong-argument"


OPENINGS = {
    "cancel": (
        "Hi, I'd like to cancel an order.",
        "Please cancel something for me.",
        "I no longer need what I ordered.",
    ),
    "address": ("Hello, my parcel goes to the wrong address.", "I moved. Can you redirect an order?"),
    "date": ("Can my delivery come on another day?", "I need a different delivery date, please."),
    "refund": ("I want my money back for an item.", "One thing in my order is not right. Refund, please."),
    "note": ("Can you tell the driver something?", "I want another note on my parcel."),
}


def first_words(task: Case, rng: Random) -> str:
    """How the simulated user opens."""
    return f"{rng.choice(OPENINGS[task.wish])}{rng.choice(('', ' Thanks.', ' It is fairly urgent.'))}"


def talk(task: Case, rng: Random, arguments: Row, *, also: bool = False) -> list[Item]:
    """A whole conversation with a change, and with a second one that is not due where `also` is given."""
    extra = (
        called(rng, "cancel_order", {"order_id": _other_order(task), "reason": "duplicate"}, {"ok": True})
        if also
        else []
    )
    return [
        *known(task, rng),
        *looked_up(task, rng),
        *agreed(task, rng),
        *change(task, rng, arguments),
        *extra,
        *ended(task, rng),
    ]


def known(task: Case, rng: Random) -> list[Item]:
    """The agent asks who it is, and the user says so."""
    ask = rng.choice(
        (
            "Happy to help. What is your customer id, and which order is it about?",
            "Sure. May I have your customer id and the order id?",
            "Of course! Please give me the customer id and the number of the order.",
        )
    )
    cid, oid = task.customer["customer_id"], task.order["order_id"]
    told = rng.choice((f"It's {cid}, order {oid}.", f"My id is {cid} and the order is {oid}.", f"{cid}. Order {oid}"))
    return [said(ask), user(told)]


def _other_order(task: Case) -> str:
    return str(task.customer["orders"][1])


def looked_up(task: Case, rng: Random) -> list[Item]:
    """Both records are read, now and then with a word in between."""
    aside = [said(ASIDES[rng.randrange(len(ASIDES))])] if rng.random() < 0.2 else []
    return [
        *aside,
        *called(rng, "get_customer", {"customer_id": task.customer["customer_id"]}, task.customer),
        *called(rng, "get_order", {"order_id": task.order["order_id"]}, task.order),
    ]


ASIDES = ("One moment, I am opening your account.", "Thanks, let me have a look.", "I will check that for you.")


def agreed(task: Case, rng: Random) -> list[Item]:
    """What is wished, and a clear yes."""
    ask = rng.choice(("Shall I go ahead?", "Is that right, and shall I do it now?", "Do you confirm?"))
    yes = rng.choice(("Yes, please.", "Yes.", "That's right, do it.", "Yes, go ahead."))
    return [said(f"I have the order here. {wished(task)} {ask}"), user(yes)]


def wished(task: Case) -> str:
    """The wish in the agent's words."""
    given = ", ".join(str(value) for name, value in task.arguments.items() if name != "order_id")
    return f"You would like to {SAYS[task.wish]}{f' ({given})' if given else ''}."


SAYS = {
    "cancel": "cancel the order",
    "address": "have it sent elsewhere",
    "date": "move the delivery",
    "refund": "have one item refunded",
    "note": "have another note to the driver",
}


def change(task: Case, rng: Random, arguments: Row) -> list[Item]:
    """The change is made, and the tool shows it."""
    return called(rng, task.tool, arguments, {"ok": True} | arguments)


def ended(task: Case, rng: Random) -> list[Item]:
    """The agent reports, the user thanks and ends the talk."""
    done = rng.choice(("That is done.", "All set.", "I have taken care of it.", "Done, you will get a mail shortly."))
    thanks = rng.choice(("Thank you, that was all. ###STOP###", "Great, thanks! ###STOP###", "###STOP###"))
    return [said(done), user(thanks)]


def _case(index: int, wish: str, rng: Random) -> Case:
    first, last = rng.choice(FIRST), rng.choice(LAST)
    items = [
        {"item_id": f"IT{rng.randint(10000, 99999)}", "name": one, "price": rng.randint(9, 240)}
        for one in rng.sample(GOODS, 3)
    ]
    order: Row = {
        "order_id": f"HG{rng.randint(100000, 999999)}",
        "status": "delivered" if wish == "refund" else "packed",
        "items": items,
        "delivery_date": f"2026-05-{rng.randint(10, 14)}",
        "street": f"{rng.randint(1, 99)} {rng.choice(STREETS)}",
        "city": rng.choice(CITIES),
        "payment_method": f"{rng.choice(('card', 'paypal', 'giro'))}_{rng.randint(1000, 9999)}",
    }
    customer: Row = {
        "customer_id": f"{first}_{last}_{rng.randint(1000, 9999)}".lower(),
        "name": f"{first} {last}",
        "methods": [order["payment_method"], f"voucher_{rng.randint(1000, 9999)}"],
        "orders": [order["order_id"], f"HG{rng.randint(100000, 999999)}"],
    }
    return aimed(index, wish, customer, order, rng)


def aimed(index: int, wish: str, customer: Row, order: Row, rng: Random) -> Case:
    """A case whose due call and likely mistakes follow from the wish."""
    due, text = _due(wish, order, rng)
    script = f"You are {customer['name']}, customer id {customer['customer_id']}. {text} Order {order['order_id']}."
    return Case(
        index=index,
        task_id=f"{wish}-{index:03d}",
        prompt=POLICY,
        wish=wish,
        name=customer["name"],
        customer=customer,
        order=order,
        due=({"name": CHANGES[wish], "kwargs": due},),
        wrong=tuple(due | mistake for mistake in _mistakes(wish, customer, order, due)),
        script=f"{script} If you are asked for an id, you give it. You want nothing else.",
    )


def _due(wish: str, order: Row, rng: Random) -> tuple[dict[str, Any], str]:
    about = {"order_id": order["order_id"]}
    if wish == "cancel":
        reason = rng.choice(("ordered twice", "no longer needed", "found it cheaper"))
        return about | {"reason": reason}, f"You want to cancel your order, because: {reason}."
    if wish == "address":
        street, city = f"{rng.randint(100, 199)} {rng.choice(STREETS)}", rng.choice(CITIES)
        return about | {"street": street, "city": city}, f"It should go to {street}, {city}."
    if wish == "date":
        date = f"2026-05-{rng.randint(18, 28)}"
        return about | {"date": date}, f"You want it delivered on {date}."
    item = order["items"][0]
    return (
        about | {"item_id": item["item_id"], "method": order["payment_method"]},
        f"You want a refund of the {item['name']}.",
    )


def _mistakes(wish: str, customer: Row, order: Row, due: Row) -> tuple[Row, ...]:
    other = {"order_id": customer["orders"][1]}
    if wish == "cancel":
        return (other, {"reason": "customer request"}, {"reason": "other"})
    if wish == "address":
        return ({"city": order["city"] + " North"}, {"street": due["street"].split(" ", 1)[1]}, other)
    if wish == "date":
        return ({"date": "2026-06-01"}, {"date": order["delivery_date"][:-2] + "17"}, other)
    return (
        {"item_id": order["items"][1]["item_id"]},
        {"method": customer["methods"][1]},
        {"item_id": order["items"][2]["item_id"]},
    )


def wanting_nothing(task: Case) -> Case:
    """The same case with a key that wants no change."""
    return replace(task, due=())
