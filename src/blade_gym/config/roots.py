"""Where configs, prompts and data are looked for: given folders, then the current one, then what BLADE ships."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

VARIABLE = "NEMO_GYM_EXTRA_ROOTS"
_INSIDE = Path(__file__).parent.parent / "assets"
GROUPS = ("benchmarks", "environments", "resources_servers", "responses_api_models", "responses_api_agents")


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
    found = find(name, roots if home is None else roots[: home + 1])
    if found:
        return found
    folder = roots[home or 0]
    return (Path.cwd() if folder == _INSIDE.resolve() else folder) / name
