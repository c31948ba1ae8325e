"""Customer service: what the agent itself does wrong with its tools."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft, Item, as_text, called, said, user
from proof.simulate.mechanism import mechanism
from proof.simulate.tools import Case, agreed, ended, finished, known, looked_up

LEAVE = ("I need a moment to go through this.", "Let me come back to you.", "I am still looking at your order.")
ALL_DONE = (
    "Your request has been completed. Is there anything else?",
    "I've updated everything as you wished.",
    "That's all sorted now, the change is in our system.",
    "Good news: it went through and you will get a confirmation by mail.",
)
NOT_FOUND = (
    "Error: no order with this id",
    '{"error": "order not found"}',
    '{"status": 404, "detail": "No such order."}',
    "ValueError: unknown order id",
)
REFUSED = (
    '{{"error": "{} must not be empty"}}',
    "Error: field `{}` is required",
    '{{"ok": false, "error": "validation failed: {}"}}',
    "Invalid request: missing parameter {}",
    "422 Unprocessable Entity: {}: field required",
)


def stopped(task: Case, rng: Random, items: list[Item], last: str | None = None) -> Draft:
    """A conversation that ends without the change."""
    closing = (
        [] if last is None else [said(last), user(rng.choice(("Okay. ###STOP###", "###STOP###", "Thanks. ###STOP###")))]
    )
    return finished(task, rng, [*items, *closing], 0.0)


def met(task: Case, rng: Random) -> list[Item]:
    """The talk up to the yes."""
    return [*known(task, rng), *looked_up(task, rng), *agreed(task, rng)]


@mechanism("tools", mode="loop", modes_too=("action-missing",), cause=Cause.BEHAVIOR, must=("BEH001",), may=("BEH011",))
def same_call_over_and_over(task: Case, rng: Random) -> Draft:
    """The agent reads the same record again and again, and never makes the change."""
    look = ("get_order", {"order_id": task.order["order_id"]}, task.order)
    again = [item for _ in range(rng.randint(4, 7)) for item in called(rng, *look)]
    return stopped(task, rng, [*met(task, rng), *again], rng.choice(LEAVE))


@mechanism("tools", mode="loop", modes_too=("action-missing",), cause=Cause.BEHAVIOR, must=("BEH004",), may=("BEH011",))
def round_and_round(task: Case, rng: Random) -> Draft:
    """Two look-ups are made in turn, with the same arguments, and the change is never made."""
    rounds = [item for _ in range(rng.randint(3, 5)) for item in looked_up(task, rng)]
    return stopped(task, rng, [*met(task, rng), *rounds], rng.choice(LEAVE))


@mechanism(
    "tools",
    mode="action-missing",
    modes_too=("malformed-call", "wrong-argument"),
    cause=Cause.BEHAVIOR,
    must=("BEH002",),
    may=("BEH009",),
)
def error_passed_over(task: Case, rng: Random) -> Draft:
    """The change is refused by the tool, and the agent says that it is done."""
    words = rng.choice(REFUSED).format(list(task.arguments)[-1])
    tried = called(rng, task.tool, _broken(task), words)
    draft = stopped(task, rng, [*met(task, rng), *tried], rng.choice(ALL_DONE))
    draft.mark(words)
    return draft


def _broken(task: Case) -> dict[str, str]:
    """The due arguments with one left out."""
    return {name: str(value) for name, value in list(task.arguments.items())[:-1]}


MANGLED = (
    lambda text: text[:-1],
    lambda text: text.replace('"', "'"),
    lambda text: text + "}",
    lambda text: text.replace(":", " =", 1),
)
UNREADABLE = (
    "Error: arguments could not be decoded as JSON",
    "JSONDecodeError: Expecting ',' delimiter: line 1 column 38",
    "invalid tool arguments: unexpected end of input",
    '{"error": "could not parse the arguments of the call"}',
)


@mechanism(
    "tools",
    mode="malformed-call",
    modes_too=("action-missing", "handed-back"),
    cause=Cause.BEHAVIOR,
    must=("BEH003",),
    may=("BEH001", "BEH002", "BEH005", "BEH006"),
)
def arguments_that_do_not_parse(task: Case, rng: Random) -> Draft:
    """The agent writes the arguments of the change as broken JSON, twice, and stops."""
    tries = [called(rng, task.tool, rng.choice(MANGLED)(as_text(task.arguments)), rng.choice(UNREADABLE)) for _ in "ab"]
    items = [*met(task, rng), *(item for one in tries for item in one)]
    return stopped(task, rng, items, rng.choice(LEAVE))


GIVES_UP = (
    "I'm afraid the system did not accept this. I cannot do more from here.",
    "The update failed, sorry. Please try again another day.",
    "It seems there was a problem with the tool, so I was unable to make the change.",
    "This returned an error. I have to leave it at that.",
)


@mechanism(
    "tools", mode="handed-back", modes_too=("action-missing", "malformed-call"), cause=Cause.BEHAVIOR, must=("BEH005",)
)
def one_try_and_no_more(task: Case, rng: Random) -> Draft:
    """The tool says which argument is missing; the agent reports an error and ends."""
    missing = list(task.arguments)[-1]
    words = rng.choice(
        (
            f"Error: `{missing}` is required",
            f'{{"error": "missing argument: {missing}"}}',
            f'{{"ok": false, "error": "please give {missing}"}}',
        )
    )
    draft = stopped(task, rng, [*met(task, rng), *called(rng, task.tool, _broken(task), words)], rng.choice(GIVES_UP))
    draft.mark(words)
    return draft


@mechanism(
    "tools",
    mode="action-missing",
    modes_too=("handed-back", "malformed-call", "loop", "wrong-argument"),
    cause=Cause.BEHAVIOR,
    must=("BEH006",),
    may=("BEH002", "BEH005"),
)
def mends_the_wrong_argument(task: Case, rng: Random) -> Draft:
    """The error names one argument; the agent changes another and gets the same error."""
    first, *others = task.arguments
    words = rng.choice((f"Error: `{first}` is not in the expected form", f'{{"error": "bad value for {first}"}}'))
    tries: list[Item] = []
    for ending in ("", " please", " now"):
        changed = {first: f"order {task.order['order_id']}", others[-1]: f"{task.arguments[others[-1]]}{ending}"}
        tries += called(rng, task.tool, dict(task.arguments) | changed, words)
    return stopped(task, rng, [*met(task, rng), *tries], rng.choice(GIVES_UP))


NO_SUCH_TOOL = (
    "Error: tool `{}` is not available",
    "Unknown function: {}",
    '{{"error": "no tool is registered under the name {}"}}',
    "KeyError: '{}'",
)
MADE_UP = ("update_order_everything", "admin_override", "send_change_request", "order_service_call")


@mechanism(
    "tools",
    mode="malformed-call",
    modes_too=("action-missing", "handed-back"),
    cause=Cause.BEHAVIOR,
    must=("BEH007",),
    may=("BEH002", "BEH005", "BEH009"),
)
def tool_that_is_not_there(task: Case, rng: Random) -> Draft:
    """The agent calls tools that nobody offers, and then ends."""
    names = rng.sample(MADE_UP, 2)
    tries = [
        item for name in names for item in called(rng, name, task.arguments, rng.choice(NO_SUCH_TOOL).format(name))
    ]
    return stopped(task, rng, [*met(task, rng), *tries], rng.choice(GIVES_UP))


@mechanism(
    "tools",
    mode="wrong-object",
    modes_too=("action-missing", "handed-back", "wrong-argument"),
    cause=Cause.BEHAVIOR,
    must=("BEH008",),
    may=("BEH002", "BEH005"),
)
def order_out_of_thin_air(task: Case, rng: Random) -> Draft:
    """The agent makes up an order id instead of using the one it was told."""
    invented = f"HG{rng.randint(100000, 999999)}"
    tried = called(rng, task.tool, dict(task.arguments) | {"order_id": invented}, rng.choice(NOT_FOUND))
    draft = stopped(task, rng, [*known(task, rng), *agreed(task, rng), *tried], rng.choice(GIVES_UP))
    draft.mark(invented)
    return draft


@mechanism("tools", mode="wrong-object", modes_too=("wrong-argument",), cause=Cause.BEHAVIOR, must=("BEH013",))
def guessed_and_taken(task: Case, rng: Random) -> Draft:
    """The agent makes up the id of the order instead of using the one it was told, and the tool takes it."""
    invented = f"HG{rng.randint(100000, 999999)}"
    made = dict(task.arguments) | {"order_id": invented}
    changed = called(rng, task.tool, made, rng.choice(({"ok": True}, {"status": "success"}, "Done.")))
    draft = finished(task, rng, [*known(task, rng), *agreed(task, rng), *changed, *ended(task, rng)], 0.0)
    draft.mark(invented)
    return draft


@mechanism("tools", mode="action-missing", cause=Cause.BEHAVIOR, must=("BEH009",))
def says_it_is_done(task: Case, rng: Random) -> Draft:
    """The agent says that the change was made, and never called the tool."""
    words = rng.choice(ALL_DONE)
    draft = stopped(task, rng, met(task, rng), words)
    draft.mark(words)
    return draft


@mechanism(
    "tools",
    mode="malformed-call",
    modes_too=("action-missing",),
    cause=Cause.BEHAVIOR,
    must=("ANS004",),
    may=("BEH009",),
)
def call_in_plain_text(task: Case, rng: Random) -> Draft:
    """The agent's last message holds the call as text, in the syntax of some model family."""
    body = as_text(task.arguments)
    words = rng.choice(
        (
            f'<tool_call>\n{{"name": "{task.tool}", "arguments": {body}}}\n</tool_call>',
            f'[TOOL_CALLS] [{{"name": "{task.tool}", "arguments": {body}}}]',
            f"<function={task.tool}>{body}</function>",
            f"<|python_tag|>{task.tool}.call({body})",
        )
    )
    draft = finished(task, rng, [*met(task, rng), said(words)], 0.0)
    draft.mark(words)
    return draft


