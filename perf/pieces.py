"""Texts and trajectory pieces for the big files of generate.py, rendered and JSON-encoded once, into pools.

`~R~` in a piece stands for the number of the row that will take it, `~T~` for the number of its task.
"""

# ruff: noqa: SIM905  word lists read better as text
from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

ROW = b"~R~"
TASK = b"~T~"
WORDS = (
    "account address agent amount answer approval balance bank basket bill block board box branch bridge budget cable "
    "cancel card carrier case chair change charge check city claim clerk clock code coin column complaint contract copy "
    "corner cost count credit customer damage date deal delay delivery deposit desk detail device discount district "
    "door draft driver engine entry estimate evening exchange factor fault fee field figure file flight floor form "
    "frame freight garden gate group guest half handle harbor hotel hour house index invoice island item journey key "
    "label lamp leaf ledger letter level limit line list loan locker manager market meter method mile minute model month "
    "morning motor name night note number offer office option order owner package page paper parcel part party passport "
    "payment period person phone place plan plate point policy pound power price problem product profile quantity quarter "
    "query question queue range rate reason receipt record refund region remainder rent repair reply report request "
    "reserve result return river road room route sample seat season section seller service share ship shop side signal "
    "size slot source space stage station statement step stock stop store street student sum supply surface switch system "
    "table ticket time title total tower track trade train transfer travel trip unit update user value vendor visit "
    "voucher wagon wall warehouse water week weight window word worker yard year zone"
).split()
VERBS = "asks brings checks confirms gives holds keeps leaves moves needs offers pays returns sends shows takes wants".split()
TOOL_NAMES = (
    "find_customer find_order list_orders change_address cancel_order refund_order book_seat change_seat find_flight "
    "list_baggage add_note transfer_to_person calculate send_voucher"
).split()
TOOLS_TAKE = ("customer_id", "reference")
BASH_TAKES = ("command",)
ERRORS = (
    "Error: order not found",
    "Error: payment method does not belong to the customer",
    "Error: the amount does not add up to the total",
    '{"error": "seat is no longer free"}',
    "Error: customer not found",
)
PHRASES = (
    "I am sorry, but I cannot do that.",
    "Let me try that again.",
    "The request timed out.",
    "Everything has been done as you asked.",
    "Could you tell me your order number?",
)


def sentence(rng: random.Random) -> str:
    if rng.random() < 0.04:
        return rng.choice(PHRASES)
    body = " ".join(rng.choices(WORDS, k=rng.randint(4, 14)))
    return f"The {rng.choice(WORDS)} {rng.choice(VERBS)} {body}{rng.choice(('.', '.', '?', '; see ~R~.'))}"


def text(rng: random.Random, size: int) -> str:
    """Prose of about `size` characters with the row's number near its start."""
    parts = [f"Case ~R~-{rng.randrange(10**6)}."]
    length = 0
    while length < size:
        parts.append(sentence(rng))
        length += len(parts[-1]) + 1
    return " ".join(parts)


def question(rng: random.Random, size: int) -> str:
    return text(rng, size).replace("~R~", "~T~")


def encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def inside(value: dict[str, Any]) -> bytes:
    """The members of an object without its braces, to be put into a larger one."""
    return encode(value)[1:-1]


def assistant(body: str, number: int) -> dict[str, Any]:
    content: list[Any] = [{"annotations": [], "text": body, "type": "output_text", "logprobs": None}]
    return {
        "id": f"msg_~R~_{number}",
        "content": content,
        "role": "assistant",
        "status": "completed",
        "type": "message",
    }


def exchange(name: str, arguments: dict[str, Any], output: str, number: int) -> bytes:
    """A call and its result."""
    call_id = f"call_~R~_{number}"
    call = {
        "arguments": json.dumps(arguments),
        "call_id": call_id,
        "name": name,
        "type": "function_call",
        "id": call_id,
        "status": "completed",
    }
    result = {
        "call_id": call_id,
        "output": output,
        "type": "function_call_output",
        "id": None,
        "status": "completed",
    }
    return encode(call) + b"," + encode(result)


