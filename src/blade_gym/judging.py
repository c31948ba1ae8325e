"""A model that judges: one call of it, and whether it calls two answers equivalent in both orders.

A judge that fails, is cut off, or gives no verdict in the form that it was asked for gives none: NoVerdict, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blade_gym.answers import last_message
from blade_gym.environment import NoVerdict, Row
from blade_gym.model import Model, ModelError

EQUAL, NOT_EQUAL = "[[A=B]]", "[[A!=B]]"
"""The verdicts that a judge of equivalence ends with, unless a config says otherwise."""


@dataclass(frozen=True, kw_only=True)
class EquivalenceJudge:
    """Asks a model whether two answers, shown as A and B, are equivalent."""

    model: Model | None
    messages: Callable[[str, str], Sequence[Row]]
    """The messages that show an A and a B to the judge."""
    params: Row
    """What else the request holds, in the form of the Responses API."""
    equal: str = EQUAL
    not_equal: str = NOT_EQUAL

    async def agree(self, expected: str, answer: str) -> tuple[list[bool], list[dict[str, Any]]]:
        """The verdict with the expected answer as A; where it is yes, also that of the other order. With the calls."""
        first, call = await self._same(expected, answer)
        if not first:
            return [first], [call]
        second, swapped = await self._same(answer, expected)
        return [first, second], [call, swapped]

    async def _same(self, first: str, second: str) -> tuple[bool, dict[str, Any]]:
        params = {**self.params, "input": list(self.messages(first, second))}
        response, reply = await ask(self.model, params)
        same = self._verdict(reply)
        label = self.equal if same else self.not_equal
        return same, {"responses_create_params": params, "response": response, "verdict_label": label}

    def _verdict(self, reply: str) -> bool:
        """The first label in the reply counts."""
        found = {label: reply.find(label) for label in (self.equal, self.not_equal) if label in reply}
        if not found:
            raise no_verdict(reply)
        return min(found, key=lambda label: found[label]) == self.equal


def no_verdict(reply: str) -> NoVerdict:
    """For a reply that cannot be read: it is no verdict on the answer."""
    return NoVerdict(f"the judge's reply holds no verdict: {reply[-200:]!r}")


class NoJudge(NoVerdict):
    """No model was given to the verifier, and this answer needs one."""

    def __init__(self) -> None:
        super().__init__("there is no judge: give the resources server a model under judge_model_server", terminal=True)


async def ask(model: Model | None, params: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The judge's response and its last message; raises NoVerdict."""
    if model is None:
        raise NoJudge
    try:
        response = await model.respond(params, seed=0)
    except ModelError as problem:
        raise NoVerdict(f"the judge failed: {problem}") from problem
    if response.get("incomplete_details"):
        raise NoVerdict("the judge was cut off")
    output = response.get("output")
    return response, last_message(
        [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    )