TOLD = {
    "cancel": (
        "I have cancelled order {order_id} for you.",
        "Order {order_id} has been cancelled.",
        "All done: {order_id} is cancelled.",
    ),
    "address": (
        "I've changed the address of {order_id}.",
        "The address of order {order_id} has been updated.",
        "Your parcel {order_id} has been redirected.",
    ),
    "date": (
        "I have rescheduled the delivery to {date}.",
        "Your delivery has been moved to {date}.",
        "It is arranged, the parcel comes on {date}.",
    ),
    "refund": (
        "I have refunded {item_id} to {method}.",
        "The refund for item {item_id} has been issued.",
        "{item_id} is refunded, the money goes to {method}.",
    ),
}
"""What the agent reports, with the values that the user asked for."""


def _other_than_told(task: Case) -> dict[str, str]:
    """The due arguments with the value of which the agent will speak replaced."""
    given = {name: str(value) for name, value in task.arguments.items()}
    if task.wish == "date":
        return given | {"date": "2026-06-02"}
    if task.wish == "refund":
        return given | {"item_id": str(task.order["items"][1]["item_id"])}
    return given | {"order_id": str(task.customer["orders"][1])}


@mechanism("tools", modes_too=("wrong-argument", "wrong-object"), cause=Cause.BEHAVIOR, must=("BEH010",))
def tells_another_value(task: Case, rng: Random) -> Draft:
    """The call passes one value and the agent reports another, the one that the user had asked for."""
    made = _other_than_told(task)
    words = rng.choice(TOLD[task.wish]).format(**task.arguments)
    items = [*met(task, rng), *called(rng, task.tool, made, rng.choice(({"ok": True}, {"status": "done"})) | made)]
    draft = stopped(task, rng, items, words)
    draft.mark(words)
    return draft


