"""The model that an instance of a config stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym.config.roots import find
from blade_gym.config.servers import Instance
from blade_gym.models.local_model import ANSWER, CONTEXT, NAME, SAMPLING, SLOTS, LocalModel
from blade_gym.models.model import Model
from blade_gym.models.openai_model import SECONDS, OpenAIModel, extra_body
from blade_gym.models.replay import ReplayModel
from blade_gym.models.retries import Patience, PatientModel
from blade_gym.models.scripted import scripted

LOCAL = ("local_model", "replay_model", "scripted_model")
"""Types that need no address; their repeats are told apart by seeds without being asked."""
SAMPLED = ("temperature", "top_p", "max_output_tokens")
_SENT = ("top_k", "min_p", "reasoning_effort", "presence_penalty", "frequency_penalty", "repetition_penalty")
_ALSO = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
LEFT, NOT_DRAWN = "the endpoint's default", "not drawn"
"""What is recorded where nothing is sent."""
_DRAWN = {"local_model": {**SAMPLING, "max_output_tokens": ANSWER}}
MOST_AT_ONCE = {"local_model": SLOTS}
"""Rollouts under way at once, where a type does best with few."""


def make_model(instance: Instance, roots: Sequence[Path]) -> Model:
    """A model that is asked again where that may help; raises for a type or a value that is none."""
    makers: dict[str, Callable[[Mapping[str, Any], Sequence[Path]], Model]] = {
        "openai_model": _openai,
        "vllm_model": _vllm,
        "local_model": _local,
        "replay_model": _replay,
        "scripted_model": scripted,
    }
    if instance.type not in makers:
        raise RequestError(f"no model type is called {instance.type}", hint=f"known: {', '.join(makers)}")
    model = makers[instance.type](instance.config, roots)
    _, tries = limits_of_model(instance)
    given = instance.config.get("retry_seconds")
    patience = Patience(tries=tries) if given is None else Patience(tries=tries, first=float(given))
    return PatientModel(model, patience)


def limits_of_model(instance: Instance) -> tuple[float | None, int]:
    """Seconds that an answer may take, None where nobody is waited for; and tries of a request."""
    given = instance.config.get("timeout_seconds")
    fixed = {"local_model": SECONDS, "replay_model": None, "scripted_model": None}
    seconds = fixed[instance.type] if instance.type in fixed else float(given or SECONDS)
    return seconds, int(instance.config.get("max_tries") or Patience().tries)


def sampling_of(instance: Instance | None, params: Mapping[str, Any]) -> dict[str, Any]:
    """How the answers to a request are drawn: what is sent, and in words what is left to the model."""
    extra = instance.config.get("extra_body") if instance and instance.type not in LOCAL else None
    reasoning = params.get("reasoning")
    sent = {
        **(_DRAWN.get(instance.type, {}) if instance else {}),
        **({"reasoning_effort": reasoning.get("effort")} if isinstance(reasoning, Mapping) else {}),
        **{name: value for name, value in params.items() if value is not None},
        **extra_body(params.get("metadata")),
        **(extra if isinstance(extra, Mapping) else {}),
    }
    named = {_ALSO.get(name, name): value for name, value in sent.items() if value is not None}
    found = {name: named[name] for name in (*SAMPLED, *_SENT) if name in named}
    left = NOT_DRAWN if instance and instance.type in ("replay_model", "scripted_model") else LEFT
    return {**dict.fromkeys(SAMPLED, left), **found}


def address(config: Mapping[str, Any]) -> str | None:
    """The endpoint's address, under either name."""
    given = config.get("openai_base_url") or config.get("base_url")
    return str(given[0] if isinstance(given, list) and given else given) if given else None


def model_name(instance: Instance) -> str | None:
    """What the config calls the model; None where it leaves that to the model itself."""
    config = instance.config
    given = config.get("openai_model") or config.get("model") or config.get("policy")
    return str(given) if given else NAME if instance.type == "local_model" else None


def _openai(config: Mapping[str, Any], roots: Sequence[Path], api: str = "auto") -> Model:
    url = address(config)
    if not url:
        raise RequestError("the model has no address", hint="give --model-url, or policy_base_url in env.yaml")
    extra = config.get("extra_body")
    return OpenAIModel(
        url=url,
        name=str(config.get("openai_model") or config.get("model") or ""),
        key=str(config.get("openai_api_key") or config.get("api_key") or ""),
        api=str(config.get("api") or api),
        seconds=float(config.get("timeout_seconds") or SECONDS),
        extra=extra if isinstance(extra, Mapping) else None,
    )


def _vllm(config: Mapping[str, Any], roots: Sequence[Path]) -> Model:
    return _openai(config, roots, api="chat")


def _local(config: Mapping[str, Any], roots: Sequence[Path]) -> Model:
    path = config.get("path")
    return LocalModel(
        path=Path(str(path)) if path else None,
        name=str(config.get("model") or NAME),
        threads=int(config["threads"]) if config.get("threads") else None,
        context=int(config.get("context") or CONTEXT),
    )


def _replay(config: Mapping[str, Any], roots: Sequence[Path]) -> Model:
    given = config.get("replay_path") or []
    names = [str(name) for name in (given if isinstance(given, list) else [given])]
    return ReplayModel([find(name, roots) or Path(name) for name in names])
