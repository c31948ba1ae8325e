"""From the options that name configs and models to a resolved config."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from blade.model.errors import RequestError

if TYPE_CHECKING:
    from blade_gym.config.load import Resolved

KEY_VARIABLE = "POLICY_API_KEY"
JUDGE_KEY_VARIABLE = "JUDGE_API_KEY"
JUDGE = "judge_model"
"""The instance that `--judge-model` makes."""
_NAMED = {"scripted_model": "policy", "replay_model": "replay_path"}
"""What `--model` names of models that have no server."""


def model_overrides(model_type: str | None, model: str | None, url: str | None, key: str | None) -> list[str]:
    """The model's options as the overrides that they stand for; a key may also come from the environment."""
    key = key if key is not None else os.environ.get(KEY_VARIABLE)
    kind = (model_type or "").partition("/")[0]
    named = f"policy_model.responses_api_models.{kind}.{_NAMED[kind]}" if kind in _NAMED else "policy_model_name"
    given = {named: model, "policy_base_url": url, "policy_api_key": key}
    return [f"++{name}={value}" for name, value in given.items() if value is not None]


def judge_overrides(model: str | None, url: str | None) -> list[str]:
    """The judge's options as overrides: an instance of its own, at the evaluated model's endpoint unless told otherwise.

    Its key comes from the environment, or is the evaluated model's.
    """
    if model is None:
        if url is not None:
            raise RequestError("--judge-url needs --judge-model", hint="--judge-model NAME, as its server calls it")
        return []
    given = {
        "entrypoint": "app.py",
        "openai_model": model,
        "openai_base_url": url or "${policy_base_url}",
        "openai_api_key": os.environ.get(JUDGE_KEY_VARIABLE) or "${policy_api_key}",
    }
    home = f"++{JUDGE}.responses_api_models.openai_model"
    return [*(f"{home}.{name}={value}" for name, value in given.items()), f"++judge_server={JUDGE}"]


def asked_judge(resolved: Resolved, model: str | None) -> None:
    """Raise where a judge is named and no resources server of the config asks one."""
    from blade_gym.config.servers import RESOURCES, references

    asking = [one for one in resolved.instances if one.group == RESOURCES]
    named = {name for one in asking for _, _, name in references(one.config, one.key)}
    if model is not None and JUDGE not in named:
        raise RequestError(
            "no verifier of this config asks a judge",
            hint="leave out --judge-model; a resources server names one under judge_model_server",
        )


def composed(
    wanted: Mapping[str, str | None], config: Sequence[str] | None, search_dir: Sequence[str] | None, words: list[str]
) -> Resolved:
    """The config; raises one error that names everything that is wrong."""
    from blade.report.text import printable
    from blade_gym.config.load import resolve
    from blade_gym.config.roots import search_roots, selected

    roots = search_roots(search_dir or ())
    resolved = resolve([*(config or ()), *selected(wanted, roots)], words, roots)
    if not resolved.sources:
        raise RequestError("no config is named", hint="--benchmark, --resources-server, --model-type or --config")
    for notice in resolved.notices:
        print(printable(f"note: {notice}"), file=sys.stderr)
    return resolved
