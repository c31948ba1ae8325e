"""Python files of `benchmarks/` and `resources_servers/`: loading one with its neighbors, and where an error came from."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType

from blade.model.errors import BladeError, RequestError


def import_file(path: Path) -> ModuleType:
    """The file as a module, read anew, without leaving bytecode beside it; whatever it raises is raised.

    It imports the other files of its folder by their place (`from .world import Game`): the folder is its package.
    """
    # Folders of two search roots may have one name, so their packages are told apart by the whole path.
    digest = hashlib.sha256(str(path.parent.resolve()).encode()).hexdigest()[:8]
    package = ModuleType(f"blade_gym_{re.sub(r'[^0-9A-Za-z]', '_', path.parent.name)}_{digest}")
    package.__path__ = [str(path.parent)]
    spec = importlib.util.spec_from_file_location(f"{package.__name__}.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise RequestError(f"{path} is not a Python file", hint="its name ends in .py")
    for name in [name for name in sys.modules if name.partition(".")[0] == package.__name__]:
        del sys.modules[name]
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its own module up while it is made.
    sys.modules |= {package.__name__: package, spec.name: module}
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writes
    return module


def load_file(path: Path) -> ModuleType:
    """`import_file`, where all that may go wrong is one message with the line that failed."""
    try:
        return import_file(path)
    except BladeError:
        raise
    except SyntaxError as error:
        raise RequestError(f"{error.filename or path}:{error.lineno}: {error.msg}", hint="mend the file") from None
    except Exception as error:  # noqa: BLE001 - a file may raise anything
        raise RequestError(
            f"{where_raised(error, path)}: {error_line(error)}", hint="the file cannot be loaded"
        ) from None


def error_line(error: BaseException) -> str:
    """The error in a line."""
    return f"{type(error).__name__}: {error}"


def where_raised(error: BaseException, path: Path) -> str:
    """The line of the file, or of its neighbors, that the error came through last; the file where it came through none."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(path.parent)]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else str(path)
