"""What a published solution gives for inputs. A program of its own: it runs in a sandbox, reads a request and prints."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

STEPS = 20_000
"""Lines that one call may run."""
LONGEST = 300
"""Characters of a result, written down."""


def main() -> None:
    """Print, for each input, the result as a literal; null where the function raises, dawdles or gives no value."""
    asked = json.load(sys.stdin)
    scope: dict[str, Any] = {"__name__": "solution"}
    exec(compile(asked["program"], "<solution>", "exec"), scope)  # noqa: S102 - a published solution, in a sandbox
    said = [_result(scope[asked["entry"]], text) for text in asked["inputs"]]
    sys.stdout.write("\n" + json.dumps(said))


def _result(function: Any, text: str) -> str | None:
    said = []
    for _ in range(2):
        try:
            with _steps(STEPS):
                said.append(repr(function(*ast.literal_eval(text))))
        except (Exception, RecursionError):  # noqa: BLE001 - an input that it does not take is no test
            return None
    return said[0] if said[0] == said[1] and len(said[0]) <= LONGEST and _is_literal(said[0]) else None


def _is_literal(text: str) -> bool:
    """Whether a text is a value that every process writes in the same way: not one with a set, whose order is its own."""
    try:
        if any(isinstance(node, ast.Set) for node in ast.walk(ast.parse(text, mode="eval"))):
            return False
        return repr(ast.literal_eval(text)) == text
    except (ValueError, SyntaxError, RecursionError):
        return False


class _TooLong(Exception):
    """A call that takes more steps than a test should."""


@contextmanager
def _steps(most: int) -> Iterator[None]:
    """Lines are counted, not seconds: which inputs become tests must not depend on the machine."""
    left = most

    def count(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal left
        left -= event == "line"
        if left < 0:
            raise _TooLong
        return count

    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(None)


if __name__ == "__main__":
    main()
