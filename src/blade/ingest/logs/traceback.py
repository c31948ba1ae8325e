"""Python tracebacks: chained ones, those cut at the start, syntax errors, and an exception that is the whole text."""

from __future__ import annotations

import re

from blade.ingest.logs.frame import frame_at
from blade.ingest.logs.reading import Gathered, PrintedText
from blade.model.pattern import pattern_of

NAME = "python"
_WHOLE = r"\s*((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Timeout))(?:: |\s*$)"
MARKS = (r'File "[^"\n]+", line \d', r"\A" + _WHOLE)

_FRAME = pattern_of(r'((?:E  )?[\s|]*)File "([^"]+)", line (\d+)(?:, in (.+))?')
_RAISED = pattern_of(r"(?:E  )?[\s|]*((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?::\s|:?$)")
_ALONE = pattern_of(_WHOLE)
_INDENTED = 2
_MOST_LINES_OF_A_FRAME = 12
"""Source and carets under a frame; Python prints at most a statement of a few lines."""


def parse(text: PrintedText, found: Gathered) -> None:
    """An exception for every group of frames that ends in one."""
    if "\n" not in text.plain.strip() and (alone := _ALONE.match(text.plain)):
        said = text.plain.strip()
        found.add(NAME, "exception", text.number_at(text.plain.find(said)), said, alone[1])
        return
    lines = text.lines
    frame: re.Match[str] | None = None
    depth = since = place = 0
    for first in text.numbers_with('File "'):
        place = max(place, first)
        while place <= len(lines) and (place == first or frame is not None):
            line = lines[place - 1]
            if 'File "' in line and (match := _FRAME.match(line)):
                # A text that was trimmed has lost the indentation of its first line.
                frame, depth, since = match, len(match[1]) or _INDENTED, place
            elif frame is not None:
                if place - since > _MOST_LINES_OF_A_FRAME:
                    frame = None
                elif line[:depth].strip(" E|\t") and (raised := _RAISED.match(line)):
                    message = line.removeprefix("E  ").strip(" |")
                    where = frame_at(frame[2], frame[3], frame[4])
                    found.add(NAME, "exception", place, message, raised[1], frame=where)
                    frame = None
                elif line[:depth].strip(" E|\t") and not line.lstrip().startswith("[Previous line"):
                    frame = None
            place += 1
