"""Words of the command line that nothing reads: a typo must not pass for a setting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from blade_gym.config.interpolate import SECRET
from blade_gym.config.problem import ConfigProblem, suggestion
from blade_gym.config.servers import AGENTS, LENIENT, MODELS, instances
from blade_gym.config.tree import Tree, leaves, parts
from blade_gym.config.unserved import UNSERVED

PARAMS = (
    "background",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "reasoning",
    "service_tier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
    "stream",
)
"""What the Responses API takes."""
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "agent_name": (),
    "default_host": (),
    "disable_aggregation": (),
    "disallowed_ports": (),
    LENIENT: (),
    "head_server": ("host", "port"),
    "input_jsonl_fpath": (),
    "judge_server": (),
    "limit": (),
    "max_request_mb": (),
    "num_prepare_benchmark_processes": (),
    "num_repeats": (),
    "num_repeats_add_seed": (),
    "num_samples_in_parallel": (),
    "output_jsonl_fpath": (),
    "overwrite": (),
    "port_range_high": (),
    "port_range_low": (),
    "prepare_script_args": (),
    "prompt_config": (),
    "responses_create_params": PARAMS,
    "resume_from_cache": (),
    "reuse_existing_data_preparation": (),
    "shard": (),
    "skills": ("path",),
    "skip_verification": (),
    "split": (),
    "use_cached_prepared_benchmarks": (),
    **dict.fromkeys(UNSERVED, ()),
}
"""Keys at the top of a config that some command acts on, with the keys below them; none where anything may stand there."""
_SERVER = ("entrypoint", "description", "host", "port")
KEYS: Mapping[tuple[str, str], tuple[str, ...]] = {
    (AGENTS, "simple_agent"): (
        *_SERVER,
        "resources_server",
        "model_server",
        "max_steps",
        "rollout_timeout_seconds",
        "datasets",
        "category",
        "offline",
        "requires",
        "harness",
        "verifier",
        "reported",
        "domain",
    ),
    **{
        (MODELS, kind): (*_SERVER, *names, "max_tries", "retry_seconds", "checkpoint_ref")
        for kind, names in {
            "openai_model": (
                "openai_base_url",
                "openai_api_key",
                "openai_model",
                "base_url",
                "api_key",
                "model",
                "api",
                "timeout_seconds",
                "extra_body",
            ),
            "vllm_model": ("base_url", "api_key", "model", "api", "timeout_seconds", "extra_body"),
            "local_model": ("path", "model", "threads", "context"),
            "replay_model": ("replay_path",),
            "scripted_model": ("policy",),
        }.items()
    },
}
"""Keys of servers whose code is here; a resources server reads what its own code asks for."""
NEEDED = {"policy_model_name": "--model", "policy_base_url": "--model-url"}
"""Values that name what is evaluated: given and not read, the run would be of something else."""
_REFERENCE = re.compile(r"\$\{\s*([A-Za-z_]\w*)")


def unread(words: Iterable[str], before: Iterable[str], tree: Tree) -> tuple[list[str], list[ConfigProblem]]:
    """A notice for each `+` word that changes nothing, with the nearest name that would; a problem where that matters.

    `before` are the keys at the top of the config without the words, `tree` the config with them, its references open.
    """
    servers = {one.name: one for one in instances(tree)}
    read = {*SETTINGS, *before, *servers, *_referred(tree), SECRET}
    notices, problems = [], []
    for word in words:
        keys = parts(word.lstrip("+").partition("=")[0])
        if not word.startswith("+") or not keys:
            continue
        if keys[0] in NEEDED and keys[0] not in _referred(tree):
            problems.append(_of_no_use(keys[0], tree))
            continue
        lost = next(_lost(keys, read, servers), None)
        notices += [f"{word}: nothing reads {lost}"] if lost else []
    return notices, list(dict.fromkeys(problems))


def _lost(keys: Sequence[str], read: set[str], servers: Mapping[str, Any]) -> Iterator[str]:
    """The key that nothing reads, with what may have been meant."""
    if keys[0] not in read:
        yield _named(keys[0], keys[0], sorted(read))
        return
    inner = SETTINGS.get(keys[0], ())
    if inner and len(keys) > 1 and keys[1] not in inner:
        yield _named(".".join(keys[:2]), keys[1], inner)
    known = KEYS.get((keys[1], keys[2]), ()) if keys[0] in servers and len(keys) > 3 else ()
    if known and keys[3] not in (*known, *_of_references(servers[keys[0]].config)):
        yield _named(".".join(keys[:4]), keys[3], known)


def _of_references(config: Mapping[str, Any]) -> list[str]:
    return [str(key) for key, value in config.items() if isinstance(value, Mapping) and "name" in value]


def _named(shown: str, name: str, known: Sequence[str]) -> str:
    near = suggestion(name, known)
    return f"{shown}; {near}" if near else shown


def _referred(tree: Tree) -> set[str]:
    """Keys at the top that some value of the tree refers to."""
    return {name for _, value in leaves(tree) if isinstance(value, str) for name in _REFERENCE.findall(value)}


def _of_no_use(key: str, tree: Tree) -> ConfigProblem:
    kinds = ", ".join(one.type for one in instances(tree) if one.group == MODELS)
    message = f"is given, and {kinds or 'no model'} takes no {NEEDED[key]}"
    hint = f"leave out {NEEDED[key]}" if kinds else "--model-type NAME adds a model; `gym list models` names them"
    return ConfigProblem(kind="override", key=key, message=message, hint=hint)
