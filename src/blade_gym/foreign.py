"""Python files that somebody else wrote: loading one by its path, and where in it an error came from."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from blade.model.errors import BladeError, RequestError


def loaded(path: Path, name: str) -> ModuleType:
    """The file as a module of that name, without leaving bytecode beside it; raises with the line that failed."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RequestError(f"{path} is not a Python file", hint="its name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    writes = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    except BladeError:
        raise
    except SyntaxError as error:
        raise RequestError(f"{path}:{error.lineno}: {error.msg}", hint="mend the file") from None
    except Exception as error:  # noqa: BLE001 - a file may raise anything
        raise RequestError(f"{place(error, path)}: {said(error)}", hint="the file cannot be loaded") from None
    finally:
        sys.dont_write_bytecode = writes
    return module


def said(error: BaseException) -> str:
    """The error in a line."""
    return f"{type(error).__name__}: {error}"


def place(error: BaseException, path: Path) -> str:
    """The line of the file that the error came through last; the file where it came through none of its lines."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno for frame in frames if Path(frame.filename) == path]
    return f"{path}:{own[-1]}" if own else str(path)
