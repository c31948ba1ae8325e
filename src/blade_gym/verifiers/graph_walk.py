"""The node that a walk along arrows ends at; another node is told by how far along the way it lies.

Row
    `arrows`: pairs of nodes, each node with one way out. `start`, `steps`. `expected_answer`: where the walk ends.

Fields
    `given_node`, `steps_taken` (how far from the start the given node lies), `checks`, `failure_reason`.
"""

from __future__ import annotations

from collections.abc import Mapping

from blade_gym.answers import final_answer, last_line, shown
from blade_gym.environment import Row, Verdict
from blade_gym.single_turn import Config
from blade_gym.verifiers.exact_match import normalized
from blade_gym.verifiers.faults import checks

NOTHING = "there is no answer"
NO_NODE = "something that is no node of the graph"
START = "the node that the walk starts at"
TOO_EARLY = "a node on the way, before its end"
TOO_FAR = "a node that lies further on"
CRITERIA = {
    NOTHING: "an answer",
    NO_NODE: "a node of the graph",
    START: "a node beyond the start",
    TOO_EARLY: "all steps taken",
    TOO_FAR: "no step too many",
}


def gold(row: Row) -> str:
    """The last node."""
    return str(row["expected_answer"])


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for the node, else 0."""
    answer = final_answer(text) or last_line(text) or ""
    given = normalized(answer)
    taken = distances(row).get(given)
    reason = _wrong(given, taken, int(row["steps"]))
    fields = {
        "given_node": shown(answer) or None,
        "steps_taken": taken,
        "checks": checks(CRITERIA, reason),
        "failure_reason": reason,
    }
    return Verdict(reward=float(reason is None), fields=fields)


def distances(row: Row) -> Mapping[str, int]:
    """By node, how many steps lie between it and the start; nodes that no walk reaches have none."""
    following = {str(one): str(other) for one, other in row["arrows"]}
    found: dict[str, int] = {}
    node = str(row["start"])
    while node in following and node not in found:
        found[node] = len(found)
        node = following[node]
    return found


def _wrong(given: str, taken: int | None, steps: int) -> str | None:
    if taken == steps:
        return None
    if taken is None:
        return NO_NODE if given else NOTHING
    if taken == 0:
        return START
    return TOO_EARLY if taken < steps else TOO_FAR
