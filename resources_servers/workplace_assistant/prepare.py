"""Makes the tasks of workplace_assistant from a seed: a generated company and what its people ask for, kind by kind."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from blade_gym import hub

from .company import SEED, company
from .kinds import KINDS, TaskDraft
from .state import State
from .wording import SYSTEM, WORDINGS
from .world import MARK, mark

EACH = 4
"""Tasks of a kind."""
TRIES = 5_000
_DOMAINS = {"crm": "customer_relationship_manager", "project": "project_management"}


def prepare(seed: int = SEED, each: int = EACH, output: str | None = None) -> Path:
    """Write `each` tasks of every kind; another seed is another company and other tasks."""
    return hub.write(rows(seed, each), output or Path(__file__).parent / "data" / "example.jsonl")


def rows(seed: int = SEED, each: int = EACH) -> list[dict[str, Any]]:
    """Tasks on the company of a seed; the same for the same seed."""
    state = company(seed)
    drafts = {kind: _drafts(kind, state, seed, each) for kind in KINDS}
    return [
        _row(number, kind, text, draft, seed)
        for number, (kind, (text, draft)) in enumerate(
            (kind, drafts[kind][place]) for place in range(each) for kind in KINDS if place < len(drafts[kind])
        )
    ]


def _drafts(kind: str, state: State, seed: int, each: int) -> list[tuple[str, TaskDraft]]:
    """Different tasks of a kind; of those with days, three in four have a record on the edge."""
    draw = random.Random(f"{kind} {seed}")
    found: dict[str, TaskDraft] = {}
    for text, draft in _drawn(kind, state, draw):
        edged = sum(one.edge for one in found.values())
        if text not in found and (draft.edge or (len(found) - edged) < each // 4):
            found[text] = draft
        if len(found) == each:
            break
    return list(found.items())


def _drawn(kind: str, state: State, draw: random.Random) -> Iterator[tuple[str, TaskDraft]]:
    for turn in count():
        if turn == TRIES:
            return
        draft = KINDS[kind](draw, state)
        if draft is not None:
            yield draw.choice(WORDINGS[kind]).format(**draft.holes), draft


def _row(number: int, kind: str, text: str, draft: TaskDraft, seed: int) -> dict[str, Any]:
    domain = kind.partition("_")[0]
    return {
        "id": f"wa-{number:03d}",
        "responses_create_params": {
            "input": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}],
            "parallel_tool_calls": True,
        },
        "ground_truth": [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in draft.calls],
        "category": f"workplace_assistant_{_DOMAINS.get(domain, domain)}",
        "task_type": kind,
        "environment_name": "workplace_assistant",
        "company_seed": seed,
        MARK: mark(seed),
    }
