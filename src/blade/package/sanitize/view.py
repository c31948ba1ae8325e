r"""A line as rules see it: escapes of JSON are white space, of the same length, so that places in it are places in the line.

A trajectory is JSON inside JSON, often three deep. In the view `\n`, `\\n` and `é` are blanks and `\"` is a blank and a
quotation mark, at any depth, so a rule is written once, for plain text, and never matches half an escape.
"""

from __future__ import annotations

import re

_UNICODE = re.compile(rb"\\u[0-9a-fA-F]{4}")
_SHORT = tuple(b"\\" + letter for letter in (b"n", b"r", b"t", b"b", b"f"))
_HIDING = re.compile(rb"(?<!\\)((?:\\\\)*)\\(?:u00([2-7][0-9a-fA-F])|/)")
_NEEDED = frozenset(b'"\\\x7f')


def view(line: bytes) -> bytes:
    """The line with blanks for escapes."""
    if b"\\" not in line:
        return line
    if b"\\u" in line:
        line = _UNICODE.sub(b"      ", line)
    for escape in _SHORT:
        line = line.replace(escape, b"  ")
    return line.replace(b"\\", b" ")


def unhidden(line: bytes) -> bytes:
    r"""The same JSON with letters and signs in place of escapes that nothing demands: `@` for `\\u0040`, `/` for `\\/`."""
    if b"\\u00" not in line and b"\\/" not in line:
        return line
    return _HIDING.sub(_letter, line)


def _letter(match: re.Match[bytes]) -> bytes:
    if match[2] is None:
        return match[1] + b"/"
    code = int(match[2], 16)
    return match[0] if code in _NEEDED else match[1] + bytes((code,))