def lookup(rng: random.Random, number: int) -> bytes:
    """A conversation's tool call; about one in twelve fails.

    Agents pass on what they were told or shown. In one of ten calls that fail they made the reference up: a few rollouts
    of a hundred, as in published conversations.
    """
    arguments = {"customer_id": "~R~", "reference": f"{rng.choice(WORDS)} {rng.choice(WORDS)}"}
    if rng.random() < 0.08:
        invented = {"reference": f"#{rng.randrange(10**7)}"} if rng.random() < 0.1 else {}
        return exchange(rng.choice(TOOL_NAMES), arguments | invented, rng.choice(ERRORS), number)
    lines = [
        {
            "item": " ".join(rng.choices(WORDS, k=3)),
            "price": rng.randrange(99999) / 100,
            "id": f"~R~{rng.randrange(999)}",
        }
        for _ in range(rng.randint(2, 13))
    ]
    record = {"order": f"W~R~{number}", "state": rng.choice(("open", "sent", "closed")), "lines": lines}
    return exchange(rng.choice(TOOL_NAMES), arguments, json.dumps(record), number)


def reply_turn(rng: random.Random, number: int) -> bytes:
    """The agent says something and the simulated user answers."""
    user = {"type": "message", "role": "user", "content": text(rng, rng.randint(30, 260))}
    return encode(assistant(text(rng, rng.randint(80, 900)), number)) + b"," + encode(user)


def log_line(rng: random.Random, number: int) -> str:
    word = rng.choice(WORDS)
    shapes: tuple[Callable[[], str], ...] = (
        lambda: f"tests/test_{word}.py::test_{rng.choice(WORDS)}_{rng.randrange(99)} PASSED  [{number % 100:3d}%]",
        lambda: (
            f"[{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}] INFO {word}: {sentence(rng)}"
        ),
        lambda: f'  File "/build/~R~/{word}/{rng.choice(WORDS)}.py", line {rng.randrange(900)}, in {rng.choice(WORDS)}',
        lambda: f"-rw-r--r-- 1 user user {rng.randrange(10**6):8d} Mar  2 10:00 {word}_{rng.randrange(10**4)}.txt",
        lambda: f"{rng.getrandbits(64):016x}: {rng.getrandbits(128):032x}  |{word[:8]:8s}|",
        lambda: f"gcc -O2 -Wall -I/usr/include/{word} -c {rng.choice(WORDS)}.c -o {rng.choice(WORDS)}.o\t# ok",
        lambda: f"\x1b[32mdownloading\x1b[0m {word}-{rng.randrange(9)}.{rng.randrange(30)} ({rng.randrange(9000)} kB)",
    )
    return rng.choice(shapes)()


def terminal(rng: random.Random, number: int) -> bytes:
    """A shell call with a long log, an error at its end in one of eight."""
    lines = [log_line(rng, number + line) for line in range(rng.randint(20, 178))]
    if rng.random() < 0.125:
        lines.append(f"{rng.choice(('AssertionError', 'KeyError', 'OSError'))}: {rng.choice(WORDS)} (exit code 1)")
    command = f"cd /build/~R~ && make {rng.choice(WORDS)} && cat {rng.choice(WORDS)}.log"
    return exchange("bash", {"command": command}, "\n".join(lines), number)


def remark(rng: random.Random, number: int) -> bytes:
    return encode(assistant(text(rng, rng.randint(60, 400)), number))


def tool_schema(rng: random.Random, name: str) -> dict[str, Any]:
    """A schema that the calls of this file obey, as nearly all calls of real models do."""
    required = BASH_TAKES if name == "bash" else TOOLS_TAKE
    others = rng.sample(WORDS, rng.randint(0, 3))
    properties = {word: {"type": "string", "description": plain(rng, 30)} for word in (*required, *others)}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "name": name, "description": plain(rng, 40), "strict": False, "parameters": parameters}


def plain(rng: random.Random, size: int) -> str:
    return text(rng, size).replace("~R~", "0")
