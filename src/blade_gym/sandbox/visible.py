"""What of this machine a sandboxed process may see, all of it read-only: Python, system libraries, and named packages.

Packages are shown one by one: a folder of installed packages can hold the answers to a benchmark.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import msgspec

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of `blade_gym`; `blade`, whose errors it uses, stands beside it."""
INSIDE = PACKAGE / "sandbox" / "inside"
ASSETS = PACKAGE / "assets"
"""Where a wheel keeps benchmarks, answers included."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
_MORE = ("/etc/ld.so.cache", "/usr/share/zoneinfo")
_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9._-]+)[^;]*(;.*)?$")


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Paths as they are outside; they have the same names inside."""

    links: tuple[tuple[str, str], ...]
    system: tuple[str, ...]
    hidden: tuple[str, ...]
    """Folders below `system` that are shown empty."""
    shown: tuple[str, ...]
    """What is put back, and what else is shown."""
    path: tuple[str, ...]
    """For `sys.path`."""


def interpreter() -> str:
    """The Python that runs inside: the one under the virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def view(*, packages: Iterable[str] = (), reads: Iterable[str] = (), ours: bool = False) -> View:
    """What to show: packages by the names they are installed under, folders to read, and BLADE's own code if wanted."""
    links, system = _system()
    hidden = {str(folder) for root in system for folder in _package_folders(Path(root))}
    shown = {
        *map(str, (PACKAGE, PACKAGE.with_name("blade")) if ours else (INSIDE,)),
        *(os.path.realpath(path) for path in reads),
    }
    path = set()
    for name in packages:
        for folder, entry in _files_of(name):
            shown.add(str(folder / entry))
            path.add(str(folder))
    if ours and ASSETS.is_dir():
        hidden.add(str(ASSETS))
    return View(
        links=links,
        system=system,
        hidden=tuple(sorted(hidden)),
        shown=tuple(sorted(shown)),
        path=tuple(sorted(path)),
    )


@lru_cache(maxsize=1)
def _system() -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Links of the root folder, and what Python needs to start."""
    links = tuple((path, os.readlink(path)) for path in _LIBRARIES if path.count("/") == 1 and os.path.islink(path))
    linked = {link for link, _ in links}
    wanted = [path for path in (*_LIBRARIES, *_MORE) if path not in linked and os.path.exists(path)]
    multiarch = f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}"
    if os.path.isdir(multiarch):  # where all shared libraries are; the rest of /usr/lib belongs to other programs
        wanted = [multiarch if path == "/usr/lib" else path for path in wanted]
    found: list[str] = []
    for path in sorted({os.path.realpath(path) for path in (*wanted, *_python_files())}):
        if not any(Path(other) in Path(path).parents for other in found):
            found.append(path)
    return links, tuple(found)


def _python_files() -> Iterator[str]:
    """The interpreter, its standard library, and the shared libraries that are installed with it."""
    yield interpreter()
    yield from (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    libraries = Path(sys.base_prefix) / "lib"
    if libraries.is_relative_to("/usr"):
        yield from (str(path) for path in libraries.glob("libpython*.so*"))
    else:
        yield str(libraries)


def _package_folders(root: Path) -> Iterator[Path]:
    """Folders of installed packages below a folder of libraries, or in the standard library's own."""
    for pattern in ("site-packages", "dist-packages", "python*/site-packages", "python*/dist-packages"):
        yield from (path for path in root.glob(pattern) if path.is_dir() and not path.is_symlink())


@lru_cache(maxsize=64)
def _files_of(name: str) -> tuple[tuple[Path, str], ...]:
    """The top entries of a package and of everything it needs, each with the folder it is in."""
    found: dict[tuple[Path, str], None] = {}
    waiting, known = [name], set[str]()
    while waiting:
        wanted = waiting.pop().lower().replace("_", "-")
        if wanted in known:
            continue
        known.add(wanted)
        try:
            installed = distribution(wanted)
        except PackageNotFoundError:
            continue  # an optional one; what is really missing is told by the import
        found |= dict.fromkeys(_entries(installed))
        waiting += _requirements(installed)
    return tuple(found)


def _entries(installed: Distribution) -> Iterator[tuple[Path, str]]:
    folder = Path(os.path.realpath(str(installed.locate_file(""))))
    tops = {
        file.parts[0] for file in installed.files or () if file.parts and file.parts[0] not in ("..", "__pycache__")
    }
    yield from ((folder, top) for top in sorted(tops) if (folder / top).exists())


def _requirements(installed: Distribution) -> list[str]:
    """Names of what a package requires; extras are not followed."""
    matches = (_REQUIREMENT.match(line) for line in installed.requires or ())
    return [found.group(1) for found in matches if found and "extra ==" not in (found.group(2) or "")]
