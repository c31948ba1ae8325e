"""Where configs, prompts and data are looked for: given folders, then the current one, then what BLADE ships."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

VARIABLE = "NEMO_GYM_EXTRA_ROOTS"
GROUPS = ("benchmarks", "environments", "resources_servers", "responses_api_models", "responses_api_agents")


def search_roots(extra: Iterable[str | Path] = ()) -> tuple[Path, ...]:
    """Folders in the order in which they are asked; the first that has a file wins. No folder is named twice."""
    listed = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    roots = [*(Path(folder).expanduser() for folder in extra), *listed, Path.cwd(), shipped()]
    return tuple(dict.fromkeys(folder.resolve() for folder in roots))


def shipped() -> Path:
    """The folder that holds BLADE's own benchmarks: inside the package, or the checkout that it is run from."""
    inside = Path(__file__).parent.parent / "assets"
    return inside if inside.is_dir() else Path(__file__).parents[4]


def find(name: str | Path, roots: Sequence[Path]) -> Path | None:
    """The file of that name under the first root that has it; an absolute name is taken as it is."""
    return next((path for root in roots if (path := root / name).is_file()), None)


def place(name: str | Path, roots: Sequence[Path], *, beside: str | Path | None = None) -> Path:
    """Where a file is, or where it would be made: in the root that has `beside`, else in the first root."""
    found = find(name, roots)
    if found or beside is None:
        return found or roots[0] / name
    home = next((root for root in roots if (root / beside).is_file()), roots[0])
    return home / name
