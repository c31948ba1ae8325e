"""Asking a model to judge by a template, for verifiers whose benchmark fixes the judge's prompt word for word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

from blade.model.errors import RequestError
from blade_gym.answers import text_of
from blade_gym.config.roots import find
from blade_gym.environment import NoVerdict, Row
from blade_gym.judging import ask
from blade_gym.single_turn import Config

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
    system = config.get("judge_system_message")
    messages = [{"role": "system", "content": str(system)}] if system else []
    messages.append({"role": "user", "content": prompt})
    params = {**(config.get("judge_responses_create_params") or {}), "input": messages}
    _, text = await ask(config.get("judge_model"), params)
    if not text.strip():
        raise NoVerdict("the judge's reply is empty")
    return text


def asked_last(row: Row) -> str:
    """The text of the last message of the user."""
    given: Any = (row.get("responses_create_params") or {}).get("input") or ""
    if isinstance(given, str):
        return given.strip()
    users = [item for item in given if isinstance(item, Mapping) and item.get("role") == "user"]
    return text_of(users[-1].get("content")).strip() if users else ""
