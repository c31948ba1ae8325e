"""Uncaught errors of Node and Java with their stacks."""

from __future__ import annotations

from blade.ingest.logs.frame import first_own_frame, frame_at, java_frame
from blade.ingest.logs.reading import Gathered, PrintedText
from blade.model.log import LogFrame
from blade.model.pattern import pattern_of

NAME = "stack"
MARKS = (r"(?m)^\s+at .*:\d+(?::\d+)?\)?\s*$",)

_NODE = pattern_of(r"\s+at (?:(?:async |new )?(\S[^()]*) \()?((?:file://)?[^\s():][^():]*|node:[\w/]+):(\d+):\d+\)?$")
_RAISED = pattern_of(
    r"\s*(?:Uncaught |Caused by: |Exception in thread \"[^\"]*\" |\[cause\]: )?"
    r"((?:[A-Za-z_$][\w$]*\.)*[A-Z][\w$]*(?:Error|Exception|Failure|Throwable)?)(?: \[\w+\])?(?::\s|$)"
)
_MOST_LINES_OF_A_MESSAGE = 5
_MOST_FRAMES = 40
"""Deeper frames are of the program's start."""


def parse(text: PrintedText, found: Gathered) -> None:
    """An exception for every stack: the line of it stands right above, or a few lines up when its message is long."""
    place, lines = 0, text.lines
    while place < len(lines):
        if (" at " not in lines[place][:200] and "\tat " not in lines[place][:200]) or not _is_frame(lines[place]):
            place += 1
            continue
        end = place
        while end < len(lines) and (_is_frame(lines[end]) or lines[end].lstrip().startswith("... ")):
            end += 1
        _add(found, lines, place, min(end, place + _MOST_FRAMES))
        place = end


def _is_frame(line: str) -> bool:
    return line.lstrip().startswith("at ") and (_NODE.match(line) is not None or java_frame(line) is not None)


def _add(found: Gathered, lines: list[str], first: int, end: int) -> None:
    stack = lines[first:end]
    for above in range(first - 1, max(-1, first - 1 - _MOST_LINES_OF_A_MESSAGE), -1):
        raised = _RAISED.match(lines[above])
        if raised and ("." in raised[1] or raised[1].endswith(("Error", "Exception", "Failure", "Throwable"))):
            found.add(NAME, "exception", above + 1, lines[above], raised[1], frame=_raising(stack))
            return


def _raising(stack: list[str]) -> LogFrame | None:
    """The innermost frame; of Java, the innermost that is not the assertion library's."""
    if match := _NODE.match(stack[0]):
        return frame_at(match[2], match[3], match[1])
    return first_own_frame(stack) or java_frame(stack[0])
