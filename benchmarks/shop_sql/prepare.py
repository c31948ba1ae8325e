"""Questions to a small generated shop in SQLite, each with a query that answers it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from blade_gym import hub, puzzles

TOWNS = ("Lindau", "Bergen", "Porto", "Ghent")
NAMES = ("Ada", "Jon", "Mira", "Leo", "Nora", "Tom", "Ivy", "Sam")
ITEMS = ("lamp", "kettle", "chair", "mirror")
MEASURES = {
    "number of orders": "COUNT(*)",
    "total of pieces": "SUM(pieces)",
    "highest price": "MAX(price)",
    "lowest price": "MIN(price)",
    "fewest pieces": "MIN(pieces)",
}

Asked = tuple[str, str]
"""A question and its query."""


TABLES = (
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, town TEXT);\n"
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, item TEXT, pieces INTEGER, price INTEGER);"
)
SHOT = ("How many orders are there?", "SELECT COUNT(*) FROM orders")


def prepare(size: int = 48, seed: int = 7, shots: int = 1, output: str | None = None) -> Path:
    """Write `size` questions, of each kind in turn, each to a shop of its own, after a worked example unless `shots` is 0."""
    return hub.write(_rows(size, seed, shots), output or hub.beside(__file__, "shop_sql"))


def _rows(size: int, seed: int, shots: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    shown = [(_asked(SHOT[0]), f"```sql\n{SHOT[1]};\n```")] if shots else []
    told: set[str] = set()
    for number in puzzles.draws(told, size):
        kind, asked = list(KINDS.items())[number % len(KINDS)]
        question, query = asked(draw)
        if question in told:
            continue
        told.add(question)
        yield {
            "id": f"sql-{number:03d}",
            "responses_create_params": {"input": puzzles.turns(shown, _asked(question))},
            "question": question,
            "kind": kind,
            "sql_context": _shop(draw),
            "sql": query,
        }


def _asked(question: str) -> str:
    return f"{TABLES}\n\nQuestion: {question}\nAnswer with one SQLite query in a fenced block."


def _shop(draw: random.Random) -> str:
    customers = [f"({key},'{name}','{draw.choice(TOWNS)}')" for key, name in enumerate(NAMES[:6], 1)]
    orders = [
        f"({key},{draw.randint(1, 5)},'{draw.choice(ITEMS)}',{draw.randint(1, 9)},{draw.randint(5, 90)})"
        for key in range(1, 13)
    ]
    filled = f"INSERT INTO customers VALUES {','.join(customers)};\nINSERT INTO orders VALUES {','.join(orders)};"
    return f"{TABLES}\n{filled}"


def _count(draw: random.Random) -> Asked:
    town, live, sign = draw.choice(TOWNS), *draw.choice((("live", "="), ("do not live", "<>")))
    return f"How many customers {live} in {town}?", f"SELECT COUNT(*) FROM customers WHERE town {sign} '{town}'"


def _filter(draw: random.Random) -> Asked:
    price = draw.randint(20, 60)
    return f"Give the ids of the orders with a price above {price}.", f"SELECT id FROM orders WHERE price > {price}"


def _total(draw: random.Random) -> Asked:
    item, asked, summed = draw.choice(ITEMS), *draw.choice((("pieces", "pieces"), ("money", "pieces * price")))
    told = f"How many pieces of the {item} were ordered in all?"
    if asked == "money":
        told = f"What is pieces times price, summed over all orders of the {item}?"
    return f"{told} Give 0 if there are none.", f"SELECT COALESCE(SUM({summed}), 0) FROM orders WHERE item = '{item}'"


def _group(draw: random.Random) -> Asked:
    by = draw.choice(("item", "customer_id"))
    told, given = draw.choice(list(MEASURES.items()))
    return f"Give each {by} of the orders table with its {told}.", f"SELECT {by}, {given} FROM orders GROUP BY {by}"


def _join(draw: random.Random) -> Asked:
    item, pieces = draw.choice(ITEMS), draw.randint(1, 4)
    query = (
        "SELECT DISTINCT c.name FROM customers c JOIN orders o ON o.customer_id = c.id "
        f"WHERE o.item = '{item}' AND o.pieces >= {pieces} ORDER BY c.name"
    )
    many = "1 piece" if pieces == 1 else f"{pieces} pieces"
    told = f"Which customers ordered at least {many} of the {item} in one order?"
    return f"{told} Give each name once, in alphabetical order.", query


def _absent(draw: random.Random) -> Asked:
    item, pieces = draw.choice(ITEMS), draw.randint(1, 4)
    inner = f"SELECT customer_id FROM orders WHERE item = '{item}' AND pieces >= {pieces}"
    many = "1 piece" if pieces == 1 else f"{pieces} pieces"
    told = f"Give the names of customers without any order of at least {many} of the {item}."
    return told, f"SELECT name FROM customers WHERE id NOT IN ({inner})"


KINDS: Mapping[str, Callable[[random.Random], Asked]] = {
    "count": _count,
    "filter": _filter,
    "sum": _total,
    "group": _group,
    "join": _join,
    "absence": _absent,
}
