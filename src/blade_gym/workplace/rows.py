"""Rows of the data set: tasks of every kind, in turn, made from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import count
from typing import Any

from blade_gym.workplace.company import SEED, company
from blade_gym.workplace.kinds import KINDS, Wish
from blade_gym.workplace.state import State
from blade_gym.workplace.wording import SYSTEM, WORDINGS
from blade_gym.workplace.world import MARK, mark

EACH = 4
"""Tasks of a kind."""
TRIES = 5_000
_DOMAINS = {"crm": "customer_relationship_manager", "project": "project_management"}


def rows(seed: int = SEED, each: int = EACH) -> list[dict[str, Any]]:
    """Tasks on the company of a seed; the same for the same seed."""
    state = company(seed)
    wishes = {kind: _wishes(kind, state, seed, each) for kind in KINDS}
    return [
        _row(number, kind, text, wish, seed)
        for number, (kind, (text, wish)) in enumerate(
            (kind, wishes[kind][place]) for place in range(each) for kind in KINDS if place < len(wishes[kind])
        )
    ]


def _wishes(kind: str, state: State, seed: int, each: int) -> list[tuple[str, Wish]]:
    """Different tasks of a kind; of those with days, three in four have a record on the edge."""
    draw = random.Random(f"{kind} {seed}")
    found: dict[str, Wish] = {}
    for text, wish in _drawn(kind, state, draw):
        edged = sum(one.edge for one in found.values())
        if text not in found and (wish.edge or (len(found) - edged) < each // 4):
            found[text] = wish
        if len(found) == each:
            break
    return list(found.items())


def _drawn(kind: str, state: State, draw: random.Random) -> Iterator[tuple[str, Wish]]:
    for turn in count():
        if turn == TRIES:
            return
        wish = KINDS[kind](draw, state)
        if wish is not None:
            yield draw.choice(WORDINGS[kind]).format(**wish.holes), wish


def _row(number: int, kind: str, text: str, wish: Wish, seed: int) -> dict[str, Any]:
    domain = kind.partition("_")[0]
    return {
        "id": f"wa-{number:03d}",
        "responses_create_params": {
            "input": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
            "parallel_tool_calls": True,
        },
        "ground_truth": [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in wish.calls],
        "category": f"workplace_assistant_{_DOMAINS.get(domain, domain)}",
        "task_type": kind,
        "environment_name": "workplace_assistant",
        "company_seed": seed,
        MARK: mark(seed),
    }
