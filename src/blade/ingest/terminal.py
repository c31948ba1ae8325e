"""Captures of a terminal as the text that a person saw: no control sequences, no overwritten lines, wrapped lines whole."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

_CONTROL = re.compile(
    r"""
      \x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?    # OSC: titles and links; one that never ends hides no further line
    | \x1b[PX^_][^\x1b\n]*(?:\x1b\\)?         # DCS, SOS, PM, APC
    | \x1b\[[0-?]*[ -/]*[@-~]                # CSI: colors and the cursor
    | \x9b[0-?]*[ -/]*[@-~]                  # the same in one character
    | \x1b[()*+][0-9A-Za-z]                   # character sets
    | \x1b[ -/]*[0-~]                         # other escapes
    """,
    re.VERBOSE,
)
"""Each branch begins with a character of its own, so that `re` looks for those two and tries nothing elsewhere."""
_COLORS = re.compile(r"\x1b\[(?:[0-?]*[ -/]*[@-~])?")
"""What those branches match where each escape begins with a bracket."""
_OTHER_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[()*+][0-9A-Za-z]|\x1b[0-9=>A-Z](?<!\x1bP)"
)
"""What is no cursor movement: titles, links, character sets, modes of the keyboard."""
_REST = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ASCII_REST = bytes(code for code in range(0x80) if _REST.match(chr(code)))

FEWEST_FULL_LINES = 3
"""Lines of one length, the longest, that show a capture to be wrapped there: two may be as long by chance."""
_NARROWEST = 40
_MOST_LINES_OF_A_VALUE = 20_000


def plain_text(raw: str) -> str:
    """What is left on the screen: escapes are gone, and of a line that was written over, the last state is kept."""
    text = raw.replace("\r\n", "\n") if "\r" in raw else raw
    if "\x9b" not in text and text.count("\x1b") == text.count("\x1b["):
        text = _COLORS.sub("", text)  # what most texts have, and nothing else: a third of the time
    else:
        text = _CONTROL.sub("", text)
    if "\x08" in text:
        text = "\n".join(_backspaced(line) for line in text.split("\n"))
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    # As bytes it takes a hundredth of the time.
    return text.encode().translate(None, _ASCII_REST).decode() if text.isascii() else _REST.sub("", text)


def _backspaced(line: str) -> str:
    """Each backspace takes back one character, as long as there is one."""
    first, *rest = line.split("\x08")
    shown = list(first)
    for part in rest:
        del shown[-1:]
        shown.extend(part)
    return "".join(shown)


def _last_state(line: str) -> str:
    """A carriage return goes back to the start of the line; what is written then covers what was there."""
    shown: list[str] = []
    covered = 0
    for part in reversed(line.split("\r")):
        shown.append(part[covered:])
        covered = max(covered, len(part))
    return "".join(shown)


_TOKENS = re.compile(r"(\x1b\[|\x9b)([0-9;?]*)[ -/]*([@-~])|([\r\n\x08])|([^\x1b\x9b\r\n\x08]+)|[\x1b\x9b]")
_FURTHEST = 1_000
"""Lines up or columns right that one sequence may go: more is no terminal's size."""


def recorded_text(raw: str) -> str:
    """What a recording left to read: of spinners, progress bars and other lines that were drawn again, the last state.

    Lines that scrolled away are kept. The cursor goes up and down, to a column, and erases lines; colors are dropped.
    """
    lines, row, column = [""], 0, 0
    for found in _TOKENS.finditer(_OTHER_ESCAPES.sub("", raw)):
        _, numbers, command, control, text = found.groups()
        if text is not None:
            text = _REST.sub("", text)
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)
        elif control == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif control is not None:
            column = 0 if control == "\r" else max(0, column - 1)
        elif command is not None:
            count = min(int(numbers), _FURTHEST) if numbers.isdecimal() else 0
            if command == "A":
                row = max(0, row - max(1, count))
            elif command == "B":
                row = min(len(lines) - 1, row + max(1, count))
            elif command in "CDG":
                column = {"C": column + max(1, count), "D": column - max(1, count), "G": count - 1}[command]
                column = max(0, column)
            elif command == "K":
                lines[row] = "" if count == 2 else lines[row][:column] if count == 0 else lines[row]
            elif command == "J" and count == 0:
                lines[row] = lines[row][:column]
                del lines[row + 1 :]
    return "\n".join(line.rstrip() for line in lines)


def columns(line: str) -> int:
    """How many columns a terminal needs for the line."""
    if line.isascii():
        return len(line)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line
    )


def wrap_width(lines: Sequence[str]) -> int | None:
    """The width at which a capture wraps its lines; None where nothing shows that it does."""
    widths = Counter(map(columns, lines))
    widest = max(widths, default=0)
    return widest if widest >= _NARROWEST and widths[widest] >= FEWEST_FULL_LINES else None


def json_objects(lines: Sequence[str]) -> Iterator[tuple[dict[str, object] | None, str]]:
    """The JSON objects of a capture, each at the start of a line and put together again where the terminal wrapped it.

    What is no part of an object comes as its line, with None.
    """
    width, place = wrap_width(lines), 0
    while place < len(lines):
        line = lines[place]
        value, used = _object_at(lines, place, width) if line.startswith('{"') else (None, 1)
        yield value, "" if value is not None else line
        place += used


def _object_at(lines: Sequence[str], place: int, width: int | None) -> tuple[dict[str, object] | None, int]:
    """The object that begins at a line and how many lines it takes; a line that begins none counts alone."""
    whole: list[str] = []
    for used, line in enumerate(lines[place : place + _MOST_LINES_OF_A_VALUE], start=1):
        if used > 1 and line.startswith('{"type"'):
            break  # the next object begins: this one was cut off
        if line.endswith("}") and (value := _decoded("".join([*whole, line]))) is not None:
            return value, used
        if width is None:
            break
        # A terminal drops spaces at the end of a line: those of a wrapped line belong to the value.
        whole.append(line + " " * max(0, width - columns(line)))
    return None, 1


def _decoded(text: str) -> dict[str, object] | None:
    try:
        return _decode_object(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


_decode_object = msgspec.json.Decoder(dict[str, object], strict=False).decode
