"""What judges, as marks of its code: the files of a resources server, the modules that they import, and packages by version.

Nothing is run or imported to find out. Files that the code opens by name are seen only in the server's own folder.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from blade import files
from blade_gym.config.roots import find
from blade_gym.config.servers import RESOURCES, Instance
from blade_gym.sandbox import walls

_BESIDE = ("prepare.py", "policies.py")
"""What makes tasks and what plays them, with the files that only these import."""
_NOT_JUDGING = ("data", "configs", "tests", "__pycache__", "README.md")
"""What stands beside an `app.py` and gives no verdict; data and configs have marks of their own."""
_MARK = 16
_OURS = {"blade", "blade_gym"}
_HOLDS_VALUES = {"msgspec"}
"""What a verdict is kept in does not decide it."""
Code = Mapping[str, Mapping[str, str]]
"""`files` by name with the start of their sha256, and `packages` with their version."""


def code_of(servers: Sequence[Instance], roots: Sequence[Path]) -> Code:
    """The code of some resources servers; of those that have no `app.py` here nothing is said."""
    marks: dict[str, str] = {}
    packages: set[str] = set()
    for one in servers:
        entry = find(f"{RESOURCES}/{one.type}/{one.config.get('entrypoint') or 'app.py'}", roots)
        for shown, path in _of_server(one.type, entry) if entry else ():
            marks[shown] = files.sha256(path)[:_MARK]
            if path.suffix == ".py":
                packages |= _followed(path, marks)
    return {"files": dict(sorted(marks.items())), "packages": _versions(packages)}


def joined(codes: Sequence[Code]) -> Code:
    """Several as one."""
    return {
        kind: dict(sorted((name, mark) for code in codes for name, mark in code.get(kind, {}).items()))
        for kind in ("files", "packages")
    }


def sha256(code: Code) -> str:
    """One mark of everything."""
    lines = [f"{kind}\0{name}\0{mark}\n" for kind in sorted(code) for name, mark in sorted(code[kind].items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def recorded(code: Code | None) -> dict[str, Any] | None:
    """The code as a manifest keeps it, and whether programs ran without a sandbox; None where nobody says what judges."""
    unsafe = {"unsafe_sandbox": True} if walls.unsafe() else {}
    return {"sha256": sha256(code), **code, **unsafe} if code and code["files"] else None


def _of_server(kind: str, entry: Path) -> Iterator[tuple[str, Path]]:
    """The server's own files, by the names that a config gives them."""
    folder = entry.parent
    idle = {path for name in _BESIDE for path in (folder / name, *_neighbors(folder / name))} - _neighbors(entry)
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in inner.parts)
        if path.is_file() and not hidden and path not in idle and not set(inner.parts) & set(_NOT_JUDGING):
            yield f"{RESOURCES}/{kind}/{inner.as_posix()}", path


def _neighbors(path: Path) -> set[Path]:
    """The files that a file imports by their place in its folder, however far."""
    waiting, found = [path], set[Path]()
    while waiting:
        file = waiting.pop()
        for node in ast.walk(_tree(file)):
            if isinstance(node, ast.ImportFrom) and node.level:
                home = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                modules = [home, *(home / alias.name for alias in node.names)]
                files = {one for stem in modules for one in (stem.with_suffix(".py"), stem / "__init__.py")}
                new = {one for one in files if one.is_file()} - found
                found |= new
                waiting += new
    return found


def _followed(path: Path, marks: dict[str, str]) -> set[str]:
    """Mark every module that a file imports, however far, where its source is at hand; gives the packages it stops at."""
    waiting, packages = [path], set[str]()
    while waiting:
        for name in _imports(waiting.pop()):
            top = name.partition(".")[0]
            home = _home(top)
            if home is None:
                packages |= {top} - sys.stdlib_module_names - _OURS - _HOLDS_VALUES
            elif (source := _module(home, name)) and (shown := source.relative_to(home).as_posix()) not in marks:
                marks[shown] = files.sha256(source)[:_MARK]
                waiting.append(source)
    return packages


def _imports(path: Path) -> Iterator[str]:
    """Modules that a file names, and names that may be modules; none where it is no Python."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _tree(path: Path) -> ast.Module:
    """The file's code; empty where it is not there, or is no Python."""
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _home(top: str) -> Path | None:
    """The folder that holds a package or module whose source is followed: BLADE's own, and what is not installed."""
    if top in sys.stdlib_module_names:
        return None
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    home = Path(spec.origin).parent.parent if spec.submodule_search_locations else Path(spec.origin).parent
    installed = {"site-packages", "dist-packages"} & set(home.parts)
    return home if top in _OURS or not installed else None


def _module(home: Path, name: str) -> Path | None:
    """The file of a module; None for a name that is none, and for what BLADE has beside its benchmark layer."""
    if name.partition(".")[0] == "blade":
        return None
    inside = home.joinpath(*name.split("."))
    return next((path for path in (inside.with_suffix(".py"), inside / "__init__.py") if path.is_file()), None)


def _versions(names: set[str]) -> dict[str, str]:
    if not names:
        return {}
    known = packages_distributions()
    found = {}
    for name in sorted({one for top in names for one in known.get(top, ())}):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
