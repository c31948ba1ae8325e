"""A model that judges: its prompt, one call of it, and whether it calls two answers equivalent in both orders.

A judge that fails, is cut off, or gives no verdict in the form that it was asked for gives none: NoVerdict, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.answers import last_message, text_of
from blade_gym.config.roots import find
from blade_gym.environment import NoVerdict, Row
from blade_gym.models.model import Model, ModelError
from blade_gym.single_turn import Config

EQUAL, NOT_EQUAL = "[[A=B]]", "[[A!=B]]"
"""The verdicts that a judge of equivalence ends with, unless a config says otherwise."""
LONGEST_ANSWER = 200_000
"""Characters of an answer that a judge is shown."""


class EquivalenceJudge(msgspec.Struct, frozen=True, kw_only=True):
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


def judge_prompt(config: Config, fields: Sequence[str]) -> str:
    """The text of the file that `judge_prompt_template_fpath` names; raises where there is none or nothing fills a field."""
    given = config.get("judge_prompt_template_fpath")
    path = find(str(given), config.get("search_roots") or (Path(),)) if given else None
    if path is None:
        raise RequestError(f"no judge prompt: {given}", hint="judge_prompt_template_fpath names a text file")
    text = path.read_text("utf-8").strip()
    unknown = {field for _, field, _, _ in Formatter().parse(text) if field is not None} - set(fields)
    if unknown:
        raise RequestError(
            f"{path}: nothing fills {', '.join(sorted(unknown))}", hint=f"it may have: {', '.join(fields)}"
        )
    return text


async def judge_reply(config: Config, prompt: str) -> str:
    """What the judge says, never empty; raises NoVerdict where it fails or is cut off.

    `judge_system_message` and `judge_responses_create_params` of the config go with the request.
    """
    system = config.get("judge_system_message")
    messages = [{"role": "system", "content": str(system)}] if system else []
    messages.append({"role": "user", "content": prompt})
    params = {**(config.get("judge_responses_create_params") or {}), "input": messages}
    _, text = await ask(config.get("judge_model"), params)
    if not text.strip():
        raise NoVerdict("the judge's reply is empty")
    return text


def last_question(row: Row) -> str:
    """The text of the last message of the user."""
    given: Any = (row.get("responses_create_params") or {}).get("input") or ""
    if isinstance(given, str):
        return given.strip()
    users = [item for item in given if isinstance(item, Mapping) and item.get("role") == "user"]
    return text_of(users[-1].get("content")).strip() if users else ""
