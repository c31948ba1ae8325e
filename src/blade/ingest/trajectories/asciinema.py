"""Recordings of a terminal by asciinema, versions 1 to 3, as the text that was on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from blade.ingest.terminal import recorded_text

_VERSIONS = (1, 2, 3)


class TerminalRecording(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a recording, and whether its beginning is missing."""

    text: str
    is_cut: bool = False


def read_recording(raw: str) -> TerminalRecording | None:
    """The recording; None where the text is none. Events that are torn are left out, and a start without its header is cut."""
    whole = _decoded(raw)
    if isinstance(whole, dict) and whole.get("version") == 1:
        frames = whole.get("stdout")
        return TerminalRecording(text=recorded_text("".join(_frames(frames if isinstance(frames, list) else [], 1))))
    lines = raw.split("\n")
    values = [value for line in lines if line.strip() and (value := _decoded(line)) is not None]
    has_header = bool(values) and isinstance(values[0], dict) and values[0].get("version") in _VERSIONS
    printed = list(_frames([value for value in values if isinstance(value, list)], 2))
    if not printed and not has_header:
        return None
    return TerminalRecording(text=recorded_text("".join(printed)), is_cut=not has_header)


def _frames(events: list[Any], place: int) -> Iterator[str]:
    """What was printed; what was typed and resizes are left out."""
    for event in events:
        is_text = isinstance(event, list) and len(event) > place and isinstance(event[place], str)
        if is_text and (place == 1 or event[1] == "o"):
            yield event[place]


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
