"""Lines of JSON over pipes: how the processes of a sandbox talk, each line bounded."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LONGEST_LINE = 64 << 20
"""Bytes; a longer line is no message."""
IN, OUT = 3, 4
"""Where a job's messages come in and go out."""


class Link:
    """The messages of one job."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def send(self, message: Any) -> None:
        """Write a message, whole."""
        left = memoryview(json.dumps(message).encode() + b"\n")
        while left:
            left = left[os.write(OUT, left) :]

    def receive(self) -> Any:
        """The next message; None where there will be none."""
        searched = 0
        while True:
            end = self._waiting.find(b"\n", searched)
            if end >= 0:
                line = bytes(self._waiting[:end])
                del self._waiting[: end + 1]
                return json.loads(line)
            searched = len(self._waiting)
            more = os.read(IN, 1 << 20)
            if not more or len(self._waiting) > LONGEST_LINE:
                return None
            self._waiting += more


def allow_long_numbers() -> None:
    """Messages may hold numbers of more digits than Python reads by default."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(50_000)


@contextmanager
def usual_numbers() -> Iterator[None]:
    """Numbers of as many digits as Python reads by default, so that a published checker says what it says elsewhere."""
    if not hasattr(sys, "set_int_max_str_digits"):
        yield
        return
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(sys.int_info.default_max_str_digits)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)
