"""Asking a model to judge by a template, for verifiers whose benchmark fixes the judge's prompt word for word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

from blade.core.errors import RequestError
from blade.gym.answers import last_message, text_of
from blade.gym.config.roots import find
from blade.gym.environment import NoVerdict, Row
from blade.gym.model import Model, ModelError
from blade.gym.single_turn import Config

LONGEST_ANSWER = 200_000
"""Characters of an answer that a judge is shown."""


def template(config: Config, fields: Sequence[str]) -> str:
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


async def reply(config: Config, prompt: str) -> str:
    """What the judge says, never empty; raises NoVerdict where it fails or is cut off.

    `judge_system_message` and `judge_responses_create_params` of the config go with the request.
    """
    model: Model | None = config.get("judge_model")
    if model is None:
        raise NoVerdict("there is no judge: judge_model_server of the resources server names one", terminal=True)
    system = config.get("judge_system_message")
    asked = [{"role": "system", "content": str(system)}] if system else []
    params = {
        **(config.get("judge_responses_create_params") or {}),
        "input": [*asked, {"role": "user", "content": prompt}],
    }
    try:
        response = await model.respond(params, seed=0)
    except ModelError as problem:
        raise NoVerdict(f"the judge failed: {problem}") from problem
    if response.get("incomplete_details"):
        raise NoVerdict("the judge was cut off")
    output = response.get("output")
    text = last_message([item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else [])
    if not text.strip():
        raise NoVerdict("the judge's reply is empty")
    return text


def no_verdict(text: str) -> NoVerdict:
    """For a reply that cannot be read: it says nothing about the answer."""
    return NoVerdict(f"the judge's reply holds no verdict: {text[-200:]!r}")


def asked_last(row: Row) -> str:
    """The text of the last message of the user."""
    given: Any = (row.get("responses_create_params") or {}).get("input") or ""
    if isinstance(given, str):
        return given.strip()
    users = [item for item in given if isinstance(item, Mapping) and item.get("role") == "user"]
    return text_of(users[-1].get("content")).strip() if users else ""