STEPS_OUT = (
    {"termination_reason": "max_steps"},
    {"stop_reason": "max_turns_exceeded"},
    {"termination_reason": "step limit reached"},
)


@mechanism("tools", mode="step-limit", cause=Cause.BEHAVIOR, may=("BEH001", "BEH004", "BEH011"))
def out_of_steps(task: Case, rng: Random) -> Draft:
    """The agent talks and looks up until the limit of steps ends the rollout."""
    chat = [
        item
        for n in range(5)
        for item in (
            said(f"Let me check point {n + 1} for you. Which colour does the item have?"),
            user(rng.choice(("I do not know.", "Blue, I think.", "Why does that matter?"))),
        )
    ]
    draft = finished(task, rng, [*met(task, rng), *chat], 0.0)
    draft.fields |= rng.choice(STEPS_OUT)
    return draft


@mechanism(
    "tools",
    mode="loop",
    modes_too=("action-missing",),
    cause=Cause.KNOWLEDGE,
    kind="model",
    rest="mostly slip",
    doses=(0.25,),
    may=("BEH009", "BEH001"),
)
def wrong_and_one_loop(task: Case, rng: Random) -> Draft:
    """All repeats make a wrong change, in different ways; one only loops."""
    look = ("get_order", {"order_id": task.order["order_id"]}, task.order)
    again = [item for _ in range(4) for item in called(rng, *look)]
    return stopped(task, rng, [*met(task, rng), *again], rng.choice(LEAVE))
