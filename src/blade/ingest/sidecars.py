"""What stands beside the rollouts: numbers that a harness printed, configs, manifests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from blade.ingest import cells
from blade.ingest.decode import BAD_VALUE, Row, Unusable, decode_any, decode_whole
from blade.ingest.formats import RunFacts
from blade.ingest.jsonl import Torn, records, whole_bytes
from blade.model.rollout import Problem, RowSource
from blade.model.run import PublishedNumber, Stated

_SAMPLING = ("temperature", "top_p", "max_output_tokens", "num_repeats", "max_steps")
_OF_BLOCK = {
    "sampling": (
        "temperature",
        "top_p",
        "max_output_tokens",
        "top_k",
        "min_p",
        "reasoning_effort",
        "presence_penalty",
        "frequency_penalty",
        "repetition_penalty",
    ),
    "limits": ("max_steps", "rollout_seconds"),
}
"""What is read of the blocks of a manifest."""


class Sidecars(Struct, kw_only=True):
    """Numbers by agent (None where the sidecar names none), facts, and what could not be read."""

    stated: dict[str | None, list[Stated]] = field(default_factory=dict)
    facts: list[RunFacts] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_sidecars(paths: Mapping[str, Path], shown: Mapping[str, str]) -> Sidecars:
    """Everything that the sidecars of one rollouts file say; a broken one is a problem, not an error."""
    found = Sidecars()
    readers = (
        ("manifest", _manifest),
        ("config", _config),
        ("aggregate", _metrics),
        ("agent-metrics", _metrics),
        ("profile", _profile),
    )
    for role, read in readers:
        if role in paths:
            try:
                read(paths[role], shown[role], found)
            except (ValueError, OSError, Unusable, Torn, RecursionError, *BAD_VALUE) as error:
                first = str(error).split("\n", 1)[0] or type(error).__name__
                reason = f"the {role} sidecar cannot be read: {first}"
                found.problems.append(Problem(source=RowSource(artifact=shown[role]), reason=reason))
    return found


def _json(path: Path) -> Any:
    data = whole_bytes(path)
    try:
        return decode_any(data)
    except BAD_VALUE:
        return json.loads(data)  # NaN, which harnesses write for a mean of nothing


def _metrics(path: Path, shown: str, found: Sidecars) -> None:
    """Aggregate and agent metrics: a list with one entry an agent."""
    entries = _json(path)
    for entry in entries if isinstance(entries, list) else [entries]:
        if not isinstance(entry, dict):
            continue
        reference = entry.get("agent_ref")
        agent = cells.text(reference.get("name")) if isinstance(reference, dict) else None
        flat = entry.get("agent_metrics", entry)
        stated = found.stated.setdefault(agent, [])
        stated += [Stated(name=name, value=value, source=shown) for name, value in _numbers(flat)]
        groups = entry.get("group_level_metrics")
        for group in groups if isinstance(groups, list) else ():
            stated += _task_numbers(group, shown)


def _profile(path: Path, shown: str, found: Sidecars) -> None:
    """Reward profiling: a row a task; the older shape has no task index and says nothing that can be joined."""
    for record in records(path):
        if not record.data:
            continue
        row, _ = decode_whole(record.data)
        value = {name: decode_any(raw) for name, raw in row.items() if name not in ("sample", "rollout_infos")}
        found.stated.setdefault(_agent_of(row), []).extend(_task_numbers(value, shown))


def _agent_of(row: Row) -> str | None:
    sample = decode_any(row["sample"]) if "sample" in row else None
    reference = sample.get("agent_ref") if isinstance(sample, dict) else None
    return cells.text(reference.get("name")) if isinstance(reference, dict) else None


def _numbers(flat: object) -> Iterator[tuple[str, float]]:
    if isinstance(flat, dict):
        for name, item in flat.items():
            value = cells.number(item)
            if value is not None:
                yield name, value


def _task_numbers(group: object, shown: str) -> list[Stated]:
    index = cells.integer(group.get("_ng_task_index")) if isinstance(group, dict) else None
    mean = cells.number(group.get("mean/reward")) if isinstance(group, dict) else None
    if index is None or mean is None:
        return []
    return [Stated(name="mean/reward", value=mean, source=shown, index=index)]


def _manifest(path: Path, shown: str, found: Sidecars) -> None:
    value = _json(path)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    found.facts.append(
        RunFacts(
            benchmark=cells.text(value.get("benchmark")),
            model=cells.text(_inner(value, "model", "name")),
            agent=cells.text(value.get("agent")),
            settings=_manifest_settings(value),
            expected=_manifest_expected(value),
            absent=_manifest_absent(value.get("missing_tasks")),
            source="manifest",
            reported=_reported(value.get("reported")),
        )
    )


def _reported(value: object) -> tuple[PublishedNumber, ...]:
    """Published numbers that a manifest carries; an entry without a metric or a number is none."""
    found = []
    for entry in value if isinstance(value, list) else []:
        number = cells.number(entry.get("value")) if isinstance(entry, dict) else None
        metric, source, model = (
            cells.text(entry.get(key)) if isinstance(entry, dict) else None for key in ("metric", "source", "model")
        )
        if number is not None and metric:
            found.append(PublishedNumber(metric=metric, value=number, source=source or "", model=model or ""))
    return tuple(found)


def _inner(value: Mapping[str, Any], name: str, inside: str) -> Any:
    """A value that stands by itself, or within an object."""
    given = value.get(name)
    return given.get(inside) if isinstance(given, dict) else given


def _inside(value: Mapping[str, Any], name: str, inside: str) -> str | None:
    given = value.get(name)
    return cells.text(given.get(inside)) if isinstance(given, dict) else None


def _manifest_settings(value: Mapping[str, Any]) -> dict[str, str]:
    """Settings by the names that comparisons know; those that nobody recorded are left out."""
    found = {name: value.get(name) for name in _SAMPLING if name != "num_repeats"}  # the rows themselves tell that
    for block in ("sampling", "limits"):
        inner = value.get(block)
        found |= {name: inner[name] for name in _OF_BLOCK[block] if name in inner} if isinstance(inner, dict) else {}
    found["verifier"] = value.get("verifier")
    found["verifier_settings"] = value.get("verifier_settings")
    found["verifier_code"] = (_inside(value, "verifier_code", "sha256") or "")[:12]
    found["judge_model"] = _inside(value, "judge", "name")
    found["seed"] = "by repeat" if _inner(value, "seeds", "by_repeat") is True else None
    found["skills"] = _inner(value, "skills_ref", "hash") or ("none" if "skills_ref" in value else None)
    found["checkpoint"] = value["model"].get("checkpoint_ref") if isinstance(value.get("model"), dict) else None
    found["data_sha256"] = _one_of(value.get("dataset"), "sha256")
    found["split_name"] = value.get("split")
    # `gym eval run` writes whole requests, and rows are believed first: where none has tools, none were given.
    found["tools"] = "none" if "config_sha256" in value else None
    return {name: text for name, given in found.items() if (text := _setting(given)) is not None}


def _one_of(listed: object, name: str) -> str | None:
    """Short marks of what a manifest lists, joined."""
    entries = listed if isinstance(listed, list) else [listed]
    marks = [str(entry[name])[:12] for entry in entries if isinstance(entry, dict) and entry.get(name)]
    return ", ".join(marks) or None


def _setting(given: object) -> str | None:
    return str(given) if _plain(given) and str(given).strip() else None


def _manifest_expected(value: Mapping[str, Any]) -> dict[str, int] | None:
    ids = value.get("task_ids", value.get("tasks"))
    repeats = cells.integer(value.get("repeats", value.get("num_repeats", 1)))
    if not isinstance(ids, list) or not repeats:
        return None
    return {name: repeats for task in ids if (name := cells.name_text(task))}


def _manifest_absent(given: object) -> dict[str, int]:
    """Tasks of shards that were missing when the others were merged."""
    pairs = given.items() if isinstance(given, dict) else ()
    return {
        name: repeats for task, count in pairs if (name := cells.name_text(task)) and (repeats := cells.count(count))
    }


def _config(path: Path, shown: str, found: Sidecars) -> None:
    value = _yaml(path)
    datasets = [node for node in _nodes(value) if node.get("type") == "benchmark" and isinstance(node.get("name"), str)]
    settings = {name: str(node[name]) for node in _nodes(value) for name in _SAMPLING if _plain(node.get(name))}
    models = [node["policy_model_name"] for node in _nodes(value) if isinstance(node.get("policy_model_name"), str)]
    found.facts.append(
        RunFacts(
            benchmark=datasets[0]["name"] if datasets else None,
            model=models[0] if models else None,
            settings=settings,
        )
    )


def _yaml(path: Path) -> Any:
    """What a YAML file holds; ValueError when it holds none."""
    # It takes a while to load, and few runs have a config beside them.
    import yaml

    try:
        return yaml.safe_load(whole_bytes(path).decode())
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _plain(value: object) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def _nodes(value: object) -> Iterator[dict[str, Any]]:
    """Every map in the document, each once: a document may name a part of itself many times."""
    waiting, seen = [value], set[int]()
    while waiting:
        node = waiting.pop(0)
        if id(node) in seen or not isinstance(node, dict | list):
            continue
        seen.add(id(node))
        if isinstance(node, dict):
            yield node
        waiting = [*(node.values() if isinstance(node, dict) else node), *waiting]
