"""What Python itself can refuse, by audit hooks, which cannot be removed again.

They stop accidents and careless code. Code that looks for a way around an audit hook finds one: only the kernel's
isolation holds against that.
"""

from __future__ import annotations

import os
import re
import sys
from types import CodeType
from typing import Any

_REFUSED = (
    "socket.",
    "subprocess.",
    "os.fork",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.kill",
    "os.chroot",
    "pty.",
    "signal.pthread_kill",
    "syslog.",
)
_CHANGES = frozenset(
    ("remove", "rename", "rmdir", "mkdir", "link", "symlink", "truncate", "chmod", "chown", "utime", "setxattr")
)
_TWO_PATHS = frozenset(("rename", "link", "symlink"))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Refused(PermissionError):
    """Something that a model's program may not do."""


def keep_inside(folder: str) -> None:
    """Refuse, from now on, other programs, sockets, signals, and changes to files outside the folder."""
    own = os.path.realpath(folder) + os.sep

    def outside(path: object) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        named = os.fsdecode(path)
        return named != os.devnull and not (os.path.realpath(named) + os.sep).startswith(own)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(_REFUSED):
            raise Refused(f"a model's program may not use {event}")
        if any(outside(path) for path in _changed(event, arguments)):
            raise Refused("a model's program may not change files outside its folder")

    sys.addaudithook(hook)


def _changed(event: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The paths that an event is about to change."""
    if event == "open" and len(arguments) > 2 and isinstance(arguments[2], int) and arguments[2] & _WRITING:
        return arguments[:1]
    family, _, function = event.partition(".")
    if family != "os" or function not in _CHANGES:
        return ()
    return arguments[: 2 if function in _TWO_PATHS else 1]


# What libraries of mathematics build from an answer and evaluate: numbers, symbols and functions of them.
_ARITHMETIC = frozenset(
    re.findall(
        r"\w+",
        """
        Integer Float Rational Symbol Function Add Mul Pow Tuple Abs abs Min Max Mod sign floor ceiling round sqrt
        cbrt root exp log ln sin cos tan cot sec csc asin acos atan acot asec acsc atan2 sinh cosh tanh coth sech
        csch asinh acosh atanh acoth asech acsch pi oo zoo nan factorial factorial2 binomial gamma erf erfi erfc
        gcd lcm Eq Ne Lt Le Gt Ge And Or Not re im conjugate arg LambertW Heaviside DiracDelta Piecewise
        Derivative Integral Sum Product Limit True False
        """,
    )
)
_TRUSTED_MAKERS = ("dataclasses.py", "collections" + os.sep + "__init__.py", "typing.py", "enum.py", "functools.py")


class AnswerIsCode(PermissionError):
    """An answer that a library was about to run as code."""


def forbid_evaluation() -> None:
    """From now on in this process, text that is evaluated as Python is arithmetic, or is refused before it runs.

    Some libraries read an answer with `eval`. Modules still load, and the standard library still makes its classes.
    """

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "exec" and isinstance(arguments[0], CodeType):
            code = arguments[0]
            if code.co_filename.startswith("<") and not code.co_filename.startswith("<frozen"):
                _refuse_code(code, sys._getframe(1).f_code.co_filename)

    sys.addaudithook(hook)


def _refuse_code(code: CodeType, caller: str) -> None:
    if caller.endswith(_TRUSTED_MAKERS):
        return
    if caller.endswith("sympy_parser.py") and code.co_names == ("sympy",) and ("*",) in code.co_consts:
        return  # how sympy's parser collects the names it knows
    strange = [name for name in code.co_names if name not in _ARITHMETIC and len(name) > 1]
    if strange or any(isinstance(value, CodeType) for value in code.co_consts):
        raise AnswerIsCode("the answer is code, not a value")
