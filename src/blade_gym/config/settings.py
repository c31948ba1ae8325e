"""Keys at the top of a config: what commands act on, what is refused, and words of the command line that nothing reads.

A typo must not pass for a setting, and a setting that nobody serves must not be taken in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from blade.model.errors import RequestError
from blade_gym.config.compose import Tree, leaves, parts
from blade_gym.config.problem import ConfigProblem, suggestion
from blade_gym.config.servers import AGENTS, LENIENT, MODELS, Instance, instances
from blade_gym.config.values import SECRET

_UPLOAD = ("rollouts are written to files and never uploaded", "leave it out, and upload --output yourself")
_CAPTURE = ("calls are not captured apart from the rollout", "leave it out: response.output of a row holds every step")
UNSERVED: Mapping[str, tuple[str, str]] = {
    "upload_rollouts": _UPLOAD,
    "upload_rollouts_to_wandb": _UPLOAD,
    "rollout_collection_driver": (
        "a driver is code for the inside of NeMo Gym, and rollouts are collected here by `gym eval run` alone",
        "leave it out; where a driver chose rows from earlier results, run twice with an --input each",
    ),
    "skip_verification_reward": (
        "a reward that no verifier gave would be read as one",
        "leave it out: +skip_verification=true writes rows without a reward, and `gym eval reverify` gives them theirs",
    ),
    "observability_enabled": _CAPTURE,
    "model_call_capture_dir": _CAPTURE,
    "token_id_capture": (
        "token ids are not captured",
        "leave it out; `++MODEL.extra_body` asks an endpoint for what it can give",
    ),
    "dry_run": ("a run is not tried without running", "`gym env validate` checks the same config"),
}
"""Keys that NeMo Gym acts on and that are refused here: why, and what to do instead."""
PARAMS = (
    *("input", "instructions", "prompt", "previous_response_id", "include", "metadata", "model", "reasoning", "text"),
    *("temperature", "top_p", "top_logprobs", "max_output_tokens", "truncation"),
    *("tools", "tool_choice", "parallel_tool_calls", "max_tool_calls"),
    *("background", "service_tier", "store", "stream", "user"),
)
"""What the Responses API takes."""
_FREE = (
    *("default_host", "disallowed_ports", "port_range_low", "port_range_high", "max_request_mb", LENIENT),
    *("agent_name", "judge_server", "skip_verification", "disable_aggregation"),
    *("input_jsonl_fpath", "output_jsonl_fpath", "overwrite", "resume_from_cache", "shard", "split", "limit"),
    *("num_repeats", "num_repeats_add_seed", "num_samples_in_parallel", "num_prepare_benchmark_processes"),
    *("prompt_config", "prepare_script_args", "reuse_existing_data_preparation", "use_cached_prepared_benchmarks"),
)
SETTINGS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((*_FREE, *UNSERVED), ()),
    "head_server": ("host", "port"),
    "responses_create_params": PARAMS,
    "skills": ("path",),
}
"""Keys at the top of a config that some command acts on, with the keys below them; none where anything may stand there."""
_SERVER = ("entrypoint", "description", "host", "port")
_MODEL = (*_SERVER, "max_tries", "retry_seconds", "checkpoint_ref")
_ENDPOINT = (*_MODEL, "base_url", "api_key", "model", "api", "timeout_seconds", "extra_body")
KEYS: Mapping[tuple[str, str], tuple[str, ...]] = {
    (AGENTS, "simple_agent"): (
        *(*_SERVER, "resources_server", "model_server", "max_steps", "rollout_timeout_seconds", "datasets"),
        *("category", "offline", "requires", "harness", "verifier", "reported", "domain"),
    ),
    (MODELS, "openai_model"): (*_ENDPOINT, "openai_base_url", "openai_api_key", "openai_model"),
    (MODELS, "vllm_model"): _ENDPOINT,
    (MODELS, "local_model"): (*_MODEL, "path", "model", "threads", "context"),
    (MODELS, "replay_model"): (*_MODEL, "replay_path"),
    (MODELS, "scripted_model"): (*_MODEL, "policy"),
}
"""Keys of servers whose code is here; a resources server reads what its own code asks for."""
NEEDED = {"policy_model_name": "--model", "policy_base_url": "--model-url"}
"""Values that name what is evaluated: given and not read, the run would be of something else."""
_REFERENCE = re.compile(r"\$\{\s*([A-Za-z_]\w*)")


def unread(words: Iterable[str], before: Iterable[str], tree: Tree) -> tuple[list[str], list[ConfigProblem]]:
    """A notice for each `+` word that changes nothing, with the nearest name that would; a problem where that matters.

    `before` are the keys at the top of the config without the words, `tree` the config with them, its references open.
    """
    servers = {instance.name: instance for instance in instances(tree)}
    referred = {name for value in leaves(tree) if isinstance(value, str) for name in _REFERENCE.findall(value)}
    read = {*SETTINGS, *before, *servers, *referred, SECRET}
    notices, problems = [], []
    for word in words:
        keys = parts(word.lstrip("+").partition("=")[0])
        if not word.startswith("+") or not keys:
            continue
        if keys[0] in NEEDED and keys[0] not in referred:
            kinds = ", ".join(instance.type for instance in servers.values() if instance.group == MODELS)
            message = f"is given, and {kinds or 'no model'} takes no {NEEDED[keys[0]]}"
            hint = (
                f"leave out {NEEDED[keys[0]]}"
                if kinds
                else "--model-type NAME adds a model; `gym list models` names them"
            )
            problems.append(ConfigProblem(kind="override", key=keys[0], message=message, hint=hint))
        elif depth_and_known := _unread_key(keys, read, servers):
            depth, known = depth_and_known
            near = suggestion(keys[depth], known)
            notices.append(f"{word}: nothing reads {'.'.join(keys[: depth + 1])}" + (f"; {near}" if near else ""))
    return notices, list(dict.fromkeys(problems))


def _unread_key(
    keys: Sequence[str], read: set[str], servers: Mapping[str, Instance]
) -> tuple[int, Sequence[str]] | None:
    """Which of the keys nothing reads, with those that may have been meant."""
    if keys[0] not in read:
        return 0, sorted(read)
    inner = SETTINGS.get(keys[0], ())
    if inner and len(keys) > 1 and keys[1] not in inner:
        return 1, inner
    known = KEYS.get((keys[1], keys[2]), ()) if keys[0] in servers and len(keys) > 3 else ()
    if not known:
        return None
    config = servers[keys[0]].config
    referring = [str(key) for key, value in config.items() if isinstance(value, Mapping) and "name" in value]
    return None if keys[3] in (*known, *referring) else (3, known)


def refuse_unserved(config: Mapping[str, Any]) -> None:
    """Raise for keys at the top of a config that ask for what is not done; false, null and nothing ask for nothing."""
    asked = [name for name in UNSERVED if config.get(name) not in (None, False, "")]
    if asked:
        raise RequestError(
            "; ".join(f"{name} is not served: {UNSERVED[name][0]}" for name in asked),
            hint="; ".join(dict.fromkeys(UNSERVED[name][1] for name in asked)),
        )
