"""Bytes of one row to a map of raw values, whatever state the bytes are in.

The fast way is one validating pass that leaves every value as raw JSON. Rows that it refuses (NaN, lone surrogates,
invalid UTF-8) are mended when that loses nothing but the offending characters, and the mending is reported.
"""

from __future__ import annotations

import json
import math

import msgspec

Row = dict[str, msgspec.Raw]

_row = msgspec.json.Decoder(Row)
_any = msgspec.json.Decoder()

BAD_VALUE = (msgspec.MsgspecError, UnicodeError, OverflowError)
"""What reading or writing a raw value may raise: invalid text, and numbers that are too large."""

DEEPEST = 200
"""Nesting that can be read; real rows stay below 20."""
MOST_DIGITS = 19


class Unusable(Exception):
    """A line that holds no row; the message is the reason shown to people."""


def decode_row(line: bytes) -> tuple[Row, str | None]:
    """The row, and what had to be mended to read it; raises `Unusable` with the reason when it is no row.

    Values stay raw and unread. Where one of them turns out to hold `BAD_VALUE`, the line needs `mend`.
    """
    try:
        return _row.decode(line), None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _mended_row(line)


def decode_whole(line: bytes) -> tuple[Row, str | None]:
    """As `decode_row`, and every value of the row can be read and written again."""
    return decode_row(line) if is_sound(line) else _mended_row(line)


def is_sound(line: bytes) -> bool:
    """Whether every value of the row can be read and written again."""
    try:
        msgspec.json.encode(_any.decode(line))
    except BAD_VALUE:
        return False
    return True


def _mended_row(line: bytes) -> tuple[Row, str]:
    mended, why = mend(line)
    return _row.decode(mended), why


def decode_any(raw: bytes | msgspec.Raw) -> object:
    """The value of raw JSON that `decode_row` let through."""
    return _any.decode(raw)


def encode(value: object) -> bytes:
    """Canonical JSON: sorted keys, no white space."""
    return msgspec.json.encode(value, order="sorted")


def mend(line: bytes) -> tuple[bytes, str]:
    """The row in standard JSON, and what was mended; raises `Unusable` when that cannot be done."""
    value, mended = _parse_leniently(line)
    if not isinstance(value, dict):
        names = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a boolean"}
        raise Unusable(f"the line holds {names.get(type(value), 'null')}, not an object")
    try:
        return msgspec.json.encode(_clean(value, 0)), mended
    except RecursionError:
        raise Unusable(f"nested deeper than {DEEPEST} levels") from None


def _parse_leniently(line: bytes) -> tuple[object, str]:
    text = line.decode("utf-8", errors="replace")
    invalid = "\ufffd" in text and b"\xef\xbf\xbd" not in line
    mended = (
        "invalid UTF-8 replaced"
        if invalid
        else "values that standard JSON cannot hold (NaN, lone surrogates, huge numbers) made text"
    )
    try:
        # Longer integers may not fit 64 bits; where a row is mended they are kept as text.
        return json.loads(text, strict=False, parse_int=lambda d: int(d) if len(d) < MOST_DIGITS else d), mended
    except RecursionError:
        raise Unusable(f"nested deeper than {DEEPEST} levels") from None
    except ValueError as error:
        raise Unusable(_why_not_json(text, error)) from None


def _why_not_json(text: str, error: ValueError) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return f"not readable as JSON: {error}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return "the line ends in the middle of a value (torn write?)"
    return f"not JSON: {error.msg} at character {error.pos + 1}: {text[error.pos : error.pos + 20]!r}"


def _clean(value: object, depth: int) -> object:
    """The same value in standard JSON: NaN and infinities become strings, lone surrogates are replaced."""
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, dict):
        return {_text(str(key)): _clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    return text.encode("utf-8", errors="replace").decode("utf-8")
