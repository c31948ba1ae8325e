"""From the options that name configs and models to a resolved config."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from blade.core.errors import RequestError

if TYPE_CHECKING:
    from blade.gym.config.load import Resolved

KEY_VARIABLE = "POLICY_API_KEY"
_NAMED = {"scripted_model": "policy", "replay_model": "replay_path"}
"""What `--model` names of models that have no server."""


def model_overrides(model_type: str | None, model: str | None, url: str | None, key: str | None) -> list[str]:
    """The model's options as the overrides that they stand for; a key may also come from the environment."""
    key = key if key is not None else os.environ.get(KEY_VARIABLE)
    given = {"policy_model_name": model, "policy_base_url": url, "policy_api_key": key}
    words = [f"++{name}={value}" for name, value in given.items() if value is not None]
    kind = (model_type or "").partition("/")[0]
    if model is not None and kind in _NAMED:
        words.append(f"++policy_model.responses_api_models.{kind}.{_NAMED[kind]}={model}")
    return words


def composed(
    wanted: Mapping[str, str | None], config: Sequence[str] | None, search_dir: Sequence[str] | None, words: list[str]
) -> Resolved:
    """The config; raises one error that names everything that is wrong."""
    from blade.gym.config.load import resolve
    from blade.gym.config.roots import search_roots
    from blade.gym.config.selectors import selected
    from blade.report.text import printable

    roots = search_roots(search_dir or ())
    resolved = resolve([*(config or ()), *selected(wanted, roots)], words, roots)
    if not resolved.sources:
        raise RequestError("no config is named", hint="--benchmark, --resources-server, --model-type or --config")
    for notice in resolved.notices:
        print(printable(f"note: {notice}"), file=sys.stderr)
    return resolved
