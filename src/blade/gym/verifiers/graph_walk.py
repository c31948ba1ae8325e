"""A walk goes along the arrows of its graph, from the start, for as many steps as asked.

Row
    `arrows`: pairs of nodes, each node with one way out. `expected_answer`: the walk, nodes joined by ` -> `.

Fields
    `extracted_answer`, `expected_answer`, `right_steps`, `failure_reason`.
"""

from __future__ import annotations

import re

from blade.gym.answers import final_answer, last_line, shown
from blade.gym.environment import Row, Verdict
from blade.gym.single_turn import Config

LONGEST = 2_000
_ARROW = re.compile(r"\s{0,4}(?:->|\u2192|=>|,)\s{0,4}")


def gold(row: Row) -> str:
    """The walk."""
    return str(row["expected_answer"])


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for the walk, else 0, with the first thing that is wrong with what was walked."""
    answer = final_answer(text) or last_line(text) or ""
    due = str(row["expected_answer"]).split(" -> ")
    walked = [node.strip(" .`*\"'").casefold() for node in _ARROW.split(answer[:LONGEST]) if node.strip()]
    right = next((place for place, pair in enumerate(zip(due, walked, strict=False)) if pair[0] != pair[1]), None)
    held = min(len(due), len(walked)) if right is None else right
    fields = {
        "extracted_answer": shown(answer) or None,
        "expected_answer": row["expected_answer"],
        "right_steps": max(0, held - 1),
        "failure_reason": _wrong(row, due, walked, held),
    }
    return Verdict(reward=float(walked == due), fields=fields)


def _wrong(row: Row, due: list[str], walked: list[str], held: int) -> str | None:
    if walked == due:
        return None
    if not walked:
        return "there is no walk in the last message"
    if held == 0:
        return "the walk does not begin at the start"
    if held == len(walked):
        return "the walk stops early"
    if held == len(due):
        return "the walk goes on after the last step"
    nodes = {node for arrow in row["arrows"] for node in arrow}
    return "a step follows no arrow" if walked[held] in nodes else "a step leads to something that is no node"
