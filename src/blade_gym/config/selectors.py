"""`--benchmark NAME` and its kin: which config a name stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from blade.model.errors import RequestError
from blade_gym.config.problem import suggestion
from blade_gym.config.roots import find

FOLDERS = {
    "benchmark": "benchmarks",
    "environment": "environments",
    "resources_server": "resources_servers",
    "model_type": "responses_api_models",
    "agent_type": "responses_api_agents",
}


def selected(wanted: Mapping[str, str | None], roots: Sequence[Path]) -> list[str]:
    """The configs of `{"benchmark": "aime24", "model_type": "openai_model"}` in that order; raises for an unknown name."""
    return [config_path(kind, name, roots) for kind, name in wanted.items() if name]


def config_path(kind: str, name: str, roots: Sequence[Path]) -> str:
    """The config that `name` or `name/flavor` stands for, relative to the roots; raises with a suggestion."""
    for candidate in _candidates(kind, name):
        if find(candidate, roots):
            return candidate
    known = names(kind, roots)
    what = kind.replace("_", " ")
    listing = {"benchmark": "benchmarks", "model_type": "models", "agent_type": "agents"}
    hint = suggestion(name, known) or f"`gym list {listing.get(kind, f'{kind}s'.replace('_', '-'))}` names them"
    raise RequestError(f"no {what} is called {name}", hint=hint)


def _candidates(kind: str, name: str) -> list[str]:
    folder = FOLDERS[kind]
    first, _, flavor = name.partition("/")
    if kind in ("benchmark", "environment"):
        own = [f"{folder}/{name}/config.yaml", f"{folder}/{name}.yaml"]
        return own if kind == "benchmark" else [*own, *_candidates("resources_server", name)]
    return [f"{folder}/{first}/configs/{flavor or first}.yaml"]


def names(kind: str, roots: Sequence[Path]) -> list[str]:
    """Names that a selector takes, by the folders that are there."""
    pattern = "*/config.yaml" if kind in ("benchmark", "environment") else "*/configs/*.yaml"
    found = {path.relative_to(root / FOLDERS[kind]).parts[0] for root in roots for path in _files(root, kind, pattern)}
    return sorted(found | (set(names("resources_server", roots)) if kind == "environment" else set()))


def _files(root: Path, kind: str, pattern: str) -> list[Path]:
    return list((root / FOLDERS[kind]).glob(pattern))
