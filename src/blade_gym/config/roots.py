"""Where configs, prompts and data are looked for: given folders, then the current one, then what BLADE ships.

And which config a name stands for: `--benchmark NAME` and its kin.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from blade.model.errors import RequestError
from blade_gym.config.problem import suggestion

VARIABLE = "NEMO_GYM_EXTRA_ROOTS"
_INSIDE = Path(__file__).parent.parent / "assets"
FOLDERS = {
    "benchmark": "benchmarks",
    "environment": "environments",
    "resources_server": "resources_servers",
    "model_type": "responses_api_models",
    "agent_type": "responses_api_agents",
}
"""What a selector names, and the folder that holds it."""
_LISTINGS = {"benchmark": "benchmarks", "model_type": "models", "agent_type": "agents"}


def search_roots(extra: Iterable[str | Path] = ()) -> tuple[Path, ...]:
    """Folders in the order in which they are asked; the first that has a file wins. No folder is named twice."""
    listed = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    roots = [*(Path(folder).expanduser() for folder in extra), *listed, Path.cwd(), shipped()]
    return tuple(dict.fromkeys(folder.resolve() for folder in roots))


def shipped() -> Path:
    """The folder that holds BLADE's own benchmarks: inside the package, or the checkout that it is run from."""
    return _INSIDE if _INSIDE.is_dir() else Path(__file__).parents[3]


def find(name: str | Path, roots: Sequence[Path]) -> Path | None:
    """The file of that name under the first root that has it; an absolute name is taken as it is."""
    return next((path for root in roots if (path := root / name).is_file()), None)


def place(name: str | Path, roots: Sequence[Path], *, beside: str | Path | None = None) -> Path:
    """Where a file is, or where it would be made: in the root that has `beside`; never inside the installed package.

    A file of a root that comes after the one with `beside` belongs to another `beside`, and is not taken for this one.
    """
    home = next((index for index, root in enumerate(roots) if beside is not None and (root / beside).is_file()), None)
    path = find(name, roots if home is None else roots[: home + 1])
    if path:
        return path
    folder = roots[home or 0]
    return (Path.cwd() if folder == _INSIDE.resolve() else folder) / name


def selected(wanted: Mapping[str, str | None], roots: Sequence[Path]) -> list[str]:
    """The configs of `{"benchmark": "aime24", "model_type": "openai_model"}` in that order; raises for an unknown name."""
    return [config_path(kind, name, roots) for kind, name in wanted.items() if name]


def config_path(kind: str, name: str, roots: Sequence[Path]) -> str:
    """The config that `name` or `name/flavor` stands for, relative to the roots; raises with a suggestion."""
    candidates = []
    if kind in ("benchmark", "environment"):
        candidates += [f"{FOLDERS[kind]}/{name}/config.yaml", f"{FOLDERS[kind]}/{name}.yaml"]
    if kind != "benchmark":
        folder = FOLDERS["resources_server" if kind == "environment" else kind]
        first, _, flavor = name.partition("/")
        candidates.append(f"{folder}/{first}/configs/{flavor or first}.yaml")
    for candidate in candidates:
        if find(candidate, roots):
            return candidate
    listing = _LISTINGS.get(kind, f"{kind}s".replace("_", "-"))
    hint = suggestion(name, names(kind, roots)) or f"`gym list {listing}` names them"
    raise RequestError(f"no {kind.replace('_', ' ')} is called {name}", hint=hint)


def names(kind: str, roots: Sequence[Path]) -> list[str]:
    """Names that a selector takes, by the folders that are there."""
    pattern = "*/config.yaml" if kind in ("benchmark", "environment") else "*/configs/*.yaml"
    folders = [root / FOLDERS[kind] for root in roots]
    known = {path.relative_to(folder).parts[0] for folder in folders for path in folder.glob(pattern)}
    return sorted(known | (set(names("resources_server", roots)) if kind == "environment" else set()))
