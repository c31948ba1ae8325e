"""Where text goes out. Nothing in it is obeyed by a terminal; for people it fits the terminal, and verdicts have a color.

`guard` stands in front of stdout and stderr, so that whatever a command prints, and whatever an error says, passes through
`clean`. `show` prints lines for people; what is made for programs (JSON, CSV) is printed as it is.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import Any, TextIO

from blade.report.text import printable

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal may obey, C0 and C1 controls; what turns the order of letters around; and what no stream can take."""
_NARROWEST = 40
_COLORS = {"good": "32", "bad": "31", "open": "33", "head": "1"}
_VERDICTS = (
    ("good", re.compile(r"\s{0,2}(?:pass(?::|  )|\[PASS\]|\[x\])|\S.*: improved, ")),
    ("bad", re.compile(r"\s{0,2}(?:fail(?::|  )|\[FAIL\]|false, line )|\S.*: regressed, ")),
    (
        "open",
        re.compile(r"\s{0,2}(?:inconclusive(?::|  )|not checkable, |problem|\[INFO\]|\[ \])|\S.*: inconclusive, "),
    ),
    ("head", re.compile(r"(?:\d+\. |#+ |How the .* failed |Suspect tasks|Readiness checklist)")),
)
"""How a line begins that has a color: what holds, what does not, what is open; and the heads of parts."""


def clean(text: str) -> str:
    """The text with such characters as escapes, which JSON reads as these characters again."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class GuardedStream:
    """A text stream that cleans what is written to it; everything else is as before."""

    def __init__(self, stream: TextIO) -> None:
        self.behind = stream
        """For what draws by itself, such as a progress bar; nothing of a rollout may go there."""

    def write(self, text: str) -> int:
        """Write the cleaned text."""
        self.behind.write(clean(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write cleaned texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


def guard() -> None:
    """From now on stdout and stderr are cleaned, and a character that their encoding does not have is escaped."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, GuardedStream):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, GuardedStream(stream))


def behind(stream: TextIO) -> TextIO:
    """The stream without its guard."""
    return stream.behind if isinstance(stream, GuardedStream) else stream


def terminal_width() -> int | None:
    """Columns of the terminal that stdout is; None where it is none, and bytes must not depend on anybody's window."""
    return max(_NARROWEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def show(lines: str | Iterable[str]) -> None:
    """Print lines for people on stdout: wrapped to the terminal's width and colored on a terminal, else as they are."""
    parts = [lines] if isinstance(lines, str) else lines
    plain = [printable(line) for part in parts for line in part.split("\n")]
    width = terminal_width()
    if width is None:
        print("\n".join(plain))
        return
    is_colored = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    shown = [_painted(line, width) if is_colored else _wrapped(line, width) for line in plain]
    sys.stdout.flush()
    behind(sys.stdout).write("\n".join(shown) + "\n")


def _wrapped(line: str, width: int) -> str:
    """A line that is too long goes on below, farther in than it began."""
    if len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())][: width // 2]
    parts = textwrap.wrap(line, width, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
    return "\n".join(parts) if parts else ""


def _painted(line: str, width: int) -> str:
    kind = next((kind for kind, pattern in _VERDICTS if pattern.match(line)), None)
    text = _wrapped(line, width)
    return text if kind is None else f"\x1b[{_COLORS[kind]}m{text}\x1b[0m"


def refuse(message: str, hint: str) -> None:
    """Say on stderr why a request cannot be served, and what to do."""
    for name, text in (("error", message), ("hint", hint)):
        if text:
            lines = "\n".join(map(printable, text.split("\n")))
            print(f"{name}: {lines}", file=sys.stderr)
